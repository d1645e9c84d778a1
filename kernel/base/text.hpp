// SPDX-License-Identifier: Apache-2.0
// Text that every reader understands: JSON that is also YAML, and valid UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// True if a character acts when shown, instead of being seen: on a terminal (controls), on readers of JSON and YAML (line
/// separators, byte order marks), or on the order of the text around it (bidirectional controls). Every output escapes these.
[[nodiscard]] bool acts_when_shown(char32_t code) noexcept;
/// Returns valid UTF-8 for any bytes, with characters that act when shown as `\x1b` or `\u202e`. Keeps line ends and tabs, or
/// makes them spaces if `one_line` is set.
[[nodiscard]] std::string shown_text(std::string_view bytes, bool one_line);
/// Returns valid UTF-8 for any bytes: each maximal invalid sequence becomes U+FFFD.
[[nodiscard]] std::string sanitize_utf8(std::string_view bytes);
[[nodiscard]] bool is_valid_utf8(std::string_view bytes) noexcept;
/// Shortens to at most `max_bytes`, cut between characters. "… N bytes left out …" replaces the middle.
[[nodiscard]] std::string head_and_tail(std::string_view text, std::size_t max_bytes);
/// Shortens to at most `max_bytes`, cut between characters. "…" marks the cut.
[[nodiscard]] std::string ellipsis(std::string_view text, std::size_t max_bytes);
/// Changes the case of ASCII letters. All other bytes stay.
[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] std::string upper_case(std::string_view text);
/// Returns `a` or `an`, by the first letter of the word.
[[nodiscard]] std::string_view article_for(std::string_view word);
/// Returns the first line without its line end.
[[nodiscard]] std::string first_line(std::string_view text);
/// Returns the candidate with the smallest edit distance, or empty if none is near (distance > 1/3 of the length + 1). Two
/// swapped neighbours count as one edit.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// Writes one line that every JSON and every YAML 1.1/1.2 reader reads as the same value. The separators are `", "` and `": "`.
/// U+007F, C1 controls, U+0085, U+2028/9, U+FEFF, ASCII controls and bidirectional controls are escaped as \uXXXX. Characters
/// beyond the BMP stay raw UTF-8 (YAML has no surrogate pairs). Invalid UTF-8 becomes U+FFFD. Both readers read a double as a
/// number; NaN and infinities become null. A written key longer than 1,000 bytes is still JSON, but no YAML reader accepts it on
/// one line.
[[nodiscard]] std::string to_json_line(const json::value& value);
void append_json_line(std::string& text, const json::value& value);
void append_json_line(std::string& text, const json::object& value);
/// The same on several lines, indented by two, for people. Ends in a newline.
[[nodiscard]] std::string to_json_pretty(const json::value& value);
[[nodiscard]] std::string to_json_pretty(const json::object& value);
/// Writes sorted keys and no spaces: the text that is hashed.
[[nodiscard]] std::string to_json_canonical(const json::value& value);
/// Parses strict JSON with a depth limit of 200 and no duplicate key in an object. Errors: `invalid` AF-BASE-020 with line and
/// column.
[[nodiscard]] Result<json::value> parse_json(std::string_view text, std::string_view source);

}  // namespace agentforge::kernel
