// SPDX-License-Identifier: Apache-2.0
// Texts of Go, Rust and Java: brackets, lists, names and paths.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

/// Rules for reading these languages that only tell brackets from strings and comments.
[[nodiscard]] CodeRules bracket_rules();

/// Returns the text without spaces, tabs and line ends.
[[nodiscard]] std::string without_any_blanks(std::string_view text);

/// Returns the position of the bracket that closes the one at `open`. npos if there is none.
[[nodiscard]] std::size_t closing_bracket(std::string_view code, std::size_t open);

/// Returns the parts of a list between commas that stand in no brackets, without outer blanks and empty parts.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);

/// Returns a signature without blanks around it and semicolons at its end.
[[nodiscard]] std::string trimmed_signature(std::string_view text);

/// Returns what follows the last `.` or `:`.
[[nodiscard]] std::string last_part(std::string_view name);

/// Returns the name of a file up to its first dot.
[[nodiscard]] std::string stem_of(std::string_view path);

/// Returns the folder of a path, without a slash at its end. Empty for the top folder.
[[nodiscard]] std::string folder_path(std::string_view path);

/// Returns where the `>` is that closes the `<` at `open`; npos: none. `->` closes nothing.
[[nodiscard]] std::size_t closing_angle(std::string_view code, std::size_t open);

/// Returns the text without blanks around it.
[[nodiscard]] std::string without_outer_blanks(std::string_view text);

}  // namespace agentforge::kernel
