// SPDX-License-Identifier: Apache-2.0
#include "gates/language/inline_tests.hpp"

#include <algorithm>

#include <re2/re2.h>

namespace agentforge::kernel {
namespace {

/// Reads Rust's tokens as far as finding braces requires.
class BraceReader {
public:
    explicit BraceReader(std::string_view text) : text_(text) {}
    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] bool done() const { return at_ >= text_.size(); }

    /// Returns the next character of code, skipping strings and comments. 0 at the end.
    char next() {
        while (!done()) {
            const auto rest = text_.substr(at_);
            if (rest.starts_with("//")) {
                skip_to("\n", 0);
            } else if (rest.starts_with("/*")) {
                skip_comment();
            } else if (rest.front() == '"') {
                ++at_;
                skip_string();
            } else if (is_raw(rest)) {
                skip_raw_string();
            } else if (is_character(rest)) {
                at_ += rest[1] == '\\' ? 3 : 2;  // The quote, and one character or the first of an escape.
                skip_to("'", 1);
            } else {
                return text_[at_++];
            }
        }
        return 0;
    }

private:
    void skip_to(std::string_view mark, std::size_t beyond) {
        const auto end = text_.find(mark, at_);
        at_ = end == std::string_view::npos ? text_.size() : end + beyond;
    }
    void skip_comment() {
        std::size_t depth = 0;
        while (!done()) {
            if (text_.substr(at_).starts_with("/*")) {
                ++depth;
                at_ += 2;
                continue;
            }
            if (text_.substr(at_).starts_with("*/")) {
                at_ += 2;
                if (--depth == 0) { return; }
                continue;
            }
            ++at_;
        }
    }
    void skip_string() {
        while (!done()) {
            if (text_[at_] == '\\') {
                at_ += 2;
                continue;
            }
            if (text_[at_++] == '"') { return; }
        }
        at_ = text_.size();
    }
    [[nodiscard]] bool is_raw(std::string_view rest) const {
        if (rest.front() != 'r' ||
            (at_ > 0 && (std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0 || text_[at_ - 1] == '_') &&
             text_[at_ - 1] != 'b')) {
            return false;
        }
        const auto quote = rest.find_first_not_of('#', 1);
        return quote != std::string_view::npos && rest[quote] == '"';
    }
    void skip_raw_string() {
        const auto quote = text_.find('"', at_);
        const auto end = "\"" + std::string(quote - at_ - 1, '#');
        at_ = quote + 1;
        skip_to(end, end.size());
    }
    /// `'{'`, `'\''`, `'é'`; not a lifetime (`'a`).
    static bool is_character(std::string_view rest) {
        if (rest.front() != '\'' || rest.size() < 3) { return false; }
        if (rest[1] == '\\') { return true; }
        std::size_t length = 1;
        while (1 + length < rest.size() && (static_cast<unsigned char>(rest[1 + length]) & 0xC0U) == 0x80U) { ++length; }
        return 1 + length < rest.size() && rest[1 + length] == '\'';
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

/// Returns one past the end of the item that begins at the start of `text`.
std::size_t item_end(std::string_view text) {
    BraceReader reader(text);
    std::size_t depth = 0;
    std::size_t brackets = 0;
    while (const char c = reader.next()) {
        if (c == '[' || c == '(') { ++brackets; }
        if ((c == ']' || c == ')') && brackets > 0) { --brackets; }
        if (c == ';' && depth == 0 && brackets == 0) { return reader.at(); }
        if (c == '{') { ++depth; }
        if (c == '}' && (depth == 0 || --depth == 0)) { return reader.at(); }
    }
    return text.size();
}

void append_line(std::string& part, std::string_view line) {
    while (line.ends_with('\r') || line.ends_with('\n')) { line.remove_suffix(1); }
    if (line.find_first_not_of(" \t") == std::string_view::npos) { return; }
    part.append(line).push_back('\n');
}

}  // namespace

InlineTestsSplit split_inline_tests(std::string_view text, const std::string& begins) {
    InlineTestsSplit split;
    const RE2 expression(begins, RE2::Quiet);
    // Marks where code is: a line that begins inside a string or comment begins no item.
    BraceReader reader(text);
    std::size_t at = 0;
    while (at < text.size()) {
        while (reader.at() < at && reader.next() != 0) {}
        const auto newline = text.find('\n', at);
        const auto next = newline == std::string_view::npos ? text.size() : newline + 1;
        const auto line = text.substr(at, next - at);
        const auto content = line.find_first_not_of(" \t");
        const bool is_code = reader.at() <= at + (content == std::string_view::npos ? 0 : content);
        if (is_code && RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), expression)) {
            const auto end = at + item_end(text.substr(at));
            std::string_view item = text.substr(at, end - at);
            while (!item.empty()) {
                const auto cut = item.find('\n');
                append_line(split.tests, item.substr(0, cut));
                item.remove_prefix(cut == std::string_view::npos ? item.size() : cut + 1);
            }
            split.lines.append(static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                                   text.begin() + static_cast<std::ptrdiff_t>(end), '\n')),
                               '\n');
            at = end;
            if (at < text.size() && text[at] == '\n') {
                ++at;
                split.lines.push_back('\n');
            }
            continue;
        }
        append_line(split.code, line);
        split.lines.append(line);
        at = next;
    }
    return split;
}

}  // namespace agentforge::kernel
