// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

namespace agentforge::kernel {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

struct Character {
    char32_t code = 0;
    unsigned length = 0;  ///< Bytes consumed. If `valid` is false, those of the maximal invalid sequence.
    bool valid = false;
};

/// Decodes the first character of `text`, which is not empty (Unicode 15, table 3-7).
Character decode(std::string_view text) noexcept {
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = at(0);
    if (first < 0x80) { return {first, 1, true}; }
    unsigned count = 0;
    unsigned low = 0x80;
    unsigned high = 0xBF;
    char32_t code = 0;
    if (first >= 0xC2 && first <= 0xDF) {
        count = 1;
        code = first & 0x1FU;
    } else if (first >= 0xE0 && first <= 0xEF) {
        count = 2;
        code = first & 0x0FU;
        if (first == 0xE0) { low = 0xA0; }
        if (first == 0xED) { high = 0x9F; }
    } else if (first >= 0xF0 && first <= 0xF4) {
        count = 3;
        code = first & 0x07U;
        if (first == 0xF0) { low = 0x90; }
        if (first == 0xF4) { high = 0x8F; }
    } else {
        return {0xFFFD, 1, false};
    }
    for (unsigned i = 1; i <= count; ++i) {
        if (i >= text.size() || at(i) < low || at(i) > high) { return {0xFFFD, i, false}; }
        code = (code << 6U) | (at(i) & 0x3FU);
        low = 0x80;
        high = 0xBF;
    }
    return {code, count + 1, true};
}

/// Characters that some JSON or YAML reader treats as a line end, a byte order mark or an error.
bool must_escape(char32_t code) noexcept {
    return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x2028 || code == 0x2029 || code == 0xFEFF ||
           code == 0xFFFE || code == 0xFFFF;
}

/// Characters that change the display order of the text after them: bidirectional marks, embeddings, overrides and isolates, and
/// their deprecated forms.
bool turns_round(char32_t code) noexcept {
    return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x206F);
}

/// Appends `\u202e` or `\x1b`: a letter and this many digits.
void append_escape(std::string& out, char letter, int digits, char32_t code) {
    constexpr char hexadecimal[] = "0123456789abcdef";
    out += '\\';
    out += letter;
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
        out += hexadecimal[(code >> static_cast<unsigned>(shift)) & 15U];
    }
}

/// `shown`: for display, not for a hash.
void append_string(std::string& out, std::string_view text, bool shown) {
    out += '"';
    std::size_t plain = 0;  // Start of the part not copied yet.
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\') {
            ++i;
            continue;
        }
        const Character character = decode(text.substr(i));
        const bool acts = shown ? acts_when_shown(character.code) : must_escape(character.code);
        if (character.valid && byte >= 0x80 && !acts) {
            i += character.length;
            continue;
        }
        out.append(text, plain, i - plain);
        if (!character.valid) {
            out += replacement;
        } else {
            switch (character.code) {
                case '"':
                    out += "\\\"";
                    break;
                case '\\':
                    out += "\\\\";
                    break;
                case '\n':
                    out += "\\n";
                    break;
                case '\r':
                    out += "\\r";
                    break;
                case '\t':
                    out += "\\t";
                    break;
                default:
                    append_escape(out, 'u', 4, character.code);
            }
        }
        i += character.length;
        plain = i;
    }
    out.append(text, plain);
    out += '"';
}

void append_double(std::string& out, double number) {
    if (!std::isfinite(number)) {
        out += "null";
        return;
    }
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    std::string text(digits, end);
    // YAML 1.1 reads a number as a float only if it has a dot, and an exponent only if it has a sign (to_chars writes it).
    if (const auto exponent = text.find('e'); text.find('.') == std::string::npos) {
        text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
    }
    out += text;
}

struct Style {
    std::string_view item;
    std::string_view key;
    bool sorted = false;
    bool pretty = false;
};

void append_break(std::string& out, unsigned depth) {
    out += '\n';
    out.append(std::size_t{depth} * 2, ' ');
}

void separate(std::string& out, const Style& style, unsigned depth, bool first) {
    if (!first) { out += style.pretty ? "," : style.item; }
    if (style.pretty) { append_break(out, depth + 1); }
}

void append_object(std::string& out, const json::object& object, const Style& style, unsigned depth);

void append_value(std::string& out, const json::value& value, const Style& style, unsigned depth) {
    switch (value.kind()) {
        case json::kind::null:
            out += "null";
            break;
        case json::kind::bool_:
            out += value.get_bool() ? "true" : "false";
            break;
        case json::kind::int64:
            out += std::to_string(value.get_int64());
            break;
        case json::kind::uint64:
            out += std::to_string(value.get_uint64());
            break;
        case json::kind::double_:
            append_double(out, value.get_double());
            break;
        case json::kind::string:
            append_string(out, value.get_string(), !style.sorted);
            break;
        case json::kind::array: {
            const auto& array = value.get_array();
            out += '[';
            bool first = true;
            for (const auto& item : array) {
                separate(out, style, depth, first);
                append_value(out, item, style, depth + 1);
                first = false;
            }
            if (style.pretty && !first) { append_break(out, depth); }
            out += ']';
            break;
        }
        case json::kind::object:
            append_object(out, value.get_object(), style, depth);
            break;
    }
}

void append_object(std::string& out, const json::object& object, const Style& style, unsigned depth) {
    out += '{';
    bool first = true;
    const auto member = [&](const json::key_value_pair& entry) {
        separate(out, style, depth, first);
        append_string(out, entry.key(), !style.sorted);
        out += style.key;
        append_value(out, entry.value(), style, depth + 1);
        first = false;
    };
    if (style.sorted) {
        std::vector<const json::key_value_pair*> entries;
        entries.reserve(object.size());
        for (const auto& entry : object) { entries.push_back(&entry); }
        std::sort(entries.begin(), entries.end(),
                  [](const auto* a, const auto* b) { return std::string_view(a->key()) < std::string_view(b->key()); });
        for (const auto* entry : entries) { member(*entry); }
    } else {
        for (const auto& entry : object) { member(entry); }
    }
    if (style.pretty && !first) { append_break(out, depth); }
    out += '}';
}

/// Returns the longest prefix of at most `bytes` bytes that ends between characters.
std::string_view prefix_of(std::string_view text, std::size_t bytes) noexcept {
    if (bytes >= text.size()) { return text; }
    std::size_t end = bytes;
    for (int back = 0; back < 3 && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U; ++back) { --end; }
    return text.substr(0, end);
}

std::string_view suffix_of(std::string_view text, std::size_t bytes) noexcept {
    if (bytes >= text.size()) { return text; }
    std::size_t start = text.size() - bytes;
    for (int on = 0; on < 3 && start < text.size() && (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80U; ++on) {
        ++start;
    }
    return text.substr(start);
}

}  // namespace

bool is_valid_utf8(std::string_view bytes) noexcept {
    for (std::size_t i = 0; i < bytes.size();) {
        if (static_cast<unsigned char>(bytes[i]) < 0x80) {
            ++i;
            continue;
        }
        const Character character = decode(bytes.substr(i));
        if (!character.valid) { return false; }
        i += character.length;
    }
    return true;
}

bool acts_when_shown(char32_t code) noexcept { return must_escape(code) || turns_round(code); }

std::string shown_text(std::string_view bytes, bool one_line) {
    std::string shown;
    while (!bytes.empty()) {
        const Character character = decode(bytes);
        const bool breaks = character.code == '\n' || character.code == '\t';
        if (!character.valid) {
            shown += replacement;
        } else if (breaks) {
            shown += one_line ? ' ' : bytes.front();
        } else if (character.code < 0x80 && acts_when_shown(character.code)) {
            append_escape(shown, 'x', 2, character.code);
        } else if (acts_when_shown(character.code)) {
            append_escape(shown, 'u', 4, character.code);
        } else {
            shown += bytes.substr(0, character.length);
        }
        bytes.remove_prefix(character.length);
    }
    return shown;
}

std::string sanitize_utf8(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const Character character = decode(bytes);
        if (character.valid) {
            text.append(bytes, 0, character.length);
        } else {
            text += replacement;
        }
        bytes.remove_prefix(character.length);
    }
    return text;
}

std::string head_and_tail(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) { return std::string(text); }
    const auto note = [&](std::size_t left_out) { return "\n… " + std::to_string(left_out) + " bytes left out …\n"; };
    const std::size_t longest_note = note(text.size()).size();
    if (max_bytes <= longest_note) { return std::string(prefix_of(text, max_bytes)); }
    const std::size_t room = max_bytes - longest_note;
    const std::string_view head = prefix_of(text, room - room / 2);
    const std::string_view tail = suffix_of(text, room / 2);
    return std::string(head) + note(text.size() - head.size() - tail.size()) + std::string(tail);
}

std::string_view article_for(std::string_view word) {
    return !word.empty() && std::string_view("aeiouAEIOU").find(word.front()) != std::string_view::npos ? "an" : "a";
}

std::string ellipsis(std::string_view text, std::size_t max_bytes) {
    constexpr std::string_view mark = "…";
    if (text.size() <= max_bytes) { return std::string(text); }
    if (max_bytes < mark.size()) { return {}; }
    return std::string(prefix_of(text, max_bytes - mark.size())) + std::string(mark);
}

std::string lower_case(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return result;
}

std::string upper_case(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return result;
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find_first_of("\r\n"))); }

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
    constexpr std::size_t longest = 200;  // The cost of the distance is quadratic in the length.
    if (word.size() > longest) { return {}; }
    std::string best;
    std::size_t best_distance =
        (word.size() + 1) / 3 +
        1;  // Allows one typing error in four letters, two in five to seven. With more, it is another word.
    std::vector<std::size_t> earlier(word.size() + 1);
    std::vector<std::size_t> before(word.size() + 1);
    std::vector<std::size_t> current(word.size() + 1);
    for (const auto& candidate : candidates) {
        if (candidate.size() > longest) { continue; }
        for (std::size_t i = 0; i <= word.size(); ++i) { before[i] = i; }
        for (std::size_t j = 1; j <= candidate.size(); ++j) {
            current[0] = j;
            for (std::size_t i = 1; i <= word.size(); ++i) {
                current[i] =
                    std::min({before[i] + 1, current[i - 1] + 1, before[i - 1] + (word[i - 1] == candidate[j - 1] ? 0U : 1U)});
                // Two swapped letters are one typing error.
                if (i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1]) {
                    current[i] = std::min(current[i], earlier[i - 2] + 1);
                }
            }
            std::swap(earlier, before);
            std::swap(before, current);
        }
        if (before[word.size()] < best_distance) {
            best_distance = before[word.size()];
            best = candidate;
        }
    }
    return best;
}

constexpr Style line_style{", ", ": ", false, false};
constexpr Style pretty_style{", ", ": ", false, true};

void append_json_line(std::string& text, const json::value& value) { append_value(text, value, line_style, 0); }
void append_json_line(std::string& text, const json::object& value) { append_object(text, value, line_style, 0); }

std::string to_json_line(const json::value& value) {
    std::string out;
    append_json_line(out, value);
    return out;
}

std::string to_json_pretty(const json::value& value) {
    std::string out;
    append_value(out, value, pretty_style, 0);
    return out + '\n';
}

std::string to_json_pretty(const json::object& value) {
    std::string out;
    append_object(out, value, pretty_style, 0);
    return out + '\n';
}

std::string to_json_canonical(const json::value& value) {
    std::string out;
    append_value(out, value, Style{",", ":", true, false}, 0);
    return out;
}

}  // namespace agentforge::kernel
