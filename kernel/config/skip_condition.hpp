// SPDX-License-Identifier: Apache-2.0
// When a stage is skipped: `skip_if` (or `skippable_if`) of a template.
//
//   condition = word | NOT condition | condition AND condition | condition OR condition | ( condition )
//
// NOT binds closest, then AND, then OR. Operators may be upper or lower case. `never` is always false.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

class SkipCondition {
public:
    /// An empty text means `never`. Errors: AF-PIPE-005 the fault and its place in the text.
    [[nodiscard]] static Result<SkipCondition> parse(std::string_view text);

    /// Returns all words, in order.
    [[nodiscard]] std::vector<std::string> words() const;
    /// Returns the part that holds: the first true operand of OR, as written. Empty: the condition does not hold.
    [[nodiscard]] std::string reason(const std::function<bool(std::string_view word)>& holds) const;

    struct Node;

private:
    explicit SkipCondition(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
    std::shared_ptr<const Node> root_;
};

}  // namespace agentforge::kernel
