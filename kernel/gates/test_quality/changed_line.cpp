// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/changed_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <set>
#include <utility>

namespace agentforge::kernel {
namespace {

constexpr std::size_t most_tokens = 1000;

/// A name, a number, a text or an operator, by its place in a line.
struct Token {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string_view text;
};

bool is_name_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t end_of_text(std::string_view line, std::size_t begin) {
    for (auto at = begin + 1; at < line.size(); ++at) {
        if (line[at] == '\\') {
            ++at;
        } else if (line[at] == line[begin]) {
            return at + 1;
        }
    }
    return begin + 1;
}

std::size_t end_of_token(std::string_view line, std::size_t begin) {
    static constexpr std::array<std::string_view, 27> operators{
        "===", "!==", "**=", "//=", "<<=", ">>=", "&&=", "||=", "...", "==", "!=", "<=", ">=", "&&",
        "||",  "+=",  "-=",  "*=",  "/=",  "%=",  ":=",  "->",  "=>",  "::", "<<", ">>", "**"};
    const char first = line[begin];
    if (is_name_byte(first)) {
        const bool number = std::isdigit(static_cast<unsigned char>(first)) != 0;
        auto at = begin;
        while (at < line.size() && (is_name_byte(line[at]) || (number && line[at] == '.' && at + 1 < line.size() &&
                                                               std::isdigit(static_cast<unsigned char>(line[at + 1])) != 0))) {
            ++at;
        }
        return at;
    }
    if (first == '"' || first == '\'' || first == '`') { return end_of_text(line, begin); }
    for (const auto each : operators) {
        if (line.substr(begin).starts_with(each)) { return begin + each.size(); }
    }
    return begin + 1;
}

std::vector<Token> tokens_of(std::string_view line) {
    std::vector<Token> tokens;
    for (std::size_t at = 0; at < line.size();) {
        if (std::isspace(static_cast<unsigned char>(line[at])) != 0) {
            ++at;
            continue;
        }
        const auto end = end_of_token(line, at);
        tokens.push_back({at, end, line.substr(at, end - at)});
        at = end;
    }
    return tokens;
}

/// Indexes of equal tokens, in order.
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Returns a longest common subsequence. Of several, the one whose tokens stand first in `one`.
Pairs common_tokens(const std::vector<std::string_view>& one, const std::vector<std::string_view>& other) {
    Pairs pairs;
    if (one.size() > most_tokens || other.size() > most_tokens) { return pairs; }
    const auto columns = other.size() + 1;
    std::vector<std::uint32_t> length((one.size() + 1) * columns);
    const auto at = [&](std::size_t row, std::size_t column) -> std::uint32_t& { return length[row * columns + column]; };
    for (auto row = one.size(); row-- > 0;) {
        for (auto column = other.size(); column-- > 0;) {
            at(row, column) =
                one[row] == other[column] ? at(row + 1, column + 1) + 1 : std::max(at(row + 1, column), at(row, column + 1));
        }
    }
    for (std::size_t row = 0, column = 0; row < one.size() && column < other.size();) {
        if (one[row] == other[column]) {
            pairs.emplace_back(row++, column++);
        } else if (at(row, column + 1) > at(row + 1, column)) {
            ++column;
        } else {
            ++row;
        }
    }
    return pairs;
}

std::vector<std::string_view> texts_of(const std::vector<Token>& tokens, bool backwards) {
    std::vector<std::string_view> texts;
    for (const auto& token : tokens) { texts.push_back(token.text); }
    if (backwards) { std::ranges::reverse(texts); }
    return texts;
}

/// Tokens that differ: from `before` to `before_end`, and from `now` to `now_end`.
struct Range {
    std::size_t before = 0;
    std::size_t before_end = 0;
    std::size_t now = 0;
    std::size_t now_end = 0;
};

bool is_balanced(const std::vector<Token>& tokens, std::size_t begin, std::size_t end) {
    int open = 0;
    for (auto at = begin; at < end; ++at) {
        const auto text = tokens[at].text;
        if (text == "(" || text == "[" || text == "{") { ++open; }
        if (text == ")" || text == "]" || text == "}") { --open; }
        if (open < 0) { return false; }
    }
    return open == 0;
}

/// Two versions of a line.
class ChangedLine {
public:
    ChangedLine(std::string_view before, std::string_view now)
        : before_text_(before), now_text_(now), before_(tokens_of(before)), now_(tokens_of(now)) {}

    [[nodiscard]] std::vector<LineDifference> differences() const {
        const auto first = ranges(common_tokens(texts_of(before_, false), texts_of(now_, false)));
        auto reversed = common_tokens(texts_of(before_, true), texts_of(now_, true));
        std::ranges::reverse(reversed);
        for (auto& [one, other] : reversed) {
            one = before_.size() - 1 - one;
            other = now_.size() - 1 - other;
        }
        const auto last = ranges(reversed);
        const auto cost = [&](const std::vector<Range>& all) {
            const auto open = std::ranges::count_if(all, [&](const Range& each) { return !is_whole(each); });
            return std::pair(static_cast<std::size_t>(open), all.size());
        };
        auto chosen = cost(last) < cost(first) ? last : first;
        if (cost(chosen).first > 0) { chosen = {{0, before_.size(), 0, now_.size()}}; }
        std::vector<LineDifference> found;
        for (const auto& range : chosen) {
            for (const auto& part : arguments(range)) { found.push_back(difference(part)); }
        }
        return found;
    }

    [[nodiscard]] double similarity() const {
        constexpr std::size_t several = 4;
        const auto [shorter, longer] = std::minmax({before_.size(), now_.size()});
        const auto common = common_tokens(texts_of(before_, false), texts_of(now_, false)).size();
        if (longer == 0 || (common == shorter && shorter >= several)) { return 1; }
        return static_cast<double>(common) / static_cast<double>(longer);
    }

private:
    [[nodiscard]] bool is_whole(const Range& range) const {
        return is_balanced(before_, range.before, range.before_end) && is_balanced(now_, range.now, range.now_end);
    }

    [[nodiscard]] std::vector<Range> ranges(Pairs pairs) const {
        pairs.emplace_back(before_.size(), now_.size());
        std::vector<Range> found;
        Range range;
        for (const auto& [one, other] : pairs) {
            range.before_end = one;
            range.now_end = other;
            if (range.before < one || range.now < other) { found.push_back(range); }
            range = {one + 1, one + 1, other + 1, other + 1};
        }
        return found;
    }

    /// Splits what was only removed at its commas.
    [[nodiscard]] std::vector<Range> arguments(const Range& range) const {
        if (range.now < range.now_end || range.before_end - range.before < 2) { return {range}; }
        const bool leads = before_[range.before].text == ",";
        if (!leads && before_[range.before_end - 1].text != ",") { return {range}; }
        std::vector<Range> parts{range};
        for (auto at = range.before + 1; at + 1 < range.before_end; ++at) {
            if (before_[at].text != "," || !is_balanced(before_, range.before, at)) { continue; }
            const auto place = leads ? at : at + 1;
            parts.back().before_end = place;
            parts.push_back({place, range.before_end, range.now, range.now_end});
        }
        return parts;
    }

    [[nodiscard]] LineDifference difference(const Range& range) const {
        const auto part = [](std::string_view text, const std::vector<Token>& tokens, std::size_t begin, std::size_t end) {
            const auto from = begin == 0 ? 0 : tokens[begin - 1].end;
            const auto until = end == begin ? from : tokens[end - 1].end;
            return std::pair(from, text.substr(from, until - from));
        };
        const auto [ignored, was] = part(before_text_, before_, range.before, range.before_end);
        const auto [place, is] = part(now_text_, now_, range.now, range.now_end);
        LineDifference result{std::string(was), std::string(is), std::string(now_text_.substr(0, place)), false};
        result.reverted += std::string(was) + std::string(now_text_.substr(place + is.size()));
        result.values = has_only_values(before_, range.before, range.before_end) &&
                        has_only_values(now_, range.now, range.now_end) && !is_punctuation(range);
        return result;
    }

    static bool has_only_values(const std::vector<Token>& tokens, std::size_t begin, std::size_t end) {
        static const std::set<std::string_view> words{"true", "false", "True",     "False", "None",     "nil",
                                                      "null", "NULL",  "nullptr",  "and",   "or",       "not",
                                                      "is",   "in",    "continue", "break", "undefined"};
        return std::all_of(
            tokens.begin() + static_cast<std::ptrdiff_t>(begin), tokens.begin() + static_cast<std::ptrdiff_t>(end),
            [&](const Token& token) {
                const char c = token.text.front();
                return (!is_name_byte(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || words.contains(token.text));
            });
    }

    [[nodiscard]] bool is_punctuation(const Range& range) const {
        const auto is_mark = [](const Token& token) {
            return token.text.size() == 1 && std::string_view(",;:(){}[]").find(token.text) != std::string_view::npos;
        };
        const auto at = [](const std::vector<Token>& tokens, std::size_t index) {
            return tokens.begin() + static_cast<std::ptrdiff_t>(index);
        };
        return std::all_of(at(before_, range.before), at(before_, range.before_end), is_mark) &&
               std::all_of(at(now_, range.now), at(now_, range.now_end), is_mark);
    }

    std::string_view before_text_;
    std::string_view now_text_;
    std::vector<Token> before_;
    std::vector<Token> now_;
};

}  // namespace

std::vector<LineDifference> line_differences(std::string_view before, std::string_view now) {
    return ChangedLine(before, now).differences();
}

double line_similarity(std::string_view before, std::string_view now) { return ChangedLine(before, now).similarity(); }

}  // namespace agentforge::kernel
