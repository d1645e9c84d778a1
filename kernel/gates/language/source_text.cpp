// SPDX-License-Identifier: Apache-2.0
#include "gates/language/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <re2/re2.h>

namespace agentforge::kernel {
namespace {

constexpr std::size_t deepest_block = 200;

bool is_word_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_blank_byte(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::uint64_t line_at(const std::vector<std::size_t>& starts, std::size_t at) {
    return static_cast<std::uint64_t>(std::upper_bound(starts.begin(), starts.end(), at) - starts.begin());
}

std::vector<std::size_t> line_starts(std::string_view text) {
    std::vector<std::size_t> starts{0};
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\n') { starts.push_back(at + 1); }
    }
    return starts;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

/// Reads one text from its first byte to its last.
class CodeReader {
public:
    CodeReader(std::string_view text, const CodeRules& rules) : text_(text), rules_(rules), starts_(line_starts(text)) {
        result_.code = std::string(text);
    }

    CodeText read() {
        while (at_ < text_.size()) {
            if (!directive() && !comment() && !quoted() && !number()) { ++at_; }
        }
        return std::move(result_);
    }

private:
    [[nodiscard]] bool here(std::string_view word) const { return !word.empty() && text_.compare(at_, word.size(), word) == 0; }

    void blank(std::size_t from, std::size_t to) {
        for (std::size_t at = from; at < std::min(to, text_.size()); ++at) {
            if (text_[at] != '\n') { result_.code[at] = ' '; }
        }
    }

    [[nodiscard]] std::size_t end_of_line(std::size_t from) const {
        const auto end = text_.find('\n', from);
        return end == std::string_view::npos ? text_.size() : end;
    }

    /// Skips a directive with its continuation lines; after `#else` skips up to `#endif`, because only one branch has matching
    /// braces.
    bool directive() {
        if (!rules_.preprocessor || text_[at_] != '#') { return false; }
        for (auto before = at_; before > 0 && text_[before - 1] != '\n'; --before) {
            if (!is_blank_byte(text_[before - 1])) { return false; }
        }
        auto end = end_of_line(at_);
        while (end < text_.size() && end > 0 && text_[end - 1] == '\\') { end = end_of_line(end + 1); }
        static const RE2 other(R"(^#\s*(?:else|elif))");
        if (RE2::PartialMatch(piece(text_.substr(at_, end - at_)), other)) {
            int open = 1;
            while (end < text_.size() && open > 0) {
                const auto next = end_of_line(end + 1);
                static const RE2 opens(R"(^\s*#\s*if)");
                static const RE2 closes(R"(^\s*#\s*endif)");
                const auto line = text_.substr(end + 1, next - end - 1);
                if (RE2::PartialMatch(piece(line), opens)) { ++open; }
                if (RE2::PartialMatch(piece(line), closes)) { --open; }
                end = next;
            }
        }
        blank(at_, end);
        at_ = end;
        return true;
    }

    bool comment() {
        for (const auto& mark : rules_.line_comments) {
            if (!here(mark)) { continue; }
            const auto end = end_of_line(at_);
            blank(at_, end);
            at_ = end;
            return true;
        }
        if (!here(rules_.comment_begins)) { return false; }
        const auto begin = at_;
        int open = 1;
        at_ += rules_.comment_begins.size();
        while (at_ < text_.size() && open > 0) {
            if (here(rules_.comment_ends)) {
                --open;
                at_ += rules_.comment_ends.size();
            } else if (rules_.comments_nest && here(rules_.comment_begins)) {
                ++open;
                at_ += rules_.comment_begins.size();
            } else {
                ++at_;
            }
        }
        blank(begin, at_);
        return true;
    }

    bool quoted() {
        for (const auto& quote : rules_.quotes) {
            if (!here(quote.begins)) { continue; }
            // `1'000`, and a name that ends in the letter of a prefix: no text begins there.
            if (at_ > 0 && is_word_byte(text_[at_ - 1]) && (quote.character || is_word_byte(quote.begins.front()))) { continue; }
            const auto begin = at_;
            auto at = at_ + quote.begins.size();
            bool closed = false;
            while (at < text_.size()) {
                if (text_.compare(at, quote.ends.size(), quote.ends) == 0) {
                    closed = true;
                    break;
                }
                if (text_[at] == '\n' && !quote.lines) { break; }
                at += quote.escapes && text_[at] == '\\' ? 2 : 1;
            }
            const auto inside = begin + quote.begins.size();
            if (quote.character) {
                // One character, of up to four bytes, or an escape.
                const bool one = closed && at > inside && (text_[inside] == '\\' ? at - inside <= 12 : at - inside <= 4);
                if (!one) { continue; }
            }
            const auto end = std::min(text_.size(), closed ? at + quote.ends.size() : at);
            const auto length = std::min(at, text_.size()) - inside;
            result_.literals.push_back({begin, end, line_at(starts_, begin), std::string(text_.substr(begin, end - begin)),
                                        !quote.character && length > 1});
            blank(inside, std::min(at, text_.size()));
            at_ = end;
            return true;
        }
        return false;
    }

    bool number() {
        if (std::isdigit(static_cast<unsigned char>(text_[at_])) == 0) { return false; }
        const auto begin = at_;
        if (begin > 0 && (is_word_byte(text_[begin - 1]))) {
            while (at_ < text_.size() && is_word_byte(text_[at_])) { ++at_; }
            return true;
        }
        while (at_ < text_.size() &&
               (is_word_byte(text_[at_]) ||
                (text_[at_] == '.' && at_ + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0) ||
                (text_[at_] == '\'' && at_ + 1 < text_.size() && is_word_byte(text_[at_ + 1])))) {
            ++at_;
        }
        auto value = std::string(text_.substr(begin, at_ - begin));
        std::erase_if(value, [](char c) { return c == '_' || c == '\''; });
        const bool informative = std::abs(std::strtod(value.c_str(), nullptr)) > 2;
        result_.literals.push_back({begin, at_, line_at(starts_, begin), std::move(value), informative});
        return true;
    }

    std::string_view text_;
    const CodeRules& rules_;
    std::vector<std::size_t> starts_;
    std::size_t at_ = 0;
    CodeText result_;
};

/// Finds the functions of one text, including those in other blocks (classes, functions).
class FunctionFinder {
public:
    FunctionFinder(const CodeText& text, const CodeRules& rules)
        : code_(text.code),
          starts_(line_starts(code_)),
          begins_(rules.function, RE2::Quiet),
          not_(rules.no_function, RE2::Quiet),
          excludes_(!rules.no_function.empty()),
          decision_(rules.decision, RE2::Quiet),
          decides_(!rules.decision.empty()) {}

    std::vector<CodeFunction> find() {
        scan(0, code_.size(), 0);
        std::sort(found_.begin(), found_.end(),
                  [](const auto& left, const auto& right) { return left.first_line < right.first_line; });
        return std::move(found_);
    }

private:
    [[nodiscard]] std::size_t matching(std::size_t open, char opens, char closes) const {
        std::size_t depth = 0;
        for (auto at = open; at < code_.size(); ++at) {
            if (code_[at] == opens) { ++depth; }
            if (code_[at] == closes && --depth == 0) { return at; }
        }
        return std::string::npos;
    }

    [[nodiscard]] std::int64_t decisions(std::size_t from, std::size_t to) const {
        if (!decides_) { return 0; }
        std::int64_t count = 0;
        re2::StringPiece rest(code_.data() + from, to - from);
        while (RE2::FindAndConsume(&rest, decision_)) { ++count; }
        return count;
    }

    /// Returns the number of decisions in the block itself, without those of the functions in it.
    std::int64_t scan(std::size_t from, std::size_t to, std::size_t depth) {
        std::int64_t taken = 0;
        auto start = from;
        for (auto at = from; at < to; ++at) {
            const char c = code_[at];
            if (c == ';' || c == '}') { start = at + 1; }
            if (c == '(') {
                const auto close = matching(at, '(', ')');
                if (close == std::string::npos || close >= to) { return taken; }
                // Arguments may contain functions (callbacks, anonymous classes), which are found below. A parameter list
                // contains none.
                if (std::string_view(code_).substr(at, close - at).find('{') != std::string_view::npos && depth < deepest_block) {
                    taken += scan(at + 1, close, depth + 1);
                }
                at = close;
                continue;
            }
            if (c != '{') { continue; }
            const auto close = matching(at, '{', '}');
            if (close == std::string::npos || close > to || depth >= deepest_block) { return taken; }
            auto next = close + 1;
            while (next < to && is_blank_byte(code_[next])) { ++next; }
            if (next < to && (code_[next] == '{' ||
                              code_[next] == ',')) {  // `: member{1}, other{2} {`, `interface{} {`: still before the body.
                at = close;
                continue;
            }
            const std::string_view header(code_.data() + start, at - start);
            std::string name;
            if (RE2::PartialMatch(piece(header), begins_, &name) && (!excludes_ || !RE2::PartialMatch(piece(header), not_))) {
                const auto inner = scan(at + 1, close, depth + 1);
                const auto all = decisions(at + 1, close);
                auto first = start;
                while (first < at && is_blank_byte(code_[first])) { ++first; }
                found_.push_back(
                    {std::move(name), line_at(starts_, first), line_at(starts_, close), 1 + all - inner, first, at, close});
                taken += all;
            } else {
                taken += scan(at + 1, close, depth + 1);
            }
            at = close;
            start = close + 1;
        }
        return taken;
    }

    const std::string& code_;
    std::vector<std::size_t> starts_;
    RE2 begins_;
    RE2 not_;
    bool excludes_;
    RE2 decision_;
    bool decides_;
    std::vector<CodeFunction> found_;
};

}  // namespace

CodeText read_code(std::string_view text, const CodeRules& rules) { return CodeReader(text, rules).read(); }

std::vector<CodeFunction> functions_of(const CodeText& text, const CodeRules& rules) {
    if (rules.empty()) { return {}; }
    return FunctionFinder(text, rules).find();
}

std::string_view without_margins(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    const auto first = text.find_first_not_of(blanks);
    return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

namespace {

/// Splits into names and single other bytes, without spaces.
std::vector<std::string_view> names_and_marks(std::string_view text) {
    std::vector<std::string_view> found;
    for (std::size_t at = 0; at < text.size();) {
        auto end = at;
        while (end < text.size() && is_word_byte(text[end])) { ++end; }
        if (end == at) { end = at + 1; }
        if (!is_blank_byte(text[at])) { found.push_back(text.substr(at, end - at)); }
        at = end;
    }
    return found;
}

}  // namespace

namespace {

/// Returns a name in its usual forms, in a fixed order: `cut_lines`, `cutLines`, `CutLines`, `CUT_LINES`, `cut-lines`,
/// `cut lines`. Empty if its words cannot be told apart.
std::vector<std::string> forms_of_name(std::string_view name) {
    std::vector<std::string> parts;
    bool was_small = false;
    for (const char c : name) {
        const bool is_capital = c >= 'A' && c <= 'Z';
        if (c == '_' || c == '-') {
            parts.emplace_back();
        } else {
            if (parts.empty() || (is_capital && was_small && !parts.back().empty())) { parts.emplace_back(); }
            parts.back() += is_capital ? static_cast<char>(c - 'A' + 'a') : c;
        }
        was_small = !is_capital;
    }
    std::erase_if(parts, [](const std::string& part) { return part.empty(); });
    const auto capital = [](std::string word) {
        if (word[0] >= 'a' && word[0] <= 'z') { word[0] = static_cast<char>(word[0] - 'a' + 'A'); }
        return word;
    };
    std::vector<std::string> forms(6);
    for (const auto& part : parts) {
        const bool is_first = forms[0].empty();
        forms[0] += (is_first ? "" : "_") + part;
        forms[1] += is_first ? part : capital(part);
        forms[2] += capital(part);
        for (const char c : (is_first ? "" : "_") + part) {
            forms[3] += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        }
        forms[4] += (is_first ? "" : "-") + part;
        forms[5] += (is_first ? "" : " ") + part;
    }
    return parts.empty() ? std::vector<std::string>() : forms;
}

std::string replaced_everywhere(std::string text, std::string_view one, std::string_view other) {
    for (std::size_t at = 0; (at = text.find(one, at)) != std::string::npos; at += other.size()) {
        text.replace(at, one.size(), other);
    }
    return text;
}

/// The old and the new name.
using Renaming = std::pair<std::string, std::string>;

/// True for names that are no names of the project: `True to False` changes a value and renames nothing.
bool is_value(std::string_view name) {
    static const RE2 value(R"((?i)true|false|null|none|nil|undefined|self|this)");
    return RE2::FullMatch(re2::StringPiece(name.data(), name.size()), value);
}

/// Returns what the words say to rename: `Gateway to SensorGateway`, `timeout` into `timeout_s`. At most four.
std::vector<Renaming> renamings_in(std::string_view words) {
    static const RE2 renaming(R"re(([A-Za-z_$][\w$]*)[`'"()]*\s+(?:to|into|->|→)\s+[`'"]?([A-Za-z_$][\w$]*))re");
    constexpr std::size_t most = 4;
    std::vector<Renaming> found;
    re2::StringPiece rest(words.data(), words.size());
    for (Renaming each; found.size() < most && RE2::FindAndConsume(&rest, renaming, &each.first, &each.second);) {
        if (!is_value(each.first) && !is_value(each.second)) { found.push_back(each); }
    }
    return found;
}

/// Returns the line with some of these names replaced, if that makes it one of the lines. Else empty.
std::optional<std::string> renamed_line(std::string_view line, const std::vector<Renaming>& renamings,
                                        const std::map<std::string, std::size_t>& lines) {
    for (std::size_t chosen = 1; chosen < (std::size_t{1} << renamings.size()); ++chosen) {
        std::string renamed(line);
        for (std::size_t at = 0; at < renamings.size(); ++at) {
            if ((chosen >> at & 1U) == 0) { continue; }
            RE2::GlobalReplace(&renamed, R"(\b)" + RE2::QuoteMeta(renamings[at].first) + R"(\b)", renamings[at].second);
        }
        if (const auto found = lines.find(renamed); found != lines.end() && found->second > 0) { return renamed; }
    }
    return std::nullopt;
}

/// Returns the text with the names replaced in lines that `now` has so, and more often than the text.
std::string with_renamed_lines(const std::string& text, std::string_view now, const std::vector<Renaming>& renamings) {
    std::map<std::string, std::size_t> missing;
    for (const auto line : lines_of(now)) { ++missing[std::string(line)]; }
    std::vector<std::string_view> written = lines_of(text);
    std::vector<bool> stays(written.size());
    for (std::size_t at = 0; at < written.size(); ++at) {
        auto& left = missing[std::string(written[at])];
        stays[at] = left > 0;
        left -= stays[at] ? 1 : 0;
    }
    std::string result;
    for (std::size_t at = 0; at < written.size(); ++at) {
        auto renamed = stays[at] ? std::nullopt : renamed_line(written[at], renamings, missing);
        if (renamed) { --missing[*renamed]; }
        result += renamed.value_or(std::string(written[at])) + "\n";
    }
    if (!result.empty() && !text.ends_with('\n')) { result.pop_back(); }
    return result;
}

}  // namespace

std::string with_new_names(std::string_view before, std::string_view now, std::string_view words) {
    std::set<std::string> asked;
    for (const auto word : names_and_marks(words)) {
        if (word.size() > 1 && is_word_byte(word.front()) && !is_value(word)) { asked.emplace(word); }
    }
    std::string best(before);
    auto fewest = changed_line_numbers(best, now).size();
    for (const auto& one : asked) {
        if (fewest == 0 || before.find(one) == std::string_view::npos) { continue; }
        for (const auto& other : asked) {
            if (other == one || before.find(other) != std::string_view::npos || now.find(other) == std::string_view::npos) {
                continue;
            }
            std::string renamed = replaced_everywhere(std::string(before), one, other);
            auto gone = changed_line_numbers(renamed, now).size();
            if (gone >= fewest) { continue; }
            // Tests of `cut_lines` may be in a class `TestCutLines`.
            const auto olds = forms_of_name(one);
            const auto news = forms_of_name(other);
            for (std::size_t at = 0; at < std::min(olds.size(), news.size()); ++at) {
                if (before.find(news[at]) != std::string_view::npos || now.find(news[at]) == std::string_view::npos) { continue; }
                auto more = replaced_everywhere(renamed, olds[at], news[at]);
                const auto left = changed_line_numbers(more, now).size();
                if (left >= gone) { continue; }
                gone = left;
                renamed = std::move(more);
            }
            fewest = gone;
            best = std::move(renamed);
        }
    }
    // A single name has to change everywhere.
    auto renamings = renamings_in(words);
    std::erase_if(renamings, [&](const Renaming& each) {
        return RE2::PartialMatch(re2::StringPiece(before.data(), before.size()), R"(\b)" + RE2::QuoteMeta(each.second) + R"(\b)");
    });
    return renamings.size() < 2 ? best : with_renamed_lines(best, now, renamings);
}

bool adds_no_words(std::string_view now, std::string_view before) {
    std::map<std::string_view, std::size_t> left;
    for (const auto word : names_and_marks(before)) { ++left[word]; }
    return std::ranges::all_of(names_and_marks(now), [&](std::string_view word) { return left[word]-- > 0; });
}

std::set<std::uint64_t> changed_line_numbers(std::string_view now, std::string_view old) {
    std::map<std::string_view, std::size_t> known;
    for (const auto line : lines_of(old)) { ++known[line]; }
    std::set<std::uint64_t> numbers;
    std::uint64_t number = 0;
    for (const auto line : lines_of(now)) {
        ++number;
        auto& left = known[line];
        if (left > 0) {
            --left;
        } else {
            numbers.insert(number);
        }
    }
    return numbers;
}

int bracket_balance(std::string_view line) {
    int open = 0;
    for (const char c : line) {
        if (c == '(' || c == '[' || c == '{') { ++open; }
        if (c == ')' || c == ']' || c == '}') { --open; }
    }
    return open;
}

namespace {

/// Returns the column where the code of a line starts; npos if it has none.
std::size_t indentation(std::string_view line) { return line.find_first_not_of(" \t\r"); }

std::vector<FunctionLines> indented_functions(std::string_view code) {
    static const RE2 header(R"(^\s*(?:async\s+)?(?:def|fn|func|function|sub)\s+(\w+))");
    std::vector<FunctionLines> functions;
    const auto lines = lines_of(code);
    for (std::size_t at = 0; at < lines.size(); ++at) {
        std::string name;
        if (!RE2::PartialMatch(re2::StringPiece(lines[at].data(), lines[at].size()), header, &name)) { continue; }
        const auto margin = indentation(lines[at]);
        auto next = at;
        for (int open = bracket_balance(lines[next]); open > 0 && next + 1 < lines.size();) {
            open += bracket_balance(lines[++next]);
        }
        auto last = next;
        while (++next < lines.size()) {
            const auto begin = indentation(lines[next]);
            if (begin == std::string_view::npos) { continue; }
            if (begin <= margin) { break; }
            last = next;
        }
        functions.push_back({std::move(name), at + 1, last + 1});
    }
    return functions;
}

}  // namespace

std::vector<FunctionLines> function_lines(std::string_view text, const CodeRules& rules) {
    static const RE2 expression(
        R"(^\s*(?:export\s+)?(?:(?:const|let|var)\s+)?(\w+)\s*=\s*(?:lambda\b|(?:async\s*)?(?:\([^()]*\)|\w+)\s*=>\s*[^{\s]))");
    const auto read = read_code(text, rules);
    std::vector<FunctionLines> functions;
    if (rules.comment_begins.empty()) {
        functions = indented_functions(read.code);
    } else {
        for (auto& function : functions_of(read, rules)) {
            functions.push_back({std::move(function.name), function.first_line, function.last_line});
        }
    }
    std::uint64_t number = 0;
    for (const auto line : lines_of(read.code)) {
        ++number;
        std::string name;
        if (RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), expression, &name)) {
            functions.push_back({std::move(name), number, number, true});
        }
    }
    std::stable_sort(functions.begin(), functions.end(),
                     [](const FunctionLines& one, const FunctionLines& other) { return one.first < other.first; });
    return functions;
}

std::set<std::string> informative_literals(const CodeText& text) {
    std::set<std::string> found;
    for (const auto& literal : text.literals) {
        if (literal.informative) { found.insert(literal.value); }
    }
    return found;
}

namespace {

/// Returns a literal without its quotes, so that `'a'` equals `"a"`.
std::string without_marks(const std::string& literal) {
    const auto mark = literal.find_first_of("\"'`");
    if (mark == std::string::npos) { return literal; }
    const auto begin = literal.find_first_not_of(literal[mark], mark);
    const auto end = literal.find_last_not_of(literal[mark]);
    return begin == std::string::npos || end < begin ? std::string() : literal.substr(begin, end - begin + 1);
}

std::map<std::uint64_t, std::set<std::string>> values_by_line(const CodeText& text) {
    std::map<std::uint64_t, std::set<std::string>> lines;
    for (const auto& literal : text.literals) {
        if (literal.informative) { lines[literal.line].insert(without_marks(literal.value)); }
    }
    return lines;
}

std::set<std::string> both(const std::set<std::string>& one, const std::set<std::string>& other) {
    std::set<std::string> shared;
    std::set_intersection(one.begin(), one.end(), other.begin(), other.end(), std::inserter(shared, shared.end()));
    return shared;
}

}  // namespace

std::vector<TestLine> test_lines(const std::string& file, const CodeText& text) {
    std::vector<TestLine> found;
    for (auto& [line, values] : values_by_line(text)) { found.push_back({file, line, values}); }
    return found;
}

std::vector<RepeatedValues> repeated_values(const CodeText& code, const std::set<std::uint64_t>& lines,
                                            const std::vector<TestLine>& tests) {
    constexpr std::size_t pair = 2;
    constexpr std::size_t list = 3;
    std::set<std::string> known;
    for (const auto& test : tests) { known.insert(test.values.begin(), test.values.end()); }
    std::vector<RepeatedValues> found;
    for (const auto& [line, values] : values_by_line(code)) {
        if (!lines.contains(line) || values.size() < pair) { continue; }
        const auto same = std::find_if(tests.begin(), tests.end(),
                                       [&, &here = values](const auto& test) { return both(here, test.values).size() >= pair; });
        if (same != tests.end()) {
            const auto shared = both(values, same->values);
            found.push_back({line, *shared.begin() + " and " + *std::next(shared.begin()) + ", as " + same->file + ":" +
                                       std::to_string(same->line)});
        } else if (values.size() >= list && both(values, known) == values) {
            found.push_back(
                {line, *values.begin() + " and " + std::to_string(values.size() - 1) + " more, all of which the tests have"});
        }
    }
    return found;
}

bool contains_word(std::string_view line) noexcept { return std::any_of(line.begin(), line.end(), is_word_byte); }

std::vector<ComparedLiteral> compared_literals(const CodeText& text, const CodeRules& rules, const std::set<std::string>& known) {
    std::vector<ComparedLiteral> found;
    const auto starts = line_starts(text.code);
    const RE2 before("(?:" + rules.compared_before + ")\\s*$", RE2::Quiet);
    const RE2 after("^\\s*(?:" + rules.compared_after + ")", RE2::Quiet);
    const auto line_text = [&](std::uint64_t line) {
        const auto begin = starts[line - 1];
        const auto end = line < starts.size() ? starts[line] : text.code.size();
        return std::string_view(text.code).substr(begin, end - begin);
    };
    const auto depends_on = [&](std::uint64_t line) {
        auto own = line_text(line);
        while (!own.empty() && is_blank_byte(own.back())) { own.remove_suffix(1); }
        const bool opens = !own.empty() && (own.back() == '{' || own.back() == ')' || own.back() == ':' || own.back() == '>');
        for (auto next = line + 1; opens && next <= starts.size() && next < line + 20; ++next) {
            if (contains_word(line_text(next))) { return next; }
        }
        return line;
    };
    std::map<std::uint64_t, std::set<std::string>> tables;
    std::map<std::uint64_t, bool> all_known;
    std::set<std::pair<std::uint64_t, std::string>> reported;
    for (const auto& literal : text.literals) {
        if (!literal.informative) { continue; }
        const bool is_known = known.contains(literal.value);
        all_known.try_emplace(literal.line, true).first->second &= is_known;
        if (!is_known) { continue; }
        tables[literal.line].insert(literal.value);
        const auto from = literal.begin > 120 ? literal.begin - 120 : 0;
        const auto left = std::string_view(text.code).substr(from, literal.begin - from);
        const auto right = std::string_view(text.code).substr(literal.end, 60);
        const bool compares = (!rules.compared_before.empty() && RE2::PartialMatch(piece(left), before)) ||
                              (!rules.compared_after.empty() && RE2::PartialMatch(piece(right), after));
        if (compares && reported.emplace(literal.line, literal.value).second) {
            found.push_back({literal.line, literal.value, depends_on(literal.line)});
        }
    }
    for (const auto& [line, values] : tables) {
        const bool said =
            std::any_of(reported.begin(), reported.end(), [&, number = line](const auto& each) { return each.first == number; });
        if (values.size() > 1 && all_known[line] && !said) { found.push_back({line, *values.begin(), line}); }
    }
    std::sort(found.begin(), found.end(), [](const auto& left, const auto& right) { return left.line < right.line; });
    return found;
}

}  // namespace agentforge::kernel
