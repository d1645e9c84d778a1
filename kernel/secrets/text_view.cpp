// SPDX-License-Identifier: Apache-2.0
#include "secrets/text_view.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

constexpr int no_digit = -1;
constexpr std::size_t most_of_sequence = 4096;  ///< Maximum bytes of one terminal sequence.
constexpr std::size_t most_between = 4;         ///< Maximum bytes between two groups of hexadecimal digits.
constexpr std::size_t longest_group = 64;
constexpr char escape = '\x1b';

constexpr std::array<signed char, 256> digit_values = [] {
    std::array<signed char, 256> table{};
    table.fill(no_digit);
    for (int i = 0; i < 10; ++i) { table[static_cast<std::size_t>('0' + i)] = static_cast<signed char>(i); }
    for (int i = 0; i < 6; ++i) {
        table[static_cast<std::size_t>('a' + i)] = static_cast<signed char>(10 + i);
        table[static_cast<std::size_t>('A' + i)] = static_cast<signed char>(10 + i);
    }
    return table;
}();

int digit_of(char c) { return digit_values[static_cast<unsigned char>(c)]; }

void add_code_point(std::string& out, std::uint32_t point) {
    if (point < 0x80U) {
        out += static_cast<char>(point);
    } else if (point < 0x800U) {
        out += static_cast<char>(0xC0U | (point >> 6U));
        out += static_cast<char>(0x80U | (point & 0x3FU));
    } else if (point < 0x10000U) {
        out += static_cast<char>(0xE0U | (point >> 12U));
        out += static_cast<char>(0x80U | ((point >> 6U) & 0x3FU));
        out += static_cast<char>(0x80U | (point & 0x3FU));
    } else if (point < 0x110000U) {
        out += static_cast<char>(0xF0U | (point >> 18U));
        out += static_cast<char>(0x80U | ((point >> 12U) & 0x3FU));
        out += static_cast<char>(0x80U | ((point >> 6U) & 0x3FU));
        out += static_cast<char>(0x80U | (point & 0x3FU));
    }
}

/// Reads a number of `least` to `most` digits in `base`, and moves `at` past it.
std::optional<std::uint32_t> number(std::string_view text, std::size_t& at, int base, std::size_t least, std::size_t most) {
    std::uint32_t value = 0;
    std::size_t count = 0;
    while (count < most && at + count < text.size()) {
        const int digit = digit_of(text[at + count]);
        if (digit == no_digit || digit >= base) { break; }
        value = value * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit);
        ++count;
    }
    if (count < least) { return std::nullopt; }
    at += count;
    return value;
}

/// Each function reads one escape at `at`. Returns its length and puts its meaning into `out`. 0: there is none.
std::size_t percent(std::string_view text, std::size_t at, std::string& out) {
    std::size_t end = at + 1;
    const auto byte = number(text, end, 16, 2, 2);
    if (!byte) { return 0; }
    out += static_cast<char>(*byte);
    return end - at;
}

std::size_t html(std::string_view text, std::size_t at, std::string& out) {
    // HTML's names of ASCII characters.
    static constexpr std::pair<std::string_view, char> names[] = {{"&amp;", '&'},          {"&AMP;", '&'},
                                                                  {"&lt;", '<'},           {"&LT;", '<'},
                                                                  {"&gt;", '>'},           {"&GT;", '>'},
                                                                  {"&quot;", '"'},         {"&QUOT;", '"'},
                                                                  {"&apos;", '\''},        {"&Tab;", '\t'},
                                                                  {"&NewLine;", '\n'},     {"&excl;", '!'},
                                                                  {"&num;", '#'},          {"&dollar;", '$'},
                                                                  {"&percnt;", '%'},       {"&lpar;", '('},
                                                                  {"&rpar;", ')'},         {"&ast;", '*'},
                                                                  {"&midast;", '*'},       {"&plus;", '+'},
                                                                  {"&comma;", ','},        {"&period;", '.'},
                                                                  {"&sol;", '/'},          {"&colon;", ':'},
                                                                  {"&semi;", ';'},         {"&equals;", '='},
                                                                  {"&quest;", '?'},        {"&commat;", '@'},
                                                                  {"&lsqb;", '['},         {"&lbrack;", '['},
                                                                  {"&bsol;", '\\'},        {"&rsqb;", ']'},
                                                                  {"&rbrack;", ']'},       {"&Hat;", '^'},
                                                                  {"&lowbar;", '_'},       {"&UnderBar;", '_'},
                                                                  {"&grave;", '`'},        {"&DiacriticalGrave;", '`'},
                                                                  {"&lcub;", '{'},         {"&lbrace;", '{'},
                                                                  {"&verbar;", '|'},       {"&vert;", '|'},
                                                                  {"&VerticalLine;", '|'}, {"&rcub;", '}'},
                                                                  {"&rbrace;", '}'}};
    for (const auto& [name, character] : names) {
        if (text.substr(at, name.size()) != name) { continue; }
        out += character;
        return name.size();
    }
    if (text.substr(at, 2) != "&#") { return 0; }
    std::size_t end = at + 2;
    const bool hexadecimal = end < text.size() && (text[end] == 'x' || text[end] == 'X');
    if (hexadecimal) { ++end; }
    const auto point = number(text, end, hexadecimal ? 16 : 10, 1, 8);
    if (!point) { return 0; }
    add_code_point(out, *point);
    return end + (end < text.size() && text[end] == ';' ? 1 : 0) - at;  // Browsers accept it without `;`.
}

/// `{41}` after `\u` and `\x`.
std::optional<std::uint32_t> braced(std::string_view text, std::size_t& at) {
    if (at >= text.size() || text[at] != '{') { return std::nullopt; }
    std::size_t end = at + 1;
    const auto point = number(text, end, 16, 1, 8);
    if (!point || end >= text.size() || text[end] != '}') { return std::nullopt; }
    at = end + 1;
    return point;
}

std::size_t unicode(std::string_view text, std::size_t at, std::string& out) {
    std::size_t end = at + 2;
    if (const auto point = braced(text, end)) {
        add_code_point(out, *point);
        return end - at;
    }
    auto point = number(text, end, 16, 4, 4);
    if (!point) { return 0; }
    const bool first_half = *point >= 0xD800U && *point < 0xDC00U && text.substr(end, 2) == "\\u";
    if (first_half) {
        std::size_t second_end = end + 2;
        const auto second = number(text, second_end, 16, 4, 4);
        if (second && *second >= 0xDC00U && *second < 0xE000U) {
            point = 0x10000U + ((*point - 0xD800U) << 10U) + (*second - 0xDC00U);
            end = second_end;
        }
    }
    add_code_point(out, *point);
    return end - at;
}

std::size_t backslash(std::string_view text, std::size_t at, std::string& out) {
    static constexpr std::string_view letters = "nrtbfvae\"'\\/";
    static constexpr std::string_view meanings = "\n\r\t\b\f\v\a\x1b\"'\\/";
    if (at + 1 >= text.size()) { return 0; }
    const char kind = text[at + 1];
    std::size_t end = at + 2;
    if (kind == 'u') { return unicode(text, at, out); }
    if (kind == 'U') {
        const auto point = number(text, end, 16, 8, 8);
        if (!point) { return 0; }
        add_code_point(out, *point);
        return end - at;
    }
    if (kind == 'x') {
        if (const auto point = braced(text, end)) {
            add_code_point(out, *point);
            return end - at;
        }
        const auto byte = number(text, end, 16, 1, 2);
        if (!byte) { return 0; }
        out += static_cast<char>(*byte);
        return end - at;
    }
    if (const std::size_t letter = letters.find(kind); letter != std::string_view::npos) {
        out += meanings[letter];
        return 2;
    }
    end = at + 1;
    const auto byte = number(text, end, 8, 1, 3);
    if (!byte) { return 0; }
    out += static_cast<char>(*byte & 0xFFU);
    return end - at;
}

/// Returns the length of what follows CSI: parameters and a letter.
std::size_t control_sequence(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && end - at < most_of_sequence && text[end] >= 0x20 && text[end] < 0x40) { ++end; }
    return end < text.size() && text[end] >= 0x40 && text[end] < 0x7F ? end + 1 - at : 0;
}

/// Reads a sequence that begins with two bytes. `kind` says what follows: for `[` parameters and a letter, otherwise text up to
/// BEL or ST.
std::size_t sequence_of(std::string_view text, std::size_t at, char kind) {
    if (kind == '[') {
        const std::size_t rest = control_sequence(text, at + 2);
        return rest == 0 ? 0 : rest + 2;
    }
    const std::size_t limit = std::min(text.size(), at + most_of_sequence);
    for (std::size_t end = at + 2; end < limit; ++end) {
        if (text[end] == '\a') { return end + 1 - at; }
        const std::string_view two = text.substr(end, 2);
        if (two == "\x1b\\" || two == "\xC2\x9C") { return end + 2 - at; }
    }
    return 0;
}

constexpr std::string_view long_sequences = "[]PX_^";  ///< CSI, OSC, DCS, SOS, APC, PM after ESC.

std::size_t terminal_sequence(std::string_view text, std::size_t at) {
    if (at + 1 >= text.size()) { return 0; }
    const char kind = text[at + 1];
    if (long_sequences.find(kind) != std::string_view::npos) { return sequence_of(text, at, kind); }
    if (kind == '(' || kind == ')') { return at + 2 < text.size() ? 3 : 0; }
    return kind >= 0x30 && kind < 0x7F ? 2 : 0;
}

/// Returns the length in bytes of the UTF-8 character with this first byte; 0 if the byte begins no character beyond ASCII.
std::size_t size_of_character(unsigned char lead) {
    if (lead >= 0xF0U) { return 4; }
    if (lead >= 0xE0U) { return 3; }
    return lead >= 0xC2U ? 2 : 0;
}

/// Returns the UTF-8 character at this place and its length in bytes; 0 bytes if there is none beyond ASCII.
std::pair<std::uint32_t, std::size_t> code_point(std::string_view text, std::size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = size_of_character(lead);
    if (size == 0 || text.size() - at < size) { return {0, 0}; }
    std::uint32_t point = lead & (0xFFU >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) { point = (point << 6U) | (static_cast<unsigned char>(text[at + i]) & 0x3FU); }
    return {point, size};
}

/// Unicode's Default_Ignorable_Code_Point, and the interlinear annotations: characters that no terminal shows.
bool has_no_width(std::uint32_t point) {
    constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 17> ranges{{{0xAD, 0xAD},
                                                                              {0x34F, 0x34F},
                                                                              {0x61C, 0x61C},
                                                                              {0x115F, 0x1160},
                                                                              {0x17B4, 0x17B5},
                                                                              {0x180B, 0x180F},
                                                                              {0x200B, 0x200F},
                                                                              {0x202A, 0x202E},
                                                                              {0x2060, 0x206F},
                                                                              {0x3164, 0x3164},
                                                                              {0xFE00, 0xFE0F},
                                                                              {0xFEFF, 0xFEFF},
                                                                              {0xFFA0, 0xFFA0},
                                                                              {0xFFF0, 0xFFFB},
                                                                              {0x1BCA0, 0x1BCA3},
                                                                              {0x1D173, 0x1D17A},
                                                                              {0xE0000, 0xE0FFF}}};
    return std::ranges::any_of(ranges, [point](const auto& range) { return point >= range.first && point <= range.second; });
}

/// Characters without width, and terminal sequences that begin with a C1 character.
std::size_t unseen(std::string_view text, std::size_t at) {
    const auto [point, size] = code_point(text, at);
    if (size == 0) { return 0; }
    if (point >= 0x80U && point < 0xA0U) {
        const auto kind = static_cast<char>(point - 0x40U);
        return long_sequences.find(kind) != std::string_view::npos ? sequence_of(text, at, kind) : 0;
    }
    return has_no_width(point) ? size : 0;
}

std::size_t one_escape(std::string_view text, std::size_t at, std::string& out) {
    switch (text[at]) {
        case '%':
            return percent(text, at, out);
        case '&':
            return html(text, at, out);
        case '\\':
            return backslash(text, at, out);
        case escape:
            return terminal_sequence(text, at);
        default:
            return unseen(text, at);
    }
}

constexpr std::array<bool, 256> begins_escape = [] {
    std::array<bool, 256> table{};
    for (const unsigned char c : {0x25, 0x26, 0x5C, 0x1B, 0xC2, 0xCD, 0xD8, 0xE1, 0xE2, 0xE3, 0xEF, 0xF0, 0xF3}) {
        table[c] = true;
    }
    return table;
}();

bool may_begin(char c) { return begins_escape[static_cast<unsigned char>(c)]; }

constexpr std::uint64_t every_byte = 0x0101010101010101ULL;
constexpr std::uint64_t high_bits = 0x8080808080808080ULL;

std::uint64_t eight_bytes(const char* at) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/// True if an escape may begin in these eight bytes. May return true for non-ASCII bytes.
bool any_may_begin(const char* at) {
    const std::uint64_t bytes = eight_bytes(at);
    std::uint64_t found = bytes;
    for (const unsigned char c : {'%', '&', '\\', escape}) {
        const std::uint64_t same = bytes ^ (every_byte * c);  // A zero byte causes a borrow.
        found |= (same - every_byte) & ~same;
    }
    return (found & high_bits) != 0;
}

/// The first escape between `at` and `end`. Its length is 0 if there is none.
struct Escape {
    std::size_t at = 0;
    std::size_t size = 0;
    std::string meaning;
};

Escape next_escape(std::string_view text, std::size_t at, std::size_t end) {
    Escape found;
    for (; at < end; ++at) {
        while (at + 8 <= end && !any_may_begin(text.data() + at)) { at += 8; }
        if (at == end || !may_begin(text[at])) { continue; }
        found.size = one_escape(text, at, found.meaning);
        if (found.size == 0) { continue; }
        found.at = at;
        return found;
    }
    return found;
}

TextView undone(std::string_view text, std::size_t begin, std::size_t end) {
    TextView view;
    for (std::size_t at = begin; at < end;) {
        const Escape escaped = next_escape(text, at, end);
        const std::size_t plain = escaped.size == 0 ? end : escaped.at;
        if (plain > at) { view.add(text.substr(at, plain - at), at); }
        at = plain + escaped.size;
        if (escaped.size > 0) { view.add(escaped.meaning, plain, at); }
    }
    return view;
}

bool may_separate(char c) { return std::string_view(" \t:;,_-=.|%").find(c) != std::string_view::npos; }

/// Returns the length of `0x` or `\x` at this place, if digits follow.
std::size_t prefix_at(std::string_view text, std::size_t at) {
    if (at + 2 >= text.size() || (text[at] != '0' && text[at] != '\\') || (text[at + 1] != 'x' && text[at + 1] != 'X')) {
        return 0;
    }
    return digit_of(text[at + 2]) == no_digit ? 0 : 2;
}

/// Characters after which no group begins: letters and digits, except the x of `0x` and `\\x`.
constexpr std::array<bool, 256> in_words = [] {
    std::array<bool, 256> table{};
    for (unsigned char c = 'a'; c <= 'z'; ++c) { table[c] = table[static_cast<std::size_t>(c - 'a' + 'A')] = c != 'x'; }
    for (unsigned char c = '0'; c <= '9'; ++c) { table[c] = true; }
    return table;
}();

bool is_group(std::size_t digits) { return digits % 2 == 0 && digits <= longest_group; }

std::size_t end_of_digits(std::string_view text, std::size_t at) {
    while (at < text.size() && digit_of(text[at]) != no_digit) { ++at; }
    return at;
}

/// Returns where the next group after `at` begins, or npos.
std::size_t next_group(std::string_view text, std::size_t at) {
    std::size_t begin = at;
    while (begin < text.size() && begin - at < most_between && may_separate(text[begin])) { ++begin; }
    begin += prefix_at(text, begin);
    return begin > at && begin < text.size() && digit_of(text[begin]) != no_digit ? begin : std::string_view::npos;
}

}  // namespace

void TextView::add(std::string_view plain, std::size_t begin) {
    const bool follows =
        !pieces_.empty() && pieces_.back().end + (text_.size() - pieces_.back().at - pieces_.back().size) == begin;
    if (!follows) { pieces_.push_back({text_.size(), 0, begin, begin}); }
    text_ += plain;
}

void TextView::add(std::string_view decoded, std::size_t begin, std::size_t end) {
    pieces_.push_back({text_.size(), decoded.size(), begin, end});
    text_ += decoded;
}

void TextView::map_through(const TextView& inner) {
    below_.push_back(inner.pieces_);
    below_.insert(below_.end(), inner.below_.begin(), inner.below_.end());
}

namespace {

/// Returns the last piece that begins at or before `place`.
template <class Pieces>
const auto& last_before(const Pieces& pieces, std::size_t place) {
    const auto after =
        std::upper_bound(pieces.begin(), pieces.end(), place, [](std::size_t at, const auto& piece) { return at < piece.at; });
    return *std::prev(after);
}

template <class Pieces>
std::size_t begin_in(const Pieces& pieces, std::size_t place) {
    const auto& piece = last_before(pieces, place);
    return place < piece.at + piece.size ? piece.begin : piece.end + (place - piece.at - piece.size);
}

template <class Pieces>
std::size_t end_in(const Pieces& pieces, std::size_t place) {
    const auto& piece = last_before(pieces, place - 1);
    return place <= piece.at + piece.size ? piece.end : piece.end + (place - piece.at - piece.size);
}

}  // namespace

std::size_t TextView::source_begin(std::size_t first) const {
    std::size_t place = begin_in(pieces_, first);
    for (const auto& pieces : below_) { place = begin_in(pieces, place); }
    return place;
}

std::size_t TextView::source_end(std::size_t last) const {
    std::size_t place = end_in(pieces_, last);
    for (const auto& pieces : below_) { place = end_in(pieces, place); }
    return place;
}

std::string ascii_lower_case(std::string_view text) {
    std::string made(text);
    std::size_t at = 0;
    for (; at + 8 <= made.size(); at += 8) {
        const std::uint64_t bytes = eight_bytes(made.data() + at);
        const std::uint64_t low = bytes & ~high_bits;
        const std::uint64_t from_a = low + every_byte * (0x80U - 'A');
        const std::uint64_t behind_z = low + every_byte * (0x7FU - 'Z');
        const std::uint64_t small = bytes | (((from_a ^ behind_z) & ~bytes & high_bits) >> 2U);
        std::memcpy(made.data() + at, &small, sizeof small);
    }
    for (; at < made.size(); ++at) {
        made[at] = static_cast<char>(made[at] | (static_cast<unsigned char>(made[at] - 'A') < 26U ? 0x20 : 0));
    }
    return made;
}

std::vector<TextView> without_escapes(std::string_view text, std::size_t reach) {
    std::vector<TextView> views;
    for (std::size_t at = 0; at < text.size();) {
        Escape escaped = next_escape(text, at, text.size());
        if (escaped.size == 0) { break; }
        const std::size_t begin = escaped.at - std::min(escaped.at, reach);
        std::size_t last = 0;
        while (escaped.size > 0) {  // Escapes closer together than the length of a value form one part.
            last = escaped.at + escaped.size;
            escaped = next_escape(text, last, std::min(text.size(), last + reach));
        }
        at = last;
        views.push_back(undone(text, begin, std::min(text.size(), last + reach)));
        const std::string& once = views.back().text();
        if (next_escape(once, 0, once.size()).size == 0) { continue; }
        TextView twice = undone(once, 0, once.size());
        twice.map_through(views.back());
        views.push_back(std::move(twice));
    }
    return views;
}

std::vector<TextView> grouped_hexadecimal(std::string_view text, std::size_t least) {
    std::vector<TextView> runs;
    bool in_word = false;
    for (std::size_t at = 0; at < text.size();) {
        if (digit_of(text[at]) == no_digit || in_word) {
            in_word = in_words[static_cast<unsigned char>(text[at])];
            ++at;
            continue;
        }
        const std::size_t first = at + prefix_at(text, at);
        const std::size_t end = end_of_digits(text, first);
        at = end;
        in_word = true;
        if (!is_group(end - first) || next_group(text, end) == std::string_view::npos) { continue; }
        TextView run;
        for (std::size_t begin = first; begin != std::string_view::npos; begin = next_group(text, at)) {
            at = end_of_digits(text, begin);
            if (!is_group(at - begin)) { break; }
            run.add(text.substr(begin, at - begin), begin);
        }
        if (run.text().size() >= least) { runs.push_back(std::move(run)); }
    }
    return runs;
}

namespace {

constexpr std::uint8_t no_value = 0xFF;
using Values = std::array<std::uint8_t, 256>;

constexpr Values values_of(std::string_view alphabet) {
    Values values{};
    values.fill(no_value);
    for (std::size_t at = 0; at < alphabet.size(); ++at) {
        values[static_cast<unsigned char>(alphabet[at])] = static_cast<std::uint8_t>(at);
    }
    return values;
}

constexpr Values of_base64 = [] {
    Values values = values_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    values['-'] = 62;
    values['_'] = 63;
    return values;
}();
constexpr Values of_base32_large = values_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
constexpr Values of_base32_small = values_of("abcdefghijklmnopqrstuvwxyz234567");
constexpr Values of_hexadecimal_small = values_of("0123456789abcdef");
constexpr Values of_hexadecimal_large = values_of("0123456789ABCDEF");

struct Encoding {
    const Values& values;
    unsigned bits;
};

/// From the fewest digits to the most.
constexpr std::array<Encoding, 5> encodings{
    {{of_hexadecimal_small, 4}, {of_hexadecimal_large, 4}, {of_base32_large, 5}, {of_base32_small, 5}, {of_base64, 6}}};

bool is_written_in(const Values& values, std::string_view run) {
    return std::ranges::all_of(run, [&](char c) { return values[static_cast<unsigned char>(c)] != no_value; });
}

std::string decoded(const Encoding& encoding, std::string_view run) {
    std::string bytes;
    std::uint32_t held = 0;
    unsigned bits = 0;
    for (const char c : run) {
        held = (held << encoding.bits) | encoding.values[static_cast<unsigned char>(c)];
        bits += encoding.bits;
        if (bits < 8) { continue; }
        bits -= 8;
        bytes += static_cast<char>((held >> bits) & 0xFFU);
    }
    return bytes;
}

/// Neighbouring characters may be taken as part of a run, and decode to a byte or two that are not text.
bool is_mostly_text(const std::string& bytes) {
    if (is_valid_utf8(bytes)) { return true; }
    constexpr std::string_view replacement = "\xEF\xBF\xBD";
    const std::string clean = sanitize_utf8(bytes);
    std::size_t faults = 0;
    for (std::size_t at = clean.find(replacement); at != std::string::npos;
         at = clean.find(replacement, at + replacement.size())) {
        ++faults;
    }
    return faults * 8 <= bytes.size();
}

std::size_t end_of_run(std::string_view text, std::size_t at) {
    while (at < text.size() && of_base64[static_cast<unsigned char>(text[at])] != no_value) { ++at; }
    return at;
}

}  // namespace

namespace {

/// Parts of lines, each one run of digits: begin and end.
using Lines = std::vector<std::pair<std::size_t, std::size_t>>;

std::size_t width_of(const Lines& lines, std::size_t line) { return lines[line].second - lines[line].first; }

void join(std::string_view text, const Lines& lines, std::size_t first, std::size_t last, TextView& view) {
    for (std::size_t i = first; i <= last; ++i) { view.add(text.substr(lines[i].first, width_of(lines, i)), lines[i].first); }
    view.add("\n", lines[last].second, lines[last].second);
}

/// Joins lines of one width and the shorter one that ends them, as programs break encoded text. Used if these are not all lines,
/// because the others would spoil the rest.
void join_of_one_width(std::string_view text, const Lines& lines, TextView& view) {
    for (std::size_t first = 0; first + 1 < lines.size();) {
        std::size_t last = first;
        while (last + 1 < lines.size() && width_of(lines, last + 1) == width_of(lines, first)) { ++last; }
        const std::size_t next = last + 1;
        if (next < lines.size() && width_of(lines, next) < width_of(lines, first)) { last = next; }
        if (last > first && (first > 0 || last + 1 < lines.size())) { join(text, lines, first, last, view); }
        first = next;
    }
}

}  // namespace

std::vector<TextView> joined_lines(std::string_view text) {
    constexpr std::size_t shortest = 4;  // Minimum length of a line's part that continues in the next line.
    constexpr auto is_digit = [](char c) { return c == '=' || of_base64[static_cast<unsigned char>(c)] != no_value; };
    TextView all;
    TextView of_one_width;
    std::size_t used = 0;
    for (std::size_t line_end = text.find('\n'); line_end < text.size();
         line_end = text.find('\n', std::max(used, line_end + 1))) {
        const std::size_t end = line_end > used && text[line_end - 1] == '\r' ? line_end - 1 : line_end;
        std::size_t begin = end;
        while (begin > used && is_digit(text[begin - 1])) { --begin; }
        Lines lines{{begin, end}};
        while (width_of(lines, lines.size() - 1) >= shortest && line_end < text.size() && text[line_end] == '\n') {
            std::size_t next = line_end + 1;
            while (next < text.size() && (text[next] == ' ' || text[next] == '\t')) { ++next; }
            std::size_t next_end = next;
            while (next_end < text.size() && is_digit(text[next_end])) { ++next_end; }
            if (next_end == next) { break; }
            lines.emplace_back(next, next_end);
            used = next_end;
            line_end = next_end < text.size() && text[next_end] == '\r' ? next_end + 1 : next_end;
        }
        if (lines.size() == 1) { continue; }
        join(text, lines, 0, lines.size() - 1, all);
        join_of_one_width(text, lines, of_one_width);
    }
    std::vector<TextView> views;
    for (TextView* view : {&all, &of_one_width}) {
        if (!view->text().empty()) { views.push_back(std::move(*view)); }
    }
    return views;
}

std::vector<TextView> decoded_runs(std::string_view text, std::size_t least) {
    std::vector<TextView> views;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = end_of_run(text, at);
        const std::string_view run = text.substr(at, end - at);
        const std::size_t begin = at;
        at = end + 1;
        if (run.size() < least) { continue; }
        const auto encoding =
            std::ranges::find_if(encodings, [&](const Encoding& one) { return is_written_in(one.values, run); });
        const std::string meaning = decoded(*encoding, run);
        if (!is_mostly_text(meaning)) { continue; }
        views.emplace_back().add(meaning, begin, end);
    }
    return views;
}

}  // namespace agentforge::kernel
