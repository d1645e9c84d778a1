// SPDX-License-Identifier: Apache-2.0
// Functions that search and change the text of C and C++ files.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel::c_text {

[[nodiscard]] bool is_word(char each);
[[nodiscard]] bool is_blank(char each);

/// True if `words` contains the word.
[[nodiscard]] bool is_one_of(std::string_view word, const auto& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Returns the text with each run of blanks as one space, and without blanks at its end.
[[nodiscard]] std::string squeezed(std::string_view text);

/// Returns the text with comments blanked, and with each byte of a literal replaced by `literal`. Positions stay the same.
[[nodiscard]] std::string code_only(std::string_view text, char literal = ' ');

/// Returns the text with comments blanked, and nothing else changed.
[[nodiscard]] std::string without_comments(std::string_view text);

/// Returns the position of the bracket that closes the one at `open`; npos: none.
[[nodiscard]] std::size_t closing(std::string_view code, std::size_t open);

/// Returns the position of `word` as a whole word at or after `from`; npos: none.
[[nodiscard]] std::size_t find_word(std::string_view code, std::string_view word, std::size_t from = 0);

/// Returns a declaration without these keywords, each with a space behind it.
[[nodiscard]] std::string without_words(std::string text, std::initializer_list<std::string_view> words);

/// Splits at separators outside brackets. Omits empty parts.
[[nodiscard]] std::vector<std::string> split_top(std::string_view text, char separator);

/// True for the words of built-in types, such as `int` and `size_t`.
[[nodiscard]] bool is_type_word(std::string_view word);

/// Returns the name of a parameter, or empty.
[[nodiscard]] std::string parameter_name(std::string text);

/// Returns parameter types without names and defaults, as written: a parameter called `key` does not name a type `key`.
[[nodiscard]] std::string types_alone(std::string_view parameters);

/// Returns the name of an operator in one spelling: `operator==`, `operator bool`.
[[nodiscard]] std::string operator_name(std::string_view text);

/// True for the standard exceptions whose constructors need a text, such as `std::runtime_error`.
[[nodiscard]] bool is_standard_error(std::string_view type);
[[nodiscard]] bool ends_with_any(const std::string& path, std::initializer_list<std::string_view> endings);
[[nodiscard]] bool is_header(const std::string& path);
[[nodiscard]] bool is_source(const std::string& path);

}  // namespace agentforge::kernel::c_text
