// SPDX-License-Identifier: Apache-2.0
// Text that must hold for every reader: JSON that is YAML too, and plain UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Whether a character acts where it is shown instead of being seen: on a terminal (controls), on readers of JSON and YAML (line
/// separators, byte order marks), or on the order of the text around it (bidirectional controls). Every output escapes these.
[[nodiscard]] bool acts_when_shown(char32_t code) noexcept;
/// Valid UTF-8 of any bytes without characters that act: these become `\x1b` or `\u202e`. Line ends and tabs stay, or become
/// spaces on `one_line`.
[[nodiscard]] std::string shown_text(std::string_view bytes, bool one_line);
/// Valid UTF-8 of any bytes: each maximal invalid sequence becomes U+FFFD.
[[nodiscard]] std::string sanitize_utf8(std::string_view bytes);
[[nodiscard]] bool is_valid_utf8(std::string_view bytes) noexcept;
/// At most `max_bytes`, cut at a character, with the middle replaced by "… N bytes left out …".
[[nodiscard]] std::string head_and_tail(std::string_view text, std::size_t max_bytes);
/// At most `max_bytes`, cut at a character; "…" marks a cut.
[[nodiscard]] std::string ellipsis(std::string_view text, std::size_t max_bytes);
/// With other case of its ASCII letters; all other bytes stay.
[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] std::string upper_case(std::string_view text);
/// `a` or `an`, by the first letter of the word.
[[nodiscard]] std::string_view article_for(std::string_view word);
/// The first line without its line end.
[[nodiscard]] std::string first_line(std::string_view text);
/// The candidate with the smallest edit distance (two neighbours swapped count as one), or empty where none is near (distance >
/// 1/3 of the length + 1).
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// One line that every JSON and every YAML 1.1/1.2 reader reads to the same value. `", "` and `": "`
/// as separators; U+007F, C1 controls, U+0085, U+2028/9, U+FEFF, ASCII controls and bidirectional controls escaped as \uXXXX;
/// characters beyond the BMP stay raw UTF-8 (YAML has no surrogate pairs); invalid UTF-8 becomes U+FFFD.
/// A double is written so that both read a number; NaN and infinities become null.
/// A key that takes more than 1,000 bytes written is still JSON, but no YAML reader takes it on one line.
[[nodiscard]] std::string to_json_line(const json::value& value);
void append_json_line(std::string& text, const json::value& value);
void append_json_line(std::string& text, const json::object& value);
/// The same over several lines, indented by two, for people; ends in a newline.
[[nodiscard]] std::string to_json_pretty(const json::value& value);
[[nodiscard]] std::string to_json_pretty(const json::object& value);
/// Sorted keys, no spaces: the text that hashes are made of.
[[nodiscard]] std::string to_json_canonical(const json::value& value);
/// Strict JSON with a depth limit of 200 and no key twice in one object. Errors: `invalid` AF-BASE-020 with line and column.
[[nodiscard]] Result<json::value> parse_json(std::string_view text, std::string_view source);

}  // namespace agentforge::kernel
