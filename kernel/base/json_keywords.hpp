// SPDX-License-Identifier: Apache-2.0
// The keywords of JSON Schema that the kernel itself implements, once for both of its checkers: of artifacts and settings
// (contracts/schema_check.hpp) and of tool arguments (tools/arguments_check.hpp). docs/adr/0016 says why there are two.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>

namespace re2 {
class RE2;
}

namespace agentforge::kernel {

/// `pattern`: a regular expression that must match somewhere in a text, in RE2's syntax. RE2 takes linear time and a bounded
/// amount of memory, whoever wrote the expression. Immutable; any thread may use it.
class TextPattern {
public:
    explicit TextPattern(std::string_view expression);
    TextPattern(TextPattern&&) noexcept;
    TextPattern& operator=(TextPattern&&) noexcept;
    ~TextPattern();
    /// Returns what is wrong with the expression, or "". A wrong expression matches nothing.
    [[nodiscard]] std::string problem() const;
    [[nodiscard]] bool is_in(std::string_view text) const;

private:
    std::unique_ptr<const re2::RE2> compiled_;
};

/// `uniqueItems`: returns the index of each item that equals an earlier one. Objects are equal whatever the order of their
/// fields. Linear in the size of the list.
[[nodiscard]] std::vector<std::size_t> repeated_items(const json::array& items);

/// `minLength`, `maxLength`: returns the length in characters (code points). The text is valid UTF-8.
[[nodiscard]] std::size_t count_characters(std::string_view text) noexcept;

}  // namespace agentforge::kernel
