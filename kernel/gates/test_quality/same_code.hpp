// SPDX-License-Identifier: Apache-2.0
// Compares the code of two texts, and makes texts that differ only in comments or in removed lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

/// Returns `before` with all of `after` added as comments: it behaves as before but contains every word of the new text. The
/// comments stand before each line with `marker`, with its indentation, so they are in the skeleton's body. Without such a line,
/// they stand at the end. Empty if the language has no one-line comments.
[[nodiscard]] std::string with_text_as_comment(std::string_view before, std::string_view after, const CodeRules& rules,
                                               std::string_view marker);

/// Returns the function around a line if `before` has none of that name. Empty otherwise. Finds functions by braces, or by
/// indentation if the language has no C comments.
[[nodiscard]] std::string added_function(std::string_view before, std::string_view now, std::uint64_t line,
                                         const CodeRules& rules);

/// Returns whether two texts are the same except for comments and blanks, as far as the rules can tell.
[[nodiscard]] bool same_code(std::string_view before, std::string_view after, const CodeRules& rules);

/// Returns `now` with the lines of `before` that were only removed, or whose replacement adds no word: with all of them, then
/// with those of each place. Empty if there are none.
[[nodiscard]] std::vector<std::string> with_removed_lines(std::string_view before, std::string_view now);

}  // namespace agentforge::kernel
