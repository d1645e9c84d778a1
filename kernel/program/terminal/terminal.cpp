// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <utility>

#include "program/program.hpp"

namespace agentforge::kernel {

namespace {

std::string_view variable(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string_view() : std::string_view(found->second);
}

/// The locale decides the widths of characters; this one is part of the C library.
class Utf8Locale {
public:
    Utf8Locale() : before_(::uselocale(utf8())) {}
    ~Utf8Locale() { ::uselocale(before_); }
    Utf8Locale(const Utf8Locale&) = delete;
    Utf8Locale& operator=(const Utf8Locale&) = delete;

private:
    static locale_t utf8() {
        static const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
        return locale;
    }
    locale_t before_;
};

/// Returns the bits of the code point in the first byte of a multi-byte sequence.
char32_t bits_of_lead(unsigned char first) {
    if (first >= 0xF0) { return first & 0x07U; }
    return first >= 0xE0 ? first & 0x0FU : first & 0x1FU;
}

/// Returns the code point at `at`, and moves `at` behind it. The text is valid UTF-8.
char32_t next_character(std::string_view text, std::size_t& at) {
    const auto first = static_cast<unsigned char>(text[at++]);
    if (first < 0x80) { return first; }
    char32_t point = bits_of_lead(first);
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) {
        point = (point << 6U) | (static_cast<unsigned char>(text[at++]) & 0x3FU);
    }
    return point;
}

std::size_t cells_of(char32_t point) {
    if (point < 0x80) { return 1; }
    const int width = ::wcwidth(static_cast<wchar_t>(point));
    return width < 0 ? 1 : static_cast<std::size_t>(width);
}

std::string folded_line(std::string_view line, std::size_t cells) {
    if (kernel::cells_of(line) <= cells) { return std::string(line); }
    const auto blanks = [&line] {
        const std::size_t count = std::min(line.find_first_not_of(' '), line.size());
        line.remove_prefix(count);
        return count;
    };
    std::size_t below = std::min(blanks(), cells / 3);  // The indentation of continuation lines.
    std::size_t used = below;
    std::string out(below, ' ');
    while (!line.empty()) {
        const std::string_view word = line.substr(0, line.find(' '));
        out += word;
        used += kernel::cells_of(word);
        line.remove_prefix(word.size());
        std::size_t gap = blanks();
        if (line.empty()) { break; }
        if (gap > 1 && used + gap <= cells / 2) { below = used + gap; }
        if (used + gap + kernel::cells_of(line.substr(0, line.find(' '))) > cells) {
            out += '\n';
            used = 0;
            gap = below;
        }
        out.append(gap, ' ');
        used += gap;
    }
    return out;
}

}  // namespace

bool moves_cursor(const Environment& environment) {
    const std::string_view terminal = variable(environment, "TERM");
    return !terminal.empty() && terminal != "dumb";
}

bool wants_colour(const Environment& environment) {
    return moves_cursor(environment) && variable(environment, "NO_COLOR").empty();
}

bool shows_unicode(const Environment& environment) {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string value(variable(environment, name));
        if (value.empty()) { continue; }
        std::ranges::transform(value, value.begin(),
                               [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
        return value.find("UTF-8") != std::string::npos || value.find("UTF8") != std::string::npos;
    }
    return false;
}

std::size_t terminal_columns(int descriptor) {
    winsize size{};
    constexpr std::size_t usual = 80;
    constexpr std::size_t least = 20;
    if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) { return usual; }
    return std::max<std::size_t>(size.ws_col, least);
}

std::atomic<bool>& live_lines_shown() noexcept {
    static constinit std::atomic<bool> stand{false};
    static_assert(std::atomic<bool>::is_always_lock_free);
    return stand;
}

std::size_t cells_of(std::string_view text) {
    const Utf8Locale locale;
    std::size_t cells = 0;
    for (std::size_t at = 0; at < text.size();) { cells += cells_of(next_character(text, at)); }
    return cells;
}

std::string fitting(std::string_view text, std::size_t cells) {
    const Utf8Locale locale;
    std::size_t used = 0;
    std::size_t cut = 0;  // Where "…" may replace the rest.
    for (std::size_t at = 0; at < text.size();) {
        used += cells_of(next_character(text, at));
        if (used > cells) { return cells == 0 ? std::string() : std::string(text.substr(0, cut)) + "…"; }
        if (used < cells) { cut = at; }
    }
    return std::string(text);
}

std::string folded_lines(std::string_view text, std::size_t cells) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        out += folded_line(text.substr(0, end), cells);
        if (end < text.size()) { out += '\n'; }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

std::string fitted_line(const Program& program, const std::string& line, const std::string& end) {
    if (!program.out_is_terminal) { return line + end; }
    const std::size_t room = terminal_columns(STDOUT_FILENO) - 1;
    const std::string text = fitting(line, room - std::min(room, cells_of(end))) + end;
    return shows_unicode(program.environment) ? text : as_ascii(text);
}

std::string as_ascii(std::string_view text) {
    static constexpr std::array<std::pair<char32_t, char>, 18> likes{{{U'…', '~'},
                                                                      {U'✓', '+'},
                                                                      {U'●', '*'},
                                                                      {U'✗', 'x'},
                                                                      {U'·', '.'},
                                                                      {U'–', '-'},
                                                                      {U'−', '-'},
                                                                      {U'⚠', '!'},
                                                                      {U'█', '#'},
                                                                      {U'░', '.'},
                                                                      {U'─', '-'},
                                                                      {U'│', '|'},
                                                                      {U'┌', '+'},
                                                                      {U'┐', '+'},
                                                                      {U'└', '+'},
                                                                      {U'┘', '+'},
                                                                      {U'├', '+'},
                                                                      {U'┤', '+'}}};
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const char32_t point = next_character(text, at);
        if (point < 0x80) {
            result += static_cast<char>(point);
            continue;
        }
        const auto like = std::ranges::find(likes, point, &std::pair<char32_t, char>::first);
        result += like == likes.end() ? '?' : like->second;
    }
    return result;
}

}  // namespace agentforge::kernel
