// SPDX-License-Identifier: Apache-2.0
#include "tools/hunks.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>
#include <set>

#include <cstring>

#include "base/text.hpp"

namespace agentforge::kernel {

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

namespace {

constexpr std::size_t most_places = 1000;
constexpr std::size_t most_places_named = 10;
constexpr std::size_t most_nearest_lines = 8;
constexpr std::size_t most_lines_compared = 100'000;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// ------------------------------------------------------------------------------------- lines --

std::string_view without_line_end(std::string_view line) {
    if (line.ends_with('\n')) { line.remove_suffix(1); }
    if (line.ends_with('\r')) { line.remove_suffix(1); }
    return line;
}

std::string_view trim_end(std::string_view line) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r' || line.back() == '\n')) {
        line.remove_suffix(1);
    }
    return line;
}

std::string_view trim_both(std::string_view line) {
    line = trim_end(line);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) { line.remove_prefix(1); }
    return line;
}

std::string_view indentation(std::string_view line) {
    return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

std::size_t indentation_width(std::string_view line) {
    std::size_t width = 0;
    for (const char c : indentation(line)) { width = c == '\t' ? (width / 8 + 1) * 8 : width + 1; }
    return width;
}

std::uint64_t line_of(std::string_view content, std::size_t offset) {
    return 1 +
           static_cast<std::uint64_t>(std::count(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
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

struct LineEnds {
    std::size_t lf = 0;
    std::size_t crlf = 0;
};

LineEnds count_line_ends(std::string_view text) {
    LineEnds ends;
    for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
        if (at > 0 && text[at - 1] == '\r') {
            ++ends.crlf;
        } else {
            ++ends.lf;
        }
    }
    return ends;
}

// ------------------------------------------------------------------------------- punctuation --

/// Returns the ASCII form of a Unicode dash, quotation mark or space that begins here, and its size; 0 for any other character.
char ascii_form(std::string_view text, std::size_t& size) {
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
    size = 3;
    if (byte(0) == 0xC2U && byte(1) == 0xA0U) {  // U+00A0
        size = 2;
        return ' ';
    }
    if (byte(0) == 0xE2U && byte(1) == 0x80U) {
        const auto last = byte(2);
        if ((last >= 0x82U && last <= 0x8AU) || last == 0xAFU) { return ' '; }  // U+2002…200A, U+202F
        if (last >= 0x90U && last <= 0x95U) { return '-'; }                     // U+2010…2015
        if (last >= 0x98U && last <= 0x9BU) { return '\''; }                    // U+2018…201B
        if (last >= 0x9CU && last <= 0x9FU) { return '"'; }                     // U+201C…201F
    }
    if (byte(0) == 0xE2U && byte(1) == 0x81U && byte(2) == 0x9FU) { return ' '; }  // U+205F
    if (byte(0) == 0xE2U && byte(1) == 0x88U && byte(2) == 0x92U) { return '-'; }  // U+2212
    if (byte(0) == 0xE3U && byte(1) == 0x80U && byte(2) == 0x80U) { return ' '; }  // U+3000
    size = 1;
    return 0;
}

bool may_have_punctuation(std::string_view text) {
    return text.find('\xE2') != std::string_view::npos || text.find('\xC2') != std::string_view::npos ||
           text.find('\xE3') != std::string_view::npos;
}

/// `offsets`, if given, receives the offset in `text` of each byte of the result, and the size of `text` at the end.
std::string ascii_punctuation(std::string_view text, std::vector<std::size_t>* offsets = nullptr) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        std::size_t size = 1;
        const char form = ascii_form(text.substr(at, 3), size);
        result += form != 0 ? form : text[at];
        if (offsets != nullptr) { offsets->push_back(at); }
        at += form != 0 ? size : 1;
    }
    if (offsets != nullptr) { offsets->push_back(text.size()); }
    return result;
}

// -------------------------------------------------------------------------------------- fits --

/// How two lines are compared, strictest first. Line ends never count.
enum class Fit : unsigned char { whole = 1, trailing_space, indentation, punctuation, punctuation_and_indentation };

constexpr std::array all_fits = {Fit::whole, Fit::trailing_space, Fit::indentation, Fit::punctuation,
                                 Fit::punctuation_and_indentation};

constexpr bool moves_indentation(Fit fit) { return fit == Fit::indentation || fit == Fit::punctuation_and_indentation; }
constexpr bool compares_punctuation(Fit fit) { return fit == Fit::punctuation || fit == Fit::punctuation_and_indentation; }

/// Lines in the form in which they are compared.
class Keys {
public:
    Keys(const std::vector<std::string_view>& lines, Fit fit) {
        keys_.reserve(lines.size());
        for (std::string_view line : lines) {
            line = without_line_end(line);
            if (compares_punctuation(fit) && may_have_punctuation(line)) { line = own_.emplace_back(ascii_punctuation(line)); }
            if (moves_indentation(fit)) {
                line = trim_both(line);
            } else if (fit != Fit::whole) {
                line = trim_end(line);
            }
            keys_.push_back(line);
        }
    }
    [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
    [[nodiscard]] std::string_view operator[](std::size_t at) const noexcept { return keys_[at]; }
    [[nodiscard]] bool changed() const noexcept { return !own_.empty(); }

private:
    std::vector<std::string_view> keys_;
    std::deque<std::string> own_;
};

/// Returns every line at which `wanted` begins in `text`, including overlapping matches (Knuth, Morris and Pratt).
std::vector<std::size_t> line_places(const Keys& text, const Keys& wanted) {
    std::vector<std::size_t> found;
    if (wanted.size() == 0 || wanted.size() > text.size()) { return found; }
    std::vector<std::size_t> border(wanted.size(), 0);
    for (std::size_t i = 1, length = 0; i < wanted.size(); ++i) {
        while (length > 0 && wanted[i] != wanted[length]) { length = border[length - 1]; }
        if (wanted[i] == wanted[length]) { ++length; }
        border[i] = length;
    }
    for (std::size_t i = 0, length = 0; i < text.size(); ++i) {
        while (length > 0 && text[i] != wanted[length]) { length = border[length - 1]; }
        if (text[i] == wanted[length]) { ++length; }
        if (length == wanted.size()) {
            found.push_back(i + 1 - length);
            length = border[length - 1];
        }
    }
    return found;
}

/// Returns every offset, including overlapping matches; at most `most_places`.
std::vector<std::size_t> byte_places(std::string_view content, std::string_view search) {
    std::vector<std::size_t> found;
    std::size_t from = 0;
    while (!search.empty() && from < content.size() && found.size() < most_places) {
        const void* at = ::memmem(content.data() + from, content.size() - from, search.data(), search.size());
        if (at == nullptr) { break; }
        found.push_back(static_cast<std::size_t>(static_cast<const char*>(at) - content.data()));
        from = found.back() + 1;
    }
    return found;
}

/// How much deeper (`add`) or less deep (`remove`) the text's lines are indented than the wanted lines.
struct Shift {
    std::string_view add;
    std::string_view remove;
};

std::optional<Shift> shift_of(const std::vector<std::string_view>& lines, std::size_t at,
                              const std::vector<std::string_view>& wanted) {
    std::optional<Shift> shift;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (trim_both(wanted[i]).empty() && trim_both(lines[at + i]).empty()) { continue; }
        const auto have = indentation(lines[at + i]);
        const auto want = indentation(wanted[i]);
        Shift one;
        if (have.size() >= want.size() && have.ends_with(want)) {
            one.add = have.substr(0, have.size() - want.size());
        } else if (want.ends_with(have)) {
            one.remove = want.substr(0, want.size() - have.size());
        } else {
            return std::nullopt;
        }
        if (shift && (shift->add != one.add || shift->remove != one.remove)) { return std::nullopt; }
        shift = one;
    }
    return shift;
}

/// Returns for each line of `after` the line of `before` that it equals, in order. npos: a new line.
std::vector<std::size_t> kept_lines(const std::vector<std::string_view>& before, const std::vector<std::string_view>& after) {
    constexpr auto none = std::string_view::npos;
    std::vector<std::size_t> kept(after.size(), none);
    const auto same = [&](std::size_t i, std::size_t j) { return trim_end(before[i]) == trim_end(after[j]); };
    std::size_t begin = 0;
    while (begin < std::min(before.size(), after.size()) && same(begin, begin)) {
        kept[begin] = begin;
        ++begin;
    }
    std::size_t n = before.size() - begin;
    std::size_t m = after.size() - begin;
    while (n > 0 && m > 0 && same(begin + n - 1, begin + m - 1)) {
        kept[begin + m - 1] = begin + n - 1;
        --n;
        --m;
    }
    if (n == 0 || m == 0 || n > 1'000'000 / m) { return kept; }
    std::vector<std::uint32_t> longest((n + 1) * (m + 1), 0);
    const auto cell = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return longest[i * (m + 1) + j]; };
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t j = m; j-- > 0;) {
            cell(i, j) = same(begin + i, begin + j) ? cell(i + 1, j + 1) + 1 : std::max(cell(i + 1, j), cell(i, j + 1));
        }
    }
    for (std::size_t i = 0, j = 0; i < n && j < m;) {
        if (same(begin + i, begin + j)) {
            kept[begin + j++] = begin + i++;
        } else if (cell(i + 1, j) >= cell(i, j + 1)) {
            ++i;
        } else {
            ++j;
        }
    }
    return kept;
}

// ------------------------------------------------------------------------------------ errors --

std::string subject(const Hunk& hunk) {
    return hunk.label.empty() ? "The text to replace" : hunk.label + ": the text to replace";
}

std::string line_list(const std::vector<std::uint64_t>& lines, bool more) {
    std::string text;
    for (std::size_t i = 0; i < lines.size() && i < most_places_named; ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(lines[i]);
    }
    return text + (lines.size() > most_places_named || more ? ", …" : "");
}

Error several(const Hunk& hunk, std::string_view name, const std::vector<std::uint64_t>& lines, bool more, bool tolerant) {
    return {"AF-TOOL-041",
            subject(hunk) + " occurs " + std::to_string(lines.size()) + (more ? " times or more" : " times") + " in " +
                std::string(name) + (tolerant ? " (white space and punctuation aside)" : "") + ": lines " +
                line_list(lines, more) + ". Nothing was changed.",
            std::string(name) + ":" + std::to_string(lines.front()),
            hunk.whole_lines
                ? "Give more lines around the place, or an @@ line with the line that heads it, so that it occurs once."
                : "Give more lines around the place, so that it occurs once.",
            ErrorKind::invalid};
}

/// Returns the similarity of two lines, 0…1000: shared pairs of bytes (Dice).
unsigned likeness(std::string_view a, std::string_view b) {
    a = a.substr(0, 200);
    b = b.substr(0, 200);
    if (a.size() < 2 || b.size() < 2) { return a == b ? 1000U : 0U; }
    std::array<std::uint16_t, 1024> counts{};
    const auto bucket = [](char x, char y) {
        return (static_cast<unsigned char>(x) * 31U + static_cast<unsigned char>(y)) % 1024U;
    };
    for (std::size_t i = 0; i + 1 < a.size(); ++i) { ++counts[bucket(a[i], a[i + 1])]; }
    unsigned shared = 0;
    for (std::size_t i = 0; i + 1 < b.size(); ++i) {
        auto& count = counts[bucket(b[i], b[i + 1])];
        if (count > 0) {
            --count;
            ++shared;
        }
    }
    return static_cast<unsigned>(2000U * shared / (a.size() + b.size() - 2));
}

void show_lines(Error& error, const std::vector<std::string_view>& lines, std::size_t first, std::size_t count) {
    error.message += " Nearest lines:";
    for (std::size_t i = first; i < std::min(lines.size(), first + count); ++i) {
        error.message += "\n" + std::to_string(i + 1) + "\t" + ellipsis(sanitize_utf8(without_line_end(lines[i])), 200);
    }
    error.where += ":" + std::to_string(first + 1);
}

/// `wanted` matches nowhere: shows the window with the most equal lines, or if there are none, the line most similar to the first
/// wanted one.
void show_nearest(Error& error, const std::vector<std::string_view>& lines, const std::vector<std::string_view>& wanted) {
    std::size_t anchor = 0;
    while (anchor < wanted.size() && trim_both(wanted[anchor]).empty()) { ++anchor; }
    if (anchor == wanted.size()) { return; }
    std::size_t best = lines.size();
    std::size_t best_equal = 0;
    unsigned best_likeness = 0;
    const auto first = trim_both(wanted[anchor]);
    const std::size_t window = std::min<std::size_t>(wanted.size() - anchor, 20);
    for (std::size_t at = 0; at < std::min(lines.size(), most_lines_compared); ++at) {
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
        error.message += " No line is similar.";
        return;
    }
    std::size_t non_blank = 0;
    for (std::size_t i = 0; i < window; ++i) { non_blank += trim_both(wanted[anchor + i]).empty() ? 0U : 1U; }
    if (best_equal == non_blank && wanted.size() - anchor <= 20) {
        error.message += " Only white space differs (indentation, blank lines).";
    }
    show_lines(error, lines, best, std::min(window + 1, most_nearest_lines));
}

Error nowhere(std::string_view content, const std::vector<std::string_view>& lines, const Hunk& hunk, std::string_view name,
              const std::string& hint) {
    Error error{"AF-TOOL-040",
                subject(hunk) + " is not in " + std::string(name) + (hint.empty() ? "" : ", " + hint) + ". Nothing was changed.",
                std::string(name), "Read the file again and copy the text exactly, indentation included.", ErrorKind::invalid};
    if (lines.empty()) {
        error.message = subject(hunk) + " is not in " + std::string(name) + ": the file is empty.";
        error.remedy = hunk.whole_lines ? "Give only lines to add."
                                        : "Give it content as a whole: `content` of edit_file does that. Otherwise leave it out.";
        return error;
    }
    if (!trim_both(hunk.replace).empty() && content.find(hunk.replace) != std::string_view::npos) {
        error.message += " The replacement is already in the file, at line " +
                         std::to_string(line_of(content, content.find(hunk.replace))) + ": perhaps this edit was made before.";
    }
    if (hunk.search.find("\xEF\xBF\xBD") != std::string::npos && !is_valid_utf8(content)) {
        error.message += " The file is not UTF-8; a byte that is shown as \xEF\xBF\xBD cannot be given.";
        error.remedy = "Leave the lines with such bytes out of the text to replace.";
    }
    show_nearest(error, lines, split_lines(hunk.search));
    return error;
}

// ----------------------------------------------------------------------------------- placing --

struct Place {
    std::size_t begin = 0;
    std::size_t size = 0;
    std::string replacement;
    std::size_t hunk = 0;
    bool tolerant = false;
};

/// A line that an anchor names, and the first line after its block.
struct Scope {
    std::size_t line = 0;
    std::size_t end = 0;
    bool operator<(const Scope& other) const noexcept { return line < other.line; }
};

class Base {
public:
    Base(std::string_view content, std::string_view name)
        : content_(content),
          name_(name),
          start_(content.starts_with(byte_order_mark) ? byte_order_mark.size() : 0),
          lines_(split_lines(content.substr(start_))),
          ends_(count_line_ends(content)) {}

    [[nodiscard]] Result<Place> place(const Hunk& hunk) {
        std::string hint;
        auto placed = hunk.whole_lines ? place_lines(hunk, hint) : place_piece(hunk);
        if (!placed.ok()) { return std::move(placed).error(); }
        if (*placed) { return **std::move(placed); }
        return nowhere(content_.substr(start_), lines_, hunk, name_, hint);
    }

private:
    using Placed = Result<std::optional<Place>>;

    const Keys& keys(Fit fit) {
        const auto found = keys_.find(fit);
        return found != keys_.end() ? found->second : keys_.emplace(fit, Keys(lines_, fit)).first->second;
    }

    [[nodiscard]] std::size_t offset(std::size_t line) const {
        return line < lines_.size() ? static_cast<std::size_t>(lines_[line].data() - content_.data()) : content_.size();
    }

    /// Returns the line end for new lines at a place.
    [[nodiscard]] std::string_view line_end_near(std::size_t begin, std::size_t end) const {
        const auto last = end > begin && content_[end - 1] == '\n' ? end : content_.find('\n', end);
        LineEnds near =
            count_line_ends(content_.substr(begin, (last == std::string_view::npos ? content_.size() : last + 1) - begin));
        if (near.lf + near.crlf == 0) { near = ends_; }
        return near.crlf > near.lf ? "\r\n" : "\n";
    }

    // -- any piece of text

    Placed place_piece(const Hunk& hunk) {
        if (hunk.search.empty()) {
            return Error{"AF-TOOL-042", subject(hunk) + " is empty; it would match everywhere in " + std::string(name_) + ".",
                         std::string(name_),
                         "Give the text that is to be replaced, or `content` for the whole file. Use create_file for a new file.",
                         ErrorKind::invalid};
        }
        const bool has_cr = hunk.search.find('\r') != std::string::npos;
        const auto take = [&](const std::vector<std::size_t>& found, std::string_view search, bool tolerant) -> Placed {
            if (found.size() > 1) {
                std::vector<std::uint64_t> numbers;
                for (const auto at : found) { numbers.push_back(line_of(content_, at)); }
                return several(hunk, name_, numbers, found.size() == most_places, tolerant);
            }
            const auto at = found.front();
            const bool crlf =
                search.find('\r') == std::string_view::npos ? line_end_near(at, at + search.size()) == "\r\n" : tolerant;
            const bool literal = has_cr && !tolerant;
            std::string replacement = hunk.replace;
            if (crlf && !literal) {
                replacement = to_crlf(replacement);
            } else if (tolerant) {
                replacement = to_lf(replacement);
            }
            return Place{at, search.size(), std::move(replacement), 0, tolerant};
        };
        if (const auto exact = byte_places(content_, hunk.search); !exact.empty()) { return take(exact, hunk.search, false); }
        // Unifies line ends: the same text with the other kind.
        const std::string other = has_cr ? to_lf(hunk.search) : to_crlf(hunk.search);
        if (other != hunk.search) {
            if (const auto found = byte_places(content_, other); !found.empty()) { return take(found, other, true); }
        }
        std::string hint;
        for (const Fit fit : all_fits) {
            if (fit == Fit::punctuation) {
                auto placed = place_piece_by_punctuation(hunk);
                if (!placed.ok() || *placed) { return placed; }
            }
            auto placed = place_by(fit, hunk, hunk.search, hunk.replace, hint);
            if (!placed.ok() || *placed) { return placed; }
        }
        return std::optional<Place>();
    }

    /// Matches a piece inside lines that differs only in punctuation. The text that search and replacement share keeps the file's
    /// own bytes.
    Placed place_piece_by_punctuation(const Hunk& hunk) {
        if (!may_have_punctuation(content_) && !may_have_punctuation(hunk.search)) { return std::optional<Place>(); }
        std::vector<std::size_t> offsets;
        const std::string text = ascii_punctuation(content_, &offsets);
        const std::string search = ascii_punctuation(hunk.search);
        const auto found = byte_places(text, search);
        if (found.empty()) { return std::optional<Place>(); }
        if (found.size() > 1) {
            std::vector<std::uint64_t> numbers;
            for (const auto at : found) { numbers.push_back(line_of(text, at)); }
            return several(hunk, name_, numbers, found.size() == most_places, true);
        }
        const auto character = [](std::string_view of, std::size_t at) {
            return at < of.size() && (static_cast<unsigned char>(of[at]) & 0xC0U) == 0x80U;
        };
        const std::string_view from = hunk.search;
        const std::string_view to = hunk.replace;
        std::size_t head = 0;
        while (head < std::min(from.size(), to.size()) && from[head] == to[head]) { ++head; }
        while (head > 0 && (character(from, head) || character(to, head))) { --head; }
        std::size_t tail = 0;
        while (tail < std::min(from.size(), to.size()) - head && from[from.size() - 1 - tail] == to[to.size() - 1 - tail]) {
            ++tail;
        }
        while (tail > 0 && (character(from, from.size() - tail) || character(to, to.size() - tail))) { --tail; }
        const auto begin = offsets[found.front() + ascii_punctuation(from.substr(0, head)).size()];
        const auto end = offsets[found.front() + search.size() - ascii_punctuation(from.substr(from.size() - tail)).size()];
        const std::string_view middle = to.substr(head, to.size() - head - tail);
        return Place{begin, end - begin, line_end_near(begin, end) == "\r\n" ? to_crlf(middle) : std::string(middle), 0, true};
    }

    // -- whole lines

    Placed place_lines(const Hunk& hunk, std::string& hint) {
        if (hunk.search.empty()) { return insert(hunk); }
        for (const Fit fit : all_fits) {
            auto placed = place_by(fit, hunk, hunk.search, hunk.replace, hint);
            if (!placed.ok() || *placed) { return placed; }
        }
        // A blank line at the end of a hunk often only separates it from the next.
        const auto before = split_lines(hunk.search);
        const auto after = split_lines(hunk.replace);
        if (before.size() > 1 && !after.empty() && trim_end(before.back()).empty() && trim_end(after.back()).empty()) {
            const std::string search = hunk.search.substr(0, hunk.search.size() - before.back().size());
            const std::string replace = hunk.replace.substr(0, hunk.replace.size() - after.back().size());
            for (const Fit fit : all_fits) {
                auto placed = place_by(fit, hunk, search, replace, hint);
                if (!placed.ok() || *placed) { return placed; }
            }
        }
        return std::optional<Place>();
    }

    Placed insert(const Hunk& hunk) {
        if (hunk.replace.empty()) {
            return Error{"AF-TOOL-042", subject(hunk) + " is empty, and nothing takes its place.", std::string(name_),
                         "Give lines to remove or to add.", ErrorKind::invalid};
        }
        std::size_t line = lines_.size();
        if (!hunk.anchors.empty() && !hunk.at_end) {
            AF_TRY(const auto scopes, anchored(hunk));
            if (scopes.size() > 1) {
                std::vector<std::uint64_t> numbers;
                for (const auto& scope : scopes) { numbers.push_back(scope.line + 1); }
                Error error = several(hunk, name_, numbers, false, false);
                error.message = (hunk.label.empty() ? "" : hunk.label + ": ") + "the line '" +
                                ellipsis(sanitize_utf8(hunk.anchors.back()), 100) + "' occurs " + std::to_string(numbers.size()) +
                                " times in " + std::string(name_) + ": lines " + line_list(numbers, false) +
                                ". Nothing was changed.";
                error.remedy = "Give more lines around the place to make it unique.";
                return error;
            }
            line = scopes.front().line + 1;
        }
        const auto at = offset(line);
        const auto line_end = ends_.crlf > ends_.lf ? std::string_view("\r\n") : std::string_view("\n");
        std::string text = line_end == "\r\n" ? to_crlf(hunk.replace) : to_lf(hunk.replace);
        if (at == content_.size() && at > start_ &&
            content_.back() != '\n') {  // A missing line end at the end of the file stays missing.
            text.insert(0, line_end);
            if (text.ends_with(line_end)) { text.resize(text.size() - line_end.size()); }
        }
        return Place{at, 0, std::move(text), 0, false};
    }

    /// Returns the lines that the last anchor may mean.
    Result<std::vector<Scope>> anchored(const Hunk& hunk) {
        const Keys& text = keys(Fit::punctuation_and_indentation);
        std::set<Scope> scopes;
        for (std::size_t number = 0; number < hunk.anchors.size(); ++number) {
            const std::vector<std::string_view> anchor{hunk.anchors[number]};
            const Keys wanted(anchor, Fit::punctuation_and_indentation);
            std::set<Scope> next;
            const auto search_range = [&](std::size_t from, std::size_t to) {
                for (std::size_t line = from; line < to; ++line) {
                    if (text[line] == wanted[0]) { next.insert({line, scope_end(line)}); }
                }
            };
            if (number == 0) {
                search_range(0, lines_.size());
            } else {
                for (const Scope& scope : scopes) { search_range(scope.line + 1, scope.end); }
                if (next.empty()) { search_range(scopes.begin()->line + 1, lines_.size()); }
            }
            if (next.empty()) {
                Error error{"AF-TOOL-040",
                            (hunk.label.empty() ? "T" : hunk.label + ": t") + std::string("he line '") +
                                ellipsis(sanitize_utf8(hunk.anchors[number]), 100) + "' of an @@ mark is not in " +
                                std::string(name_) + (number > 0 ? " below the one before it" : "") + ". Nothing was changed.",
                            std::string(name_), "Copy one whole line of the file after @@, or leave it out.", ErrorKind::invalid};
                show_nearest(error, lines_, anchor);
                return error;
            }
            scopes = std::move(next);
        }
        return std::vector<Scope>(scopes.begin(), scopes.end());
    }

    /// Returns the next line that is not indented deeper and is more than a closing bracket.
    [[nodiscard]] std::size_t scope_end(std::size_t line) const {
        const auto width = indentation_width(lines_[line]);
        for (std::size_t next = line + 1; next < lines_.size(); ++next) {
            const auto text = trim_both(lines_[next]);
            if (!text.empty() && indentation_width(lines_[next]) <= width &&
                std::string_view(")]}{").find(text.front()) == std::string_view::npos) {
                return next;
            }
        }
        return lines_.size();
    }

    /// Keeps the places that the hunk's anchors select. `hint`: why other matching places were rejected.
    Result<std::vector<std::size_t>> wanted_places(const Hunk& hunk, std::vector<std::size_t> found, std::size_t count,
                                                   std::string& hint) {
        if (found.empty()) { return found; }
        const auto first = found.front() + 1;
        if (hunk.at_end) {
            std::erase_if(found, [&](std::size_t at) { return at + count != lines_.size(); });
            if (found.empty()) { hint = "but for line " + std::to_string(first) + ", which is not the end of the file"; }
        }
        if (hunk.anchors.empty() || found.empty()) { return found; }
        AF_TRY(const auto scopes, anchored(hunk));
        std::vector<std::size_t> inside;
        std::vector<std::size_t> below;
        auto scope = scopes.begin();
        std::size_t end = 0;
        for (const auto at : found) {
            while (scope != scopes.end() && scope->line <= at) { end = std::max(end, (scope++)->end); }
            if (at < end) { inside.push_back(at); }
            if (scope != scopes.begin()) { below.push_back(at); }
        }
        if (inside.empty() && below.empty()) { hint = "but for line " + std::to_string(first) + ", which is above the @@ line"; }
        return inside.empty() ? below : inside;
    }

    Placed place_by(Fit fit, const Hunk& hunk, std::string_view search, std::string_view replace, std::string& hint) {
        const auto wanted = split_lines(search);
        const bool blank =
            std::all_of(wanted.begin(), wanted.end(), [](std::string_view line) { return trim_end(line).empty(); });
        if (blank && (fit != Fit::whole || !hunk.whole_lines)) { return std::optional<Place>(); }
        const Keys& text = keys(fit);
        const Keys want(wanted, fit);
        // Same as without punctuation.
        if (compares_punctuation(fit) && !text.changed() && !want.changed()) { return std::optional<Place>(); }
        auto found = line_places(text, want);
        if (moves_indentation(fit)) {
            std::erase_if(found, [&](std::size_t at) { return !shift_of(lines_, at, wanted).has_value(); });
        }
        AF_TRY(found, wanted_places(hunk, std::move(found), wanted.size(), hint));
        if (found.empty()) { return std::optional<Place>(); }
        if (found.size() > 1) {
            std::vector<std::uint64_t> numbers;
            for (const auto at : found) { numbers.push_back(at + 1); }
            return several(hunk, name_, numbers, false, fit != Fit::whole);
        }
        const Shift shift = moves_indentation(fit) ? *shift_of(lines_, found.front(), wanted) : Shift{};
        return written(found.front(), wanted, replace, search.ends_with('\n'), shift, fit != Fit::whole);
    }

    /// Writes the lines of `replace` over those from `at` on. Kept lines keep the file's own bytes.
    Placed written(std::size_t at, const std::vector<std::string_view>& wanted, std::string_view replace, bool with_end,
                   const Shift& shift, bool tolerant) const {
        const auto after = split_lines(replace);
        const auto kept = kept_lines(wanted, after);
        const auto begin = offset(at);
        const std::string_view last = lines_[at + wanted.size() - 1];
        const auto last_begin = offset(at + wanted.size() - 1);
        const auto end = last_begin + (with_end ? last.size() : without_line_end(last).size());
        const auto line_end = line_end_near(begin, end);
        std::string text;
        for (std::size_t i = 0; i < after.size(); ++i) {
            const bool final = i + 1 == after.size();
            const std::string_view line = without_line_end(after[i]);
            std::string_view own_end;
            if (kept[i] != std::string_view::npos) {
                const std::string_view own = lines_[at + kept[i]];
                text += without_line_end(own);
                own_end = own.substr(without_line_end(own).size());
            } else if (line.empty()) {
            } else if (shift.remove.empty()) {
                text.append(shift.add).append(line);
            } else if (line.starts_with(shift.remove)) {
                text += line.substr(shift.remove.size());
            } else {
                return std::optional<Place>();  // A new line is indented less than what would be removed.
            }
            if (!after[i].ends_with('\n') || (final && with_end && !last.ends_with('\n'))) { continue; }
            text += own_end.empty() ? line_end : own_end;
        }
        return Place{begin, end - begin, std::move(text), 0, tolerant};
    }

    std::string_view content_;
    std::string_view name_;
    std::size_t start_;
    std::vector<std::string_view> lines_;
    LineEnds ends_;
    std::map<Fit, Keys> keys_;
};

/// Excludes unchanged lines, so that hunks may share lines around their changes.
void narrow(std::string_view content, Place& place) {
    const std::string_view old = content.substr(place.begin, place.size);
    const std::string_view text = place.replacement;
    std::size_t head = 0;
    const auto shorter = std::min(old.size(), text.size());
    while (head < shorter && old[head] == text[head]) { ++head; }
    while (head > 0 && old[head - 1] != '\n') { --head; }
    std::size_t tail = 0;
    while (tail < shorter - head && old[old.size() - 1 - tail] == text[text.size() - 1 - tail]) { ++tail; }
    // The tail must begin after a line end in both texts, otherwise it is not whole lines.
    const auto whole = [&](std::string_view of) {
        return tail == of.size() - head ? (head > 0 || place.begin == 0) : of[of.size() - 1 - tail] == '\n';
    };
    while (tail > 0 && !(whole(old) && whole(text))) { --tail; }
    place.begin += head;
    place.size -= head + tail;
    place.replacement = std::string(text.substr(head, text.size() - head - tail));
}

}  // namespace

Result<HunksEdit> apply_hunks(std::string_view content, const std::vector<Hunk>& hunks, std::string_view name) {
    Base base(content, name);
    std::vector<Place> places;
    bool changes = false;
    for (std::size_t i = 0; i < hunks.size(); ++i) {
        AF_TRY(Place place, base.place(hunks[i]));
        place.hunk = i;
        changes = changes || content.substr(place.begin, place.size) != place.replacement;
        narrow(content, place);
        places.push_back(std::move(place));
    }
    if (!changes) {
        return Error{"AF-TOOL-043", "The replacement equals the existing text; " + std::string(name) + " would not change.",
                     std::string(name), "Go on: there is nothing to do here.", ErrorKind::invalid};
    }
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.size == 0 && b.size != 0;  // An insertion before a place comes first.
    });
    for (std::size_t i = 1; i < places.size(); ++i) {
        if (places[i].begin >= places[i - 1].begin + places[i - 1].size) { continue; }
        const auto label = [&](const Place& place) {
            return hunks[place.hunk].label.empty() ? "Edit " + std::to_string(place.hunk + 1) : hunks[place.hunk].label;
        };
        return Error{"AF-TOOL-049",
                     label(places[i - 1]) + " and " + label(places[i]) + " change the same lines of " + std::string(name) +
                         ". Nothing was changed.",
                     std::string(name) + ":" + std::to_string(line_of(content, places[i].begin)), "Merge them into one.",
                     ErrorKind::invalid};
    }
    HunksEdit edit;
    std::size_t done = 0;
    std::uint64_t line = 1;
    for (const Place& place : places) {
        const auto between = content.substr(done, place.begin - done);
        edit.content += between;
        line += static_cast<std::uint64_t>(std::count(between.begin(), between.end(), '\n'));
        const auto newlines = static_cast<std::uint64_t>(std::count(place.replacement.begin(), place.replacement.end(), '\n'));
        const bool open = !place.replacement.empty() && place.replacement.back() != '\n';
        edit.regions.push_back({line, place.replacement.empty() ? line - 1 : line + newlines - (open ? 0 : 1)});
        line += newlines;
        edit.content += place.replacement;
        edit.tolerant = edit.tolerant || place.tolerant;
        done = place.begin + place.size;
    }
    edit.content += content.substr(done);
    edit.line = line_of(content, places.front().begin);
    return edit;
}

std::string in_the_form_of(std::string_view before, std::string_view content) {
    const bool mark = before.starts_with(byte_order_mark) && !content.starts_with(byte_order_mark);
    const auto ends = count_line_ends(before);
    const bool crlf = ends.crlf > 0 && ends.lf == 0 && content.find('\r') == std::string_view::npos;
    return (mark ? std::string(byte_order_mark) : std::string()) + (crlf ? to_crlf(content) : std::string(content));
}

}  // namespace agentforge::kernel
