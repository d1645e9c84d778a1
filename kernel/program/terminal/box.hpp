// SPDX-License-Identifier: Apache-2.0
// A frame of lines that fits its terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace agentforge::kernel {

/// One line in a box. Its texts contain no control characters (`printable`).
struct BoxLine {
    std::string text;          ///< Cut if it does not fit, unless `whole`.
    std::string right = {};    ///< At the right edge; left out if the text leaves no room for it.
    bool whole = false;        ///< Continues on further lines with the same indentation.
    std::string colours = {};  ///< SGR codes for its first word (its sign), or for all of it if it is `dim`.
    bool dim = false;
};

using BoxPart = std::vector<BoxLine>;

struct BoxStyle {
    std::size_t columns = 80;  ///< Of the terminal; a box is 100 wide at most.
    bool colour = false;
    bool unicode = true;  ///< Else only ASCII, the frame too.
};

/// Returns the lines of the box, without line ends. Rules separate the parts; empty parts are left out.
[[nodiscard]] std::vector<std::string> boxed(const std::vector<BoxPart>& parts, const BoxStyle& style);

/// Returns `██████░░░░`: the share `done` of `of`, in `cells` cells.
[[nodiscard]] std::string bar_of(std::size_t done, std::size_t of, std::size_t cells);
/// Returns the cells that a line of a box has for its text.
[[nodiscard]] std::size_t box_room(const BoxStyle& style);

}  // namespace agentforge::kernel
