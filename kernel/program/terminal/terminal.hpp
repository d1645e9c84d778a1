// SPDX-License-Identifier: Apache-2.0
// What a terminal can show, and text made to fit it.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace agentforge::kernel {

using Environment = std::map<std::string, std::string>;

/// Unless TERM is unset or `dumb`, or NO_COLOR says something.
[[nodiscard]] bool wants_colour(const Environment& environment);
/// Whether the cursor can be moved: TERM is set and not `dumb`.
[[nodiscard]] bool moves_cursor(const Environment& environment);
/// Whether the locale's encoding is UTF-8, by LC_ALL, LC_CTYPE and LANG, the first that is set.
[[nodiscard]] bool shows_unicode(const Environment& environment);
/// The columns of the terminal behind a descriptor, at least 20; 80 where it does not say.
[[nodiscard]] std::size_t terminal_columns(int descriptor);

/// Whether live lines stand at the bottom of the terminal now: what is written below them without their knowledge is lost. A
/// signal handler may ask.
[[nodiscard]] std::atomic<bool>& live_lines_shown() noexcept;

/// Cells that a text without control characters takes: wide characters two, combining ones none.
[[nodiscard]] std::size_t cells_of(std::string_view text);
/// At most `cells` of it; `…` (one cell) marks a cut.
[[nodiscard]] std::string fitting(std::string_view text, std::size_t cells);
/// Its lines as lines of at most `cells`, broken at blanks; what goes on stands below the last column that begins in the first
/// half, else below the line's beginning, which is moved into the first third. A longer word (a path, an id, an address) stays
/// whole.
[[nodiscard]] std::string folded_lines(std::string_view text, std::size_t cells);
struct Program;
/// A line of a list, with `end` behind it: on a terminal the line is cut so that both fit, elsewhere it is whole.
[[nodiscard]] std::string fitted_line(const Program& program, const std::string& line, const std::string& end = {});
/// What is not ASCII as one character of it: `…` and the marks of this program by their likes, others as `?`.
[[nodiscard]] std::string as_ascii(std::string_view text);

}  // namespace agentforge::kernel
