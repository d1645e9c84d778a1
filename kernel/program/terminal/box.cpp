// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/box.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/terminal/terminal.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t widest_box = 100;
constexpr std::size_t frame_cells = 4;  // "│ " and " │"

std::string repeated(std::string_view text, std::size_t times) {
    std::string all;
    for (std::size_t count = 0; count < times; ++count) { all += text; }
    return all;
}

/// Breaks lines at blanks if possible. Keeps the indentation at the start of a line.
std::vector<std::string> wrapped_text(const std::string& text, std::size_t room) {
    const std::size_t indent = std::min(std::min(text.find_first_not_of(' '), text.size()), room / 2);
    std::vector<std::string> lines;
    std::string rest = text.substr(indent);
    const std::size_t cells = room - indent;
    while (cells_of(rest) > cells) {
        std::string head = fitting(rest + "  ", cells + 1);  // Longer text ends with "…" in place of the part that does not fit.
        head.resize(head.size() - std::min(head.size(), std::string_view("…").size()));
        if (head.empty()) { break; }
        const std::size_t blank = head.rfind(' ');
        const bool at_blank = rest[head.size()] == ' ' || (blank != std::string::npos && blank > head.size() / 3);
        const std::size_t cut = at_blank && rest[head.size()] != ' ' ? blank : head.size();
        lines.push_back(std::string(indent, ' ') + rest.substr(0, cut));
        rest = rest.substr(std::min(rest.size(), cut + (at_blank ? 1 : 0)));
    }
    if (!rest.empty() || lines.empty()) { lines.push_back(std::string(indent, ' ') + rest); }
    return lines;
}

std::string painted(const std::string& text, const BoxLine& line, bool colour) {
    if (!colour || line.colours.empty()) { return text; }
    const std::size_t word = line.dim ? text.size() : text.find(' ', std::min(text.find_first_not_of(' '), text.size()));
    const std::string first = text.substr(0, std::min(word, text.size()));
    return fmt::format("\x1b[{}m{}\x1b[0m{}", line.colours, first, text.substr(first.size()));
}

}  // namespace

std::size_t box_room(const BoxStyle& style) { return std::clamp<std::size_t>(style.columns, 20, widest_box) - frame_cells; }

std::string bar_of(std::size_t done, std::size_t of, std::size_t cells) {
    const std::size_t full = of == 0 ? 0 : std::min(done, of) * cells / of;
    return repeated("█", full) + repeated("░", cells - full);
}

std::vector<std::string> boxed(const std::vector<BoxPart>& parts, const BoxStyle& style) {
    const std::size_t room = box_room(style);
    const std::string rule = repeated("─", room + 2);
    std::vector<std::string> lines;
    const auto framed = [&](const std::string& text, const BoxLine& line, const std::string& right) {
        const std::size_t used = cells_of(text) + cells_of(right);
        lines.push_back("│ " + painted(text, line, style.colour) + std::string(room - std::min(room, used), ' ') + right + " │");
    };
    for (const BoxPart& part : parts) {
        if (part.empty()) { continue; }
        lines.push_back((lines.empty() ? "┌" : "├") + rule + (lines.empty() ? "┐" : "┤"));
        for (const BoxLine& line : part) {
            if (line.whole) {
                for (const std::string& text : wrapped_text(line.text, room)) { framed(text, line, ""); }
                continue;
            }
            constexpr std::size_t least_text = 12;
            const std::size_t right = line.right.empty() ? 0 : cells_of(line.right) + 1;
            const bool fits = right > 0 && room >= right + std::min(least_text, cells_of(line.text));
            framed(fitting(line.text, fits ? room - right : room), line, fits ? line.right : "");
        }
    }
    if (!lines.empty()) { lines.push_back("└" + rule + "┘"); }
    if (!style.unicode) {
        for (std::string& line : lines) { line = as_ascii(line); }
    }
    return lines;
}

}  // namespace agentforge::kernel
