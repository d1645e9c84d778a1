// SPDX-License-Identifier: Apache-2.0
// The capabilities of a terminal, and functions that fit text to it.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace agentforge::kernel {

using Environment = std::map<std::string, std::string>;

/// True unless TERM is unset or `dumb`, or NO_COLOR is not empty.
[[nodiscard]] bool wants_colour(const Environment& environment);
/// True if the cursor can be moved: TERM is set and not `dumb`.
[[nodiscard]] bool moves_cursor(const Environment& environment);
/// True if the locale's encoding is UTF-8, by the first of LC_ALL, LC_CTYPE and LANG that is set.
[[nodiscard]] bool shows_unicode(const Environment& environment);
/// Returns the columns of the terminal behind a descriptor, at least 20; 80 if unknown.
[[nodiscard]] std::size_t terminal_columns(int descriptor);

/// True while live lines are at the bottom of the terminal. Other output below them is lost. A signal handler may call this.
[[nodiscard]] std::atomic<bool>& live_lines_shown() noexcept;

/// Returns the cells that a text without control characters takes: two for wide characters, none for combining ones.
[[nodiscard]] std::size_t cells_of(std::string_view text);
/// Returns at most `cells` of the text; `…` (one cell) marks a cut.
[[nodiscard]] std::string fitting(std::string_view text, std::size_t cells);
/// Wraps lines to at most `cells`, at blanks. Continuation lines are indented to the last column that begins in the first
/// half, else to the line's own indentation, at most a third of the width. A longer word (a path, an id, an address) is not
/// broken.
[[nodiscard]] std::string folded_lines(std::string_view text, std::size_t cells);
struct Program;
/// Returns a line of a list with `end` after it. On a terminal the line is cut to make both fit.
[[nodiscard]] std::string fitted_line(const Program& program, const std::string& line, const std::string& end = {});
/// Replaces each character that is not ASCII with one that is: `…` and this program's marks with similar ones, others with `?`.
[[nodiscard]] std::string as_ascii(std::string_view text);

}  // namespace agentforge::kernel
