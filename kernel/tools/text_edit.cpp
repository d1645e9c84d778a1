// SPDX-License-Identifier: Apache-2.0
#include "tools/text_edit.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t most_places_named = 10;
constexpr std::size_t most_nearest_lines = 8;

/// Lines with their line ends.
std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto size = end == std::string_view::npos ? text.size() : end + 1;
        lines.push_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    return lines;
}

std::string_view trim_end(std::string_view line) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r' || line.back() == '\n')) { line.remove_suffix(1); }
    return line;
}

std::string_view trim_both(std::string_view line) {
    line = trim_end(line);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) { line.remove_prefix(1); }
    return line;
}

std::string_view without_line_end(std::string_view line) {
    if (line.ends_with('\n')) { line.remove_suffix(1); }
    if (line.ends_with('\r')) { line.remove_suffix(1); }
    return line;
}

std::uint64_t line_of(std::string_view content, std::size_t offset) {
    return 1 + static_cast<std::uint64_t>(std::count(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

/// Every offset, overlapping ones too; at most `limit`.
std::vector<std::size_t> places(std::string_view content, std::string_view search, std::size_t limit) {
    std::vector<std::size_t> found;
    for (auto at = content.find(search); at != std::string_view::npos && found.size() < limit; at = content.find(search, at + 1)) { found.push_back(at); }
    return found;
}

std::string to_lf(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') { continue; }
        result += text[i];
    }
    return result;
}

std::string to_crlf(std::string_view text) {
    std::string result;
    result.reserve(text.size() + text.size() / 16);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) { result += '\r'; }
        result += text[i];
    }
    return result;
}

struct LineEnds { std::size_t lf = 0; std::size_t crlf = 0; };

LineEnds count_line_ends(std::string_view text) {
    LineEnds ends;
    for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
        if (at > 0 && text[at - 1] == '\r') { ++ends.crlf; } else { ++ends.lf; }
    }
    return ends;
}

Error several(std::string_view name, const std::vector<std::uint64_t>& lines, bool more, bool tolerant) {
    std::string text;
    for (std::size_t i = 0; i < lines.size() && i < most_places_named; ++i) {
        if (i > 0) { text += ", "; }
        text += std::to_string(lines[i]);
    }
    if (lines.size() > most_places_named || more) { text += ", …"; }
    return {"AF-TOOL-041",
            "The text to replace stands " + std::to_string(lines.size()) + (more ? " times or more" : " times") + " in " + std::string(name) +
                (tolerant ? " (white space at line ends aside)" : "") + ": lines " + text + ". Nothing was changed.",
            std::string(name) + ":" + std::to_string(lines.front()), "Give more lines around the place, so that it stands once.", ErrorKind::invalid};
}

/// How alike two lines are, 0…1000: shared pairs of bytes (Dice).
unsigned likeness(std::string_view a, std::string_view b) {
    a = a.substr(0, 200);
    b = b.substr(0, 200);
    if (a.size() < 2 || b.size() < 2) { return a == b ? 1000U : 0U; }
    std::array<std::uint16_t, 1024> counts{};
    const auto bucket = [](char x, char y) { return (static_cast<unsigned char>(x) * 31U + static_cast<unsigned char>(y)) % 1024U; };
    for (std::size_t i = 0; i + 1 < a.size(); ++i) { ++counts[bucket(a[i], a[i + 1])]; }
    unsigned shared = 0;
    for (std::size_t i = 0; i + 1 < b.size(); ++i) {
        auto& count = counts[bucket(b[i], b[i + 1])];
        if (count > 0) { --count; ++shared; }
    }
    return static_cast<unsigned>(2000U * shared / (a.size() + b.size() - 2));
}

Error nowhere(std::string_view content, std::string_view search, std::string_view replace, std::string_view name) {
    const auto lines = split_lines(content);
    const auto wanted = split_lines(search);
    Error error{"AF-TOOL-040", "The text to replace does not stand in " + std::string(name) + ". Nothing was changed.", std::string(name),
                "Read the file again and copy the text exactly, indentation included.", ErrorKind::invalid};
    if (lines.empty()) {
        error.message = "The text to replace does not stand in " + std::string(name) + ": the file is empty.";
        error.remedy = "Use create_file to give it content.";
        return error;
    }
    if (!trim_both(replace).empty() && content.find(replace) != std::string_view::npos) {
        error.message += " The replacement stands there already, at line " + std::to_string(line_of(content, content.find(replace))) +
                         ": perhaps this edit was made before.";
    }
    std::size_t anchor = 0;
    while (anchor < wanted.size() && trim_both(wanted[anchor]).empty()) { ++anchor; }
    if (anchor == wanted.size()) { return error; }
    // The window with the most equal lines; without any, the line most like the first one wanted.
    std::size_t best = lines.size();
    std::size_t best_equal = 0;
    unsigned best_likeness = 0;
    const auto first = trim_both(wanted[anchor]);
    const std::size_t window = std::min<std::size_t>(wanted.size() - anchor, 20);
    for (std::size_t at = 0; at < std::min<std::size_t>(lines.size(), 20'000); ++at) {
        std::size_t equal = 0;
        for (std::size_t i = 0; i < window && at + i < lines.size(); ++i) {
            const auto want = trim_both(wanted[anchor + i]);
            if (!want.empty() && want == trim_both(lines[at + i])) { ++equal; }
        }
        const unsigned like = equal >= best_equal ? likeness(first, trim_both(lines[at])) : 0;
        if (equal > best_equal || (equal == best_equal && like > best_likeness)) {
            best = at;
            best_equal = equal;
            best_likeness = like;
        }
    }
    if (best == lines.size() || (best_equal == 0 && best_likeness < 300)) {
        error.message += " No line is like it.";
        return error;
    }
    std::size_t non_blank = 0;
    for (std::size_t i = 0; i < window; ++i) { non_blank += trim_both(wanted[anchor + i]).empty() ? 0U : 1U; }
    if (best_equal == non_blank && wanted.size() - anchor <= 20) { error.message += " Only white space differs (indentation, blank lines)."; }
    error.message += " Nearest lines:";
    for (std::size_t i = best; i < std::min(lines.size(), best + std::min(window + 1, most_nearest_lines)); ++i) {
        error.message += "\n" + std::to_string(i + 1) + "\t" + ellipsis(sanitize_utf8(without_line_end(lines[i])), 200);
    }
    error.where += ":" + std::to_string(best + 1);
    return error;
}

Result<TextEdit> apply(std::string_view content, std::size_t begin, std::size_t size, std::string_view replacement, bool tolerant, std::string_view name) {
    if (content.substr(begin, size) == replacement) {
        return Error{"AF-TOOL-043", "The replacement is the text that stands there already; " + std::string(name) + " would not change.", std::string(name),
                     "Go on: there is nothing to do here.", ErrorKind::invalid};
    }
    TextEdit edit;
    edit.line = line_of(content, begin);
    edit.tolerant = tolerant;
    edit.content.reserve(content.size() - size + replacement.size());
    edit.content.append(content.substr(0, begin)).append(replacement).append(content.substr(begin + size));
    return edit;
}

}  // namespace

Result<TextEdit> replace_once(std::string_view content, std::string_view search, std::string_view replace, std::string_view name) {
    if (search.empty()) {
        return Error{"AF-TOOL-042", "The text to replace is empty; it would stand everywhere in " + std::string(name) + ".", std::string(name),
                     "Give the text that is to be replaced, or use create_file for a new file.", ErrorKind::invalid};
    }
    const auto ends = count_line_ends(content);
    const bool crlf_file = ends.crlf > 0 && ends.lf == 0;
    constexpr std::size_t limit = 1000;
    if (const auto exact = places(content, search, limit); !exact.empty()) {
        if (exact.size() > 1) {
            std::vector<std::uint64_t> numbers;
            for (const auto at : exact) { numbers.push_back(line_of(content, at)); }
            return several(name, numbers, exact.size() == limit, false);
        }
        const bool convert = crlf_file && search.find('\r') == std::string_view::npos;
        return apply(content, exact.front(), search.size(), convert ? to_crlf(replace) : std::string(replace), false, name);
    }
    // Line ends alike: the same text with the other kind.
    const std::string other = search.find('\r') == std::string_view::npos ? to_crlf(search) : to_lf(search);
    if (other != search) {
        if (const auto found = places(content, other, limit); !found.empty()) {
            if (found.size() > 1) {
                std::vector<std::uint64_t> numbers;
                for (const auto at : found) { numbers.push_back(line_of(content, at)); }
                return several(name, numbers, found.size() == limit, true);
            }
            const bool to_cr = other.find('\r') != std::string::npos;
            return apply(content, found.front(), other.size(), to_cr ? to_crlf(replace) : to_lf(replace), true, name);
        }
    }
    // Whole lines, white space at their ends aside.
    const auto lines = split_lines(content);
    const auto wanted = split_lines(search);
    const bool blank = std::all_of(wanted.begin(), wanted.end(), [](std::string_view line) { return trim_end(line).empty(); });
    std::vector<std::size_t> found;
    std::vector<std::uint64_t> numbers;
    for (std::size_t at = 0; !blank && at + wanted.size() <= lines.size() && found.size() < limit; ++at) {
        std::size_t i = 0;
        while (i < wanted.size() && trim_end(lines[at + i]) == trim_end(wanted[i])) { ++i; }
        if (i == wanted.size()) {
            found.push_back(at);
            numbers.push_back(at + 1);
        }
    }
    if (found.size() > 1) { return several(name, numbers, found.size() == limit, true); }
    if (found.size() == 1) {
        const std::string_view first = lines[found.front()];
        const std::string_view last = lines[found.front() + wanted.size() - 1];
        const auto begin = static_cast<std::size_t>(first.data() - content.data());
        const bool with_end = search.ends_with('\n');
        const auto end = static_cast<std::size_t>(last.data() - content.data()) + (with_end ? last.size() : without_line_end(last).size());
        LineEnds near = count_line_ends(content.substr(begin, end - begin));
        if (near.lf + near.crlf == 0) { near = ends; }
        return apply(content, begin, end - begin, near.crlf > near.lf ? to_crlf(replace) : to_lf(replace), true, name);
    }
    return nowhere(content, search, replace, name);
}

std::uint64_t count_lines(std::string_view text) {
    const auto newlines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    return newlines + (text.empty() || text.back() == '\n' ? 0U : 1U);
}

LineCounts count_changes(std::string_view before, std::string_view after) {
    const auto old_lines = split_lines(before);
    const auto new_lines = split_lines(after);
    std::size_t begin = 0;
    const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
    while (begin < shorter && old_lines[begin] == new_lines[begin]) { ++begin; }
    std::size_t tail = 0;
    while (tail < shorter - begin && old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail]) { ++tail; }
    const std::size_t n = old_lines.size() - begin - tail;
    const std::size_t m = new_lines.size() - begin - tail;
    std::uint64_t common = 0;
    if (n > 0 && m > 0 && n <= 4'000'000 / m) {
        // Longest common subsequence, one row at a time, on numbers instead of texts.
        std::map<std::string_view, std::uint32_t> numbers;
        const auto number = [&](std::string_view line) { return numbers.emplace(line, static_cast<std::uint32_t>(numbers.size())).first->second; };
        std::vector<std::uint32_t> a(n);
        std::vector<std::uint32_t> b(m);
        for (std::size_t i = 0; i < n; ++i) { a[i] = number(old_lines[begin + i]); }
        for (std::size_t j = 0; j < m; ++j) { b[j] = number(new_lines[begin + j]); }
        std::vector<std::uint32_t> row(m + 1);
        for (std::size_t i = 0; i < n; ++i) {
            std::uint32_t diagonal = 0;
            for (std::size_t j = 0; j < m; ++j) {
                const std::uint32_t above = row[j + 1];
                row[j + 1] = a[i] == b[j] ? diagonal + 1 : std::max(above, row[j]);
                diagonal = above;
            }
        }
        common = row[m];
    }
    return {m - common, n - common};
}

}  // namespace agentforge::kernel
