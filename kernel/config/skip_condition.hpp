// SPDX-License-Identifier: Apache-2.0
// When a stage is skipped: `skip_if` and `skippable_if` of a template (North Star 13.4).
//
//   condition = word | NOT condition | condition AND condition | condition OR condition | ( condition )
//
// NOT binds closest, then AND, then OR. The operators are upper or lower case. `never` holds never.
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
    /// An empty text is `never`. Errors: AF-PIPE-005 what is wrong and where in the text.
    [[nodiscard]] static Result<SkipCondition> parse(std::string_view text);

    /// Every word that it names, in order.
    [[nodiscard]] std::vector<std::string> words() const;
    /// What of it holds: the first of several that are joined by OR, as it was written; empty: it does not hold.
    [[nodiscard]] std::string reason(const std::function<bool(std::string_view word)>& holds) const;

    struct Node;

private:
    explicit SkipCondition(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
    std::shared_ptr<const Node> root_;
};

}  // namespace agentforge::kernel
