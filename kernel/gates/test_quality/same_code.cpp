// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/same_code.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <re2/re2.h>

#include "git/line_changes.hpp"

namespace agentforge::kernel {

std::string with_text_as_comment(std::string_view before, std::string_view after, const CodeRules& rules,
                                 std::string_view marker) {
    if (rules.line_comments.empty()) { return {}; }
    const auto& mark = rules.line_comments.front();
    const auto comment = [&](std::string_view margin) {
        std::string text;
        for (const auto line : lines_of(after)) {
            // In C and C++, a backslash at the end would continue the comment on the next line.
            auto kept = std::string(line);
            while (kept.ends_with('\\') || kept.ends_with('\r')) { kept.pop_back(); }
            text += std::string(margin) + mark + " " + kept + "\n";
        }
        return text;
    };
    std::string result;
    bool placed = false;
    for (const auto line : lines_of(before)) {
        if (!marker.empty() && line.find(marker) != std::string_view::npos) {
            const auto margin = line.find_first_not_of(" \t");
            // A body on its header's line (`def f(): raise …`) has no room for a comment.
            const bool alone = margin != std::string_view::npos && margin > 0;
            if (alone) {
                result += comment(line.substr(0, margin));
                placed = true;
            }
        }
        result += std::string(line) + "\n";
    }
    if (!placed) { result += comment(""); }
    return result;
}

std::string added_function(std::string_view before, std::string_view now, std::uint64_t line, const CodeRules& rules) {
    std::string name;
    for (const auto& function : function_lines(now, rules)) {
        if (function.first <= line && line <= function.last) { name = function.name; }
    }
    const bool known = !name.empty() && RE2::PartialMatch(re2::StringPiece(before.data(), before.size()),
                                                          "(?:^|\\W)" + RE2::QuoteMeta(name) + "(?:\\W|$)");
    return known ? std::string() : name;
}

namespace {

bool has_other_line_ends(std::string_view text) {
    for (std::size_t at = 0; (at = text.find('\r', at)) != std::string_view::npos; ++at) {
        if (at + 1 == text.size() || text[at + 1] != '\n') { return true; }
    }
    return text.find("\xE2\x80\xA8") != std::string_view::npos ||
           text.find("\xE2\x80\xA9") != std::string_view::npos;  // U+2028, U+2029.
}

/// Returns the code without strings that are statements (Python's docstrings), if the language has no multi-line comments.
CodeText without_docstrings(CodeText read, const CodeRules& rules) {
    if (!rules.comment_begins.empty()) { return read; }
    const std::string code = read.code;
    const auto is_blank_until = [&](std::size_t from, int step) {
        for (auto at = from; at < code.size() && code[at] != '\n'; at = at + static_cast<std::size_t>(step)) {
            if (std::isspace(static_cast<unsigned char>(code[at])) == 0) { return false; }
            if (at == 0 && step < 0) { break; }
        }
        return true;
    };
    std::erase_if(read.literals, [&](const CodeLiteral& literal) {
        if (literal.value.find_first_of("\"'") != 0) { return false; }
        const bool alone = (literal.begin == 0 || is_blank_until(literal.begin - 1, -1)) && is_blank_until(literal.end, 1);
        const auto before = std::string_view(code).substr(0, literal.begin);
        const auto last = before.find_last_not_of(" \t\r\n");
        if (!alone || bracket_balance(before) != 0 || (last != std::string_view::npos && before[last] == '\\')) { return false; }
        for (auto at = literal.begin; at < literal.end; ++at) {
            if (read.code[at] != '\n') { read.code[at] = ' '; }
        }
        return true;
    });
    return read;
}

/// The lines of a text that a change touches, without lines that look like comments. `read_code` can mistake code for a
/// comment, for example after a regular expression that contains a quote.
class ChangedCode {
public:
    ChangedCode(std::string_view text, const CodeRules& rules)
        : rules_(rules),
          read_(without_docstrings(read_code(text, rules), rules)),
          lines_(lines_of(text)),
          blanked_(lines_of(read_.code)),
          acts_(rules.acting_comments, RE2::Quiet) {
        const bool templates =
            std::ranges::any_of(rules.quotes, [](const auto& quote) { return quote.begins == "`" && quote.escapes; });
        plain_ = !rules.preprocessor && !templates;
    }

    [[nodiscard]] std::vector<std::string> parts(const std::set<std::uint64_t>& numbers) const {
        std::vector<std::string> result;
        for (const auto number : numbers) {
            if (number == 0 || number > lines_.size()) { continue; }
            const std::string line(without_margins(lines_[number - 1]));
            if (line.empty()) { continue; }
            if (acts(line, number)) {
                result.push_back(line);
            } else if (!is_comment(line, number - 1)) {
                result.push_back(without_trailing_comment(line));
            }
        }
        return result;
    }

private:
    [[nodiscard]] bool acts(const std::string& line, std::uint64_t number) const {
        if (line.ends_with('\\') || (number == 1 && line.starts_with("#!"))) { return true; }
        return !rules_.acting_comments.empty() && RE2::PartialMatch(line, acts_);
    }

    [[nodiscard]] bool begins_with_mark(const std::string& line) const {
        return std::ranges::any_of(rules_.line_comments, [&](const auto& mark) { return line.starts_with(mark); });
    }

    [[nodiscard]] bool is_comment(const std::string& line, std::size_t index) const {
        if (begins_with_mark(line)) { return true; }
        if (!without_margins(blanked_[index]).empty()) { return false; }
        if (plain_) { return true; }
        // `/** … */` alone, or a line of it that begins with `*`.
        for (auto at = index + 1; at-- > 0;) {
            const auto here = without_margins(lines_[at]);
            if (here.starts_with(rules_.comment_begins)) { return true; }
            if (!here.starts_with('*')) { return false; }
        }
        return false;
    }

    [[nodiscard]] std::string without_trailing_comment(const std::string& line) const {
        auto at = rules_.comment_begins.empty() ? std::string::npos : line.find(rules_.comment_begins);
        const bool block = at != std::string::npos;
        for (const auto& mark : rules_.line_comments) { at = std::min(at, line.find(mark)); }
        if (at == std::string::npos || line.find_first_of("\"'`/\\") < at) { return line; }
        if (block && line.compare(at, rules_.comment_begins.size(), rules_.comment_begins) == 0 &&
            line.find(rules_.comment_ends, at) + rules_.comment_ends.size() != line.size()) {
            return line;
        }
        return std::string(without_margins(std::string_view(line).substr(0, at)));
    }

    const CodeRules& rules_;
    CodeText read_;
    std::vector<std::string_view> lines_;
    std::vector<std::string_view> blanked_;
    RE2 acts_;
    bool plain_ = false;
};

}  // namespace

bool same_code(std::string_view before, std::string_view after, const CodeRules& rules) {
    if (rules.empty() || has_other_line_ends(before) || has_other_line_ends(after)) { return before == after; }
    const RE2 everywhere(rules.comments_act_where, RE2::Quiet);
    const auto act = [&](std::string_view text) {
        return !rules.comments_act_where.empty() && RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), everywhere);
    };
    if (act(before) || act(after)) { return before == after; }
    if (ChangedCode(before, rules).parts(changed_line_numbers(before, after)) !=
        ChangedCode(after, rules).parts(changed_line_numbers(after, before))) {
        return false;
    }
    const auto essence = [&](std::string_view text) {
        const auto read = without_docstrings(read_code(text, rules), rules);
        std::string result;
        for (const auto line : lines_of(read.code)) {
            auto end = line.size();
            while (end > 0 && std::isspace(static_cast<unsigned char>(line[end - 1])) != 0) { --end; }
            if (end == 0) { continue; }
            result += std::string(line.substr(0, end)) + "\n";
        }
        for (const auto& literal : read.literals) { result += literal.value + "\n"; }
        return result;
    };
    return essence(before) == essence(after);
}

std::vector<std::string> with_removed_lines(std::string_view before, std::string_view now) {
    const auto old_lines = lines_of(before);
    const auto new_lines = lines_of(now);
    const auto text_of_lines = [](const std::vector<std::string_view>& lines, std::uint64_t first, std::uint64_t count) {
        std::string text;
        for (auto at = first; at < first + count && at <= lines.size(); ++at) { text += std::string(lines[at - 1]) + "\n"; }
        return text;
    };
    std::vector<LineChange> removed;
    for (const LineChange& change : line_changes(before, now).value_or({})) {
        const auto old = text_of_lines(old_lines, change.old_first, change.old_count);
        const auto fresh = text_of_lines(new_lines, change.new_first, change.new_count);
        if (contains_word(old) && adds_no_words(fresh, old)) { removed.push_back(change); }
    }
    const auto with = [&](const std::vector<LineChange>& changes) {
        std::string text;
        std::uint64_t done = 0;  // Lines of `now`.
        for (const LineChange& change : changes) {
            // If no line is new there, `new_first` is the line before.
            const auto until = change.new_count == 0 ? change.new_first : change.new_first - 1;
            text += text_of_lines(new_lines, done + 1, until - done);
            text += text_of_lines(old_lines, change.old_first, change.old_count);
            done = until + change.new_count;
        }
        return text + text_of_lines(new_lines, done + 1, new_lines.size() - done);
    };
    std::vector<std::string> texts;
    if (removed.empty()) { return texts; }
    texts.push_back(with(removed));
    for (const LineChange& change : removed) {
        if (removed.size() > 1) { texts.push_back(with({change})); }
    }
    return texts;
}

}  // namespace agentforge::kernel
