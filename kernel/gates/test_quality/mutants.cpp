// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/mutants.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include <re2/re2.h>

#include "base/text.hpp"
#include "gates/language/source_text.hpp"
#include "git/line_changes.hpp"

namespace agentforge::kernel {
namespace {

std::string without_margins(std::string_view line) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())) != 0) { line.remove_prefix(1); }
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) { line.remove_suffix(1); }
    return std::string(line);
}

/// Rules with this name apply only when all results of a function are altered at once.
constexpr std::string_view another_value = "another value";
constexpr std::string_view another_text = "another text";

struct Line {
    std::string_view text;  ///< As written.
    std::string_view code;  ///< The same bytes with texts and comments blanked.
};

struct Alteration {
    std::string rule;
    std::string text;
    std::string description = {};
};

/// Expands `replace` with groups from the line as written.
std::string filled(const std::string& replace, const Line& line, const std::vector<re2::StringPiece>& groups) {
    std::string result;
    for (std::size_t at = 0; at < replace.size(); ++at) {
        const bool group =
            replace[at] == '\\' && at + 1 < replace.size() && std::isdigit(static_cast<unsigned char>(replace[at + 1])) != 0;
        if (!group) {
            result += replace[at];
            continue;
        }
        const auto index = static_cast<std::size_t>(replace[++at] - '0');
        if (index >= groups.size() || groups[index].data() == nullptr) { continue; }
        result += line.text.substr(static_cast<std::size_t>(groups[index].data() - line.code.data()), groups[index].size());
    }
    return result;
}

void by_rule(const MutationRule& rule, const Line& line, std::vector<Alteration>& found) {
    const RE2 pattern(rule.match, RE2::Quiet);
    if (!pattern.ok()) { return; }
    std::vector<re2::StringPiece> groups(static_cast<std::size_t>(pattern.NumberOfCapturingGroups()) + 1);
    const re2::StringPiece code(line.code.data(), line.code.size());
    constexpr std::size_t most_in_a_line = 2;
    std::size_t from = 0;
    for (std::size_t count = 0; count < most_in_a_line && from <= line.code.size(); ++count) {
        if (!pattern.Match(code, from, line.code.size(), RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size()))) {
            return;
        }
        const auto begin = static_cast<std::size_t>(groups[0].data() - line.code.data());
        const auto end = begin + groups[0].size();
        const auto replacement = filled(rule.replace, line, groups);
        auto text = std::string(line.text.substr(0, begin)) + replacement + std::string(line.text.substr(end));
        const auto altered = std::string(line.code.substr(0, begin)) + replacement + std::string(line.code.substr(end));
        // A string that continues on the next line cannot be moved.
        const bool whole = std::all_of(groups.begin() + 1, groups.end(), [](const re2::StringPiece& group) {
            return group.size() < 2 || bracket_balance({group.data(), group.size()}) == 0;
        });
        if (text != line.text && whole && bracket_balance(altered) == bracket_balance(line.code)) {
            found.push_back({rule.name, std::move(text), rule.description});
        }
        from = end > begin ? end : end + 1;
    }
}

/// Returns another value for a literal of this line. Skips a line that begins with a string: documentation or a directive.
std::optional<Alteration> other_literal(const CodeLiteral& literal, std::size_t begin, const Line& line) {
    if (literal.begin < begin || literal.end > begin + line.text.size()) { return std::nullopt; }  // Spans several lines.
    const auto at = literal.begin - begin;
    const auto before = line.text.substr(0, at);
    const auto after = line.text.substr(literal.end - begin);
    const auto written = line.text.substr(at, literal.end - literal.begin);
    if (without_margins(before).empty()) { return std::nullopt; }
    if (std::isdigit(static_cast<unsigned char>(written.front())) != 0) {
        const bool whole = written.size() <= 9 && std::all_of(written.begin(), written.end(), [](char c) {
                               return std::isdigit(static_cast<unsigned char>(c)) != 0;
                           });
        if (!whole || (written.size() > 1 && written.front() == '0')) { return std::nullopt; }
        return Alteration{"another number",
                          std::string(before) + std::to_string(std::stoll(std::string(written)) + 1) + std::string(after)};
    }
    // After the opening quote, such as `f"`, `'` or `"""`.
    const auto mark = written.find_first_of("\"'`");
    if (mark == std::string_view::npos) { return std::nullopt; }
    auto inside = mark;
    while (inside < written.size() && written[inside] == written[mark]) { ++inside; }
    const bool empty = inside == written.size();
    if (empty) { inside = mark + (written.size() - mark) / 2; }
    if (inside >= written.size() || (empty && (written.size() - mark) % 2 != 0)) { return std::nullopt; }
    // A character stays a character.
    if (written[mark] == '\'' && written.size() == 3 && std::isalnum(static_cast<unsigned char>(written[1])) != 0) {
        return Alteration{std::string(another_text),
                          std::string(before) + (written[1] == 'x' ? "'y'" : "'x'") + std::string(after)};
    }
    return Alteration{std::string(another_text), std::string(before) + std::string(written.substr(0, inside)) + "~" +
                                                     std::string(written.substr(inside)) + std::string(after)};
}

/// The same for an expected value. Keeps the length of a text, because a test that only compares lengths compares too little.
std::optional<Alteration> other_expected(const CodeLiteral& literal, std::size_t begin, const Line& line) {
    auto other = other_literal(literal, begin, line);
    static const RE2 plain(R"((\w?["'`])([^\\{}%~"'`])([^\\]*))");
    std::string opening;
    std::string first;
    std::string rest;
    const bool character = literal.value.size() == 3 && literal.value.front() == '\'';
    if (!other || character || !RE2::FullMatch(literal.value, plain, &opening, &first, &rest)) { return other; }
    other->text = std::string(line.text.substr(0, literal.begin - begin)) + opening + "~" + rest +
                  std::string(line.text.substr(literal.end - begin));
    return other;
}

/// The same for a literal in an exact comparison. Changes a decimal by 1, because a smaller change may be within a tolerance.
std::optional<Alteration> other_exact(const CodeLiteral& literal, std::size_t begin, const Line& line) {
    std::string whole;
    std::string decimals;
    if (!RE2::FullMatch(literal.value, R"((\d{1,9})(\.\d+))", &whole, &decimals)) { return other_expected(literal, begin, line); }
    const auto before = line.text.substr(0, literal.begin - begin);
    return Alteration{"another number", std::string(before) + std::to_string(std::stoll(whole) + 1) + decimals +
                                            std::string(line.text.substr(literal.end - begin))};
}

/// Data: alters a word or a number.
std::optional<Alteration> other_word(std::string_view line) {
    const auto at =
        std::find_if(line.begin(), line.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
    if (at == line.end()) { return std::nullopt; }
    // The last one: in `key: value`, the value.
    auto end = line.size();
    while (end > 0 && std::isalnum(static_cast<unsigned char>(line[end - 1])) == 0) { --end; }
    auto begin = end;
    while (begin > 0 && std::isalnum(static_cast<unsigned char>(line[begin - 1])) != 0) { --begin; }
    const auto word = line.substr(begin, end - begin);
    const bool number =
        std::all_of(word.begin(), word.end(), [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }) &&
        word.size() <= 9;
    return Alteration{number ? "another number" : "another word",
                      std::string(line.substr(0, begin)) +
                          (number ? std::to_string(std::stoll(std::string(word)) + 1) : std::string(word) + "x") +
                          std::string(line.substr(end))};
}

}  // namespace

std::vector<Mutant> mutants_of(const std::string& path, std::string_view text, std::string_view code,
                               const std::set<std::uint64_t>& lines, const CodeRules& rules,
                               const std::vector<MutationRule>& mutations) {
    const bool data = mutations.empty();
    const auto read = data ? CodeText{} : read_code(code, rules);
    const auto written = lines_of(text);
    const auto left = lines_of(code);
    const auto blanked = lines_of(data ? code : std::string_view(read.code));
    std::vector<std::vector<Mutant>> by_line;
    for (const auto number : lines) {
        if (number == 0 || number > written.size() || number > left.size() || number > blanked.size()) { continue; }
        const Line line{written[number - 1], blanked[number - 1]};
        // If the line differs in `code`, it is not code.
        if (line.text != left[number - 1] || line.text.size() != line.code.size() || without_margins(line.code).empty()) {
            continue;
        }
        if (without_margins(line.code).starts_with("__all__")) { continue; }  // Python's list of exported names: no behaviour.
        std::vector<Alteration> found;
        for (const auto& rule : mutations) {
            if (rule.name != another_value && (rule.files.empty() || rule.files.matches(path))) { by_rule(rule, line, found); }
        }
        if (data) {
            if (auto other = other_word(line.text)) { found.push_back(std::move(*other)); }
        } else {
            const auto begin = static_cast<std::size_t>(left[number - 1].data() - code.data());
            for (const auto& literal : read.literals) {
                if (literal.line != number) { continue; }
                if (auto other = other_literal(literal, begin, line)) { found.push_back(std::move(*other)); }
            }
        }
        std::vector<Mutant> mutants;
        std::set<std::string> seen;
        for (auto& each : found) {
            if (!seen.insert(each.text).second) { continue; }
            const auto begin = static_cast<std::size_t>(line.text.data() - text.data());
            auto content = std::string(text);
            content.replace(begin, line.text.size(), each.text);
            mutants.push_back({path, number, each.rule, without_margins(line.text),
                               each.description.empty() ? without_margins(each.text) : each.description, std::move(content)});
        }
        if (!mutants.empty()) { by_line.push_back(std::move(mutants)); }
    }
    std::vector<Mutant> result;
    for (std::size_t round = 0;; ++round) {
        const auto before = result.size();
        for (auto& mutants : by_line) {
            if (round < mutants.size()) { result.push_back(std::move(mutants[round])); }
        }
        if (result.size() == before) { return result; }
    }
}

namespace {

/// Replaces a result that is a single literal with another literal. A neutral value of the other rules might equal this literal.
std::optional<std::string> other_literal_result(const Line& line, std::size_t begin, const std::vector<CodeLiteral>& literals) {
    static const RE2 word(R"(^(\s*return\s+)(true|false|True|False)(\s*;?\s*)$)");
    std::string before;
    std::string value;
    std::string after;
    if (RE2::FullMatch(re2::StringPiece(line.code.data(), line.code.size()), word, &before, &value, &after)) {
        static const std::map<std::string, std::string, std::less<>> opposites{
            {"True", "False"}, {"False", "True"}, {"true", "false"}, {"false", "true"}};
        return before + opposites.at(value) + after;
    }
    for (const auto& literal : literals) {
        if (literal.begin < begin || literal.end > begin + line.text.size()) { continue; }
        const auto rest = without_margins(line.text.substr(literal.end - begin));
        if (without_margins(line.text.substr(0, literal.begin - begin)) != "return" || (!rest.empty() && rest != ";")) {
            continue;
        }
        if (auto other = other_literal(literal, begin, line)) { return std::move(other->text); }
    }
    return std::nullopt;
}

/// True if the result is already the neutral value of the rules.
bool is_neutral_result(const Line& line) {
    static const RE2 neutral(
        R"(^\s*(?:return\s+)?(?:None|nil|null|nullptr|std::nullopt|[\w:]*(?:<.*>)?\{\}|[\w:<>]+::(?:new|default)\(\)|vec!\[\]|std::\w+(?:<.*>)?\(\))\s*;?\s*$)");
    return RE2::FullMatch(re2::StringPiece(line.code.data(), line.code.size()), neutral);
}

/// Alters a line that returns a result, once for each kind of value. Empty if the line returns none.
std::vector<Alteration> other_results(const std::string& path, const Line& line, std::size_t begin, const CodeText& read,
                                      const std::vector<MutationRule>& mutations) {
    std::vector<Alteration> found;
    const auto literal = other_literal_result(line, begin, read.literals);
    const bool has_values =
        std::any_of(mutations.begin(), mutations.end(), [](const MutationRule& rule) { return rule.name == another_value; });
    const std::string_view wanted = has_values ? another_value : "another result";
    for (const auto& rule : mutations) {
        if (rule.name != wanted || !(rule.files.empty() || rule.files.matches(path))) { continue; }
        std::vector<Alteration> by_this;
        const bool computed = !rule.description.empty();  // Computed from the result itself.
        if (literal) {
            by_this.push_back({rule.name, *literal});
        } else if (computed || !is_neutral_result(line)) {
            by_rule(rule, line, by_this);
        }
        found.push_back(by_this.empty() ? Alteration{rule.name, std::string(line.text)} : std::move(by_this.front()));
    }
    const auto altered = std::find_if(found.begin(), found.end(), [&](const Alteration& each) { return each.text != line.text; });
    if (altered == found.end()) { return {}; }
    // This result is written in a form that the rule does not match. Alters it anyway, because the rule alters the others.
    const auto other = *altered;
    if (!is_neutral_result(line)) {
        std::replace_if(
            found.begin(), found.end(), [&](const Alteration& each) { return each.text == line.text; }, other);
    }
    return found;
}

/// Returns the index of the innermost function of each line, by the line's number. Their count: it is in no function.
std::vector<std::size_t> innermost_functions(const std::vector<FunctionLines>& functions, std::size_t lines) {
    std::vector<std::size_t> innermost(lines + 1, functions.size());
    for (std::size_t index = 0; index < functions.size(); ++index) {
        for (auto line = functions[index].first; line <= functions[index].last && line < innermost.size(); ++line) {
            innermost[line] = index;
        }
    }
    return innermost;
}

/// Alterations of a function's lines, by number.
using LineAlterations = std::map<std::uint64_t, std::vector<Alteration>>;

/// Returns the text once for each kind of alteration, with all the lines altered in that way.
std::vector<std::string> altered_contents(std::string_view text, const std::vector<std::string_view>& written,
                                          const LineAlterations& alterations) {
    std::vector<std::string> contents;
    for (std::size_t kind = 0; kind < alterations.begin()->second.size(); ++kind) {
        std::string content(text);
        for (auto each = alterations.rbegin(); each != alterations.rend(); ++each) {
            const auto line = written[each->first - 1];
            content.replace(static_cast<std::size_t>(line.data() - text.data()), line.size(), each->second[kind].text);
        }
        if (content != text && std::find(contents.begin(), contents.end(), content) == contents.end()) {
            contents.push_back(std::move(content));
        }
    }
    return contents;
}

AlteredResults altered_result(const std::string& function, std::string_view text, const std::vector<std::string_view>& written,
                              const LineAlterations& alterations) {
    const auto& [first, kinds] = *alterations.begin();
    const auto line = written[first - 1];
    const auto& shown = *std::find_if(kinds.begin(), kinds.end(), [&](const Alteration& each) { return each.text != line; });
    return {function, first, without_margins(line), shown.description.empty() ? without_margins(shown.text) : shown.description,
            altered_contents(text, written, alterations)};
}

}  // namespace

std::vector<AlteredResults> altered_results(const std::string& path, std::string_view text, std::string_view code,
                                            const std::set<std::uint64_t>& lines, const CodeRules& rules,
                                            const std::vector<MutationRule>& mutations) {
    static const RE2 receiver(R"(^\s*(?:return\s+)?(?:\*?this|&?(?:mut )?self|cls)\s*;?\s*$)");
    static const RE2 passed_error(R"(^\s*return\s+\w*[eE]rr\s*$)");
    static const RE2 no_error(R"(^\s*return\s+nil\s*$)");
    std::vector<AlteredResults> result;
    const auto read = read_code(code, rules);
    const auto written = lines_of(text);
    const auto left = lines_of(code);
    const auto blanked = lines_of(read.code);
    const auto functions = function_lines(code, rules);
    const auto innermost = innermost_functions(functions, blanked.size());
    for (std::size_t index = 0; index < functions.size(); ++index) {
        const auto& function = functions[index];
        bool touched = false;
        bool returns_itself = false;
        // A Go function without a result of its own: nil, or the error of what it calls.
        bool returns_no_error = false;
        bool only_passes_errors = true;
        LineAlterations alterations;
        for (auto number = function.first; number <= function.last && number <= std::min(written.size(), blanked.size());
             ++number) {
            const Line line{written[number - 1], blanked[number - 1]};
            if (innermost[number] != index || line.text != left[number - 1]) { continue; }
            returns_itself = returns_itself || RE2::PartialMatch(re2::StringPiece(line.code.data(), line.code.size()), receiver);
            const re2::StringPiece code_of_line(line.code.data(), line.code.size());
            returns_no_error = returns_no_error || RE2::FullMatch(code_of_line, no_error);
            auto found =
                other_results(path, line, static_cast<std::size_t>(left[number - 1].data() - code.data()), read, mutations);
            if (found.empty()) { continue; }
            touched = touched || lines.contains(number);
            only_passes_errors = only_passes_errors && RE2::FullMatch(code_of_line, passed_error);
            alterations[number] = std::move(found);
        }
        if (touched && !returns_itself && !(returns_no_error && only_passes_errors)) {
            result.push_back(altered_result(function.name, text, written, alterations));
        }
    }
    return result;
}

namespace {

/// Returns how many brackets are open before a place in the line.
int depth_at(const Line& line, std::size_t place) { return bracket_balance(line.code.substr(0, place)); }

/// Returns the literals with the fewest brackets around them: arguments of the assertion itself, not of calls inside it
/// (`assertEquals(4, f(5), 0.1)`).
std::vector<const CodeLiteral*> outermost(const std::vector<const CodeLiteral*>& literals, const Line& line, std::size_t begin) {
    std::vector<const CodeLiteral*> result;
    int least = 0;
    for (const auto* literal : literals) {
        if (literal->begin < begin) { continue; }
        const int depth = depth_at(line, literal->begin - begin);
        if (result.empty() || depth < least) {
            least = depth;
            result.clear();
        }
        if (depth == least) { result.push_back(literal); }
    }
    return result;
}

/// Returns a row of a table of cases with another value at its end, where such tables have the expected result: `("a", 1,
/// True),`, `{"a", 200},`.
std::optional<std::string> other_row(std::string_view line) {
    static const RE2 row(R"re(^(\s*[({\[].*[,:]\s*)(-?\d{1,9}|True|False|true|false|"[^"\\]*"|'[^'\\]*')(\s*[)}\]]+,?\s*)$)re");
    std::string before;
    std::string value;
    std::string after;
    if (!RE2::FullMatch(re2::StringPiece(line.data(), line.size()), row, &before, &value, &after)) { return std::nullopt; }
    static const std::map<std::string, std::string, std::less<>> words{
        {"True", "False"}, {"False", "True"}, {"true", "false"}, {"false", "true"}};
    if (const auto word = words.find(value); word != words.end()) { return before + word->second + after; }
    const bool quoted = value.front() == '"' || value.front() == '\'';
    if (quoted && value.front() == '\'' && value.size() == 3) { return before + (value[1] == 'x' ? "'y'" : "'x'") + after; }
    if (!quoted) { return before + std::to_string(std::stoll(value) + 1) + after; }
    const bool keeps_length = value.size() > 2 && std::string_view("{}%~").find(value[1]) == std::string_view::npos;
    return before + value.substr(0, 1) + "~" + value.substr(keeps_length ? 2 : 1) + after;
}

/// Returns the literals that are direct operands of a comparison: `f() == 4`.
std::vector<const CodeLiteral*> equated(const std::vector<const CodeLiteral*>& literals, std::string_view code,
                                        std::size_t begin) {
    static const RE2 equal(R"([^=!<>]={2,3}\s*$)");
    std::vector<const CodeLiteral*> result;
    for (const auto* literal : literals) {
        if (literal->begin < begin) { continue; }
        if (RE2::PartialMatch(re2::StringPiece(code.data(), literal->begin - begin), equal)) { result.push_back(literal); }
    }
    return result;
}

/// Returns the start of `text`, up to a comma or the end of the surrounding brackets.
std::string_view first_operand(std::string_view text) {
    int open = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (open == 0 && std::string_view("),;]}").find(c) != std::string_view::npos) { return text.substr(0, at); }
        if (std::string_view("([{").find(c) != std::string_view::npos) { ++open; }
        if (std::string_view(")]}").find(c) != std::string_view::npos) { --open; }
    }
    return text;
}

/// True if the same call is on both sides of a comparison, such as `assertEqual(f(1), f(1))`, so no value is expected.
bool compares_with_itself(const Line& line) {
    static const RE2 separator(R"(={2,3}|,)");
    re2::StringPiece found;
    for (std::size_t from = 0; separator.Match(line.code, from, line.code.size(), RE2::UNANCHORED, &found, 1);
         from = static_cast<std::size_t>(found.end() - line.code.data())) {
        const auto begin = static_cast<std::size_t>(found.data() - line.code.data());
        if (found == "," && depth_at(line, begin) != 1) { continue; }
        const auto left = without_margins(line.text.substr(0, begin));
        const auto right = without_margins(first_operand(line.text.substr(begin + found.size())));
        if (right.find('(') != std::string::npos && left.ends_with(right)) { return true; }
    }
    return false;
}

/// True if a call has exactly these literals as arguments, `Equal("a", "b")`: they are the code's input, not expected values.
bool are_all_arguments(std::string_view text, const std::vector<const CodeLiteral*>& literals) {
    static const RE2 parted(R"(\s*,\s*)");
    for (std::size_t at = 1; at < literals.size(); ++at) {
        if (!RE2::FullMatch(text.substr(literals[at - 1]->end, literals[at]->begin - literals[at - 1]->end), parted)) {
            return false;
        }
    }
    return text.substr(0, literals.front()->begin).ends_with('(') && text.substr(literals.back()->end).starts_with(')');
}

/// Returns the largest decimal number, if any. The tolerance is smaller than the expected value.
const CodeLiteral* largest_decimal(const std::vector<const CodeLiteral*>& literals) {
    static const RE2 decimal(R"(\d{1,9}\.\d+)");
    const CodeLiteral* largest = nullptr;
    for (const auto* literal : literals) {
        if (!RE2::FullMatch(literal->value, decimal)) { continue; }
        if (largest == nullptr || std::stod(literal->value) > std::stod(largest->value)) { largest = literal; }
    }
    return largest;
}

/// True if the value at this position is compared for equality: after `==` or `!=` outside every call, or an argument (or an
/// element of one) of an equality assertion.
bool must_be_equal(const Line& line, std::size_t place) {
    static const RE2 compared(R"([^=!<>][=!]={1,2}[^=])");
    static const RE2 equality(R"((?i)(?:(?:_|^|str)eq|equals?|tobe|same|^is)!?$)");
    static const RE2 other(R"((?i)not|almost|near|approx|close)");
    int open = 0;
    for (auto at = place; at-- > 0;) {
        const char c = line.code[at];
        if (c == ')' || c == ']' || c == '}') { ++open; }
        if (c != '(' && c != '[' && c != '{') { continue; }
        if (open > 0) {
            --open;
            continue;
        }
        auto begin = at;
        while (begin > 0 && (std::isalnum(static_cast<unsigned char>(line.code[begin - 1])) != 0 || line.code[begin - 1] == '_' ||
                             line.code[begin - 1] == '!')) {
            --begin;
        }
        if (c != '(' || begin == at) { continue; }  // A list, or brackets around a part.
        const re2::StringPiece called(line.code.data() + begin, at - begin);
        return RE2::PartialMatch(called, equality) && !RE2::PartialMatch(called, other);
    }
    return RE2::PartialMatch(re2::StringPiece(line.code.data(), place), compared);
}

struct OtherLine {
    std::string text;
    bool changed = false;
    bool decisive = false;  ///< As OtherExpectations::decisive.
};

/// The literals of one line that its assertion expects.
class ExpectedLiterals {
public:
    ExpectedLiterals(std::string_view text, const Line& line, std::vector<const CodeLiteral*> all)
        : text_(text),
          line_(line),
          begin_(static_cast<std::size_t>(line.text.data() - text.data())),
          all_(std::move(all)),
          direct_(equated(all_, line.code, begin_)),
          tolerant_(has_tolerance(line)) {
        choose();
        choose_decimal();
    }

    /// Returns the line with another value for each.
    [[nodiscard]] OtherLine altered() const;

private:
    static bool has_tolerance(const Line& line);
    void choose();
    void choose_last_operand();
    [[nodiscard]] bool are_in_one_bracket() const;
    void choose_decimal();
    [[nodiscard]] bool is_decisive(const CodeLiteral& literal) const;

    std::string_view text_;
    const Line line_;
    const std::size_t begin_;  ///< Of the line in the text.
    const std::vector<const CodeLiteral*> all_;
    const std::vector<const CodeLiteral*> direct_;  ///< Those that something is compared with directly.
    const bool tolerant_;                           ///< The line has a tolerance, which accepts more if its value is altered.
    std::vector<const CodeLiteral*> chosen_;
    const CodeLiteral* decimal_ = nullptr;
};

bool ExpectedLiterals::has_tolerance(const Line& line) {
    static const RE2 within(R"((?i)\babs\(|near|approx|close|almost|delta|tolerance|epsilon|places)");
    return RE2::PartialMatch(re2::StringPiece(line.code.data(), line.code.size()), within);
}

void ExpectedLiterals::choose() {
    if (direct_.size() == 1) {
        chosen_ = direct_;
    } else if (!compares_with_itself(line_)) {
        chosen_ = outermost(all_, line_, begin_);
    }
    const bool arguments = chosen_.size() > 1 && depth_at(line_, chosen_.front()->begin - begin_) == 1 && are_in_one_bracket();
    if (arguments && are_all_arguments(text_, chosen_)) { chosen_.clear(); }
    if (chosen_.size() > 1 && !arguments) { choose_last_operand(); }
}

/// False for `f("a") == ["a"]`, where both literals are within brackets, but not within the same ones.
bool ExpectedLiterals::are_in_one_bracket() const {
    for (auto at = chosen_.front()->end - begin_; at < chosen_.back()->begin - begin_; ++at) {
        if (depth_at(line_, at) == 0) { return false; }
    }
    return true;
}

/// Chooses the expected value: the last literal, or an earlier one separated from it only by commas (elements of a list, or a
/// message after the value). Chooses one only, because input and result might still match if both change.
void ExpectedLiterals::choose_last_operand() {
    static const RE2 parted(R"(\s*,\s*)");
    std::size_t expected = chosen_.size() - 1;
    while (
        expected > 0 &&
        RE2::FullMatch(text_.substr(chosen_[expected - 1]->end, chosen_[expected]->begin - chosen_[expected - 1]->end), parted)) {
        --expected;
    }
    chosen_ = {chosen_[expected]};
}

void ExpectedLiterals::choose_decimal() {
    if (direct_.size() == 1 || chosen_.empty()) { return; }
    decimal_ = largest_decimal(tolerant_ ? all_ : chosen_);
    if (decimal_ != nullptr) { chosen_ = {decimal_}; }
}

OtherLine ExpectedLiterals::altered() const {
    OtherLine result{std::string(line_.text)};
    const bool exact = direct_.size() == 1 || decimal_ != nullptr;
    // From right to left, so that positions on the left stay valid.
    for (auto each = chosen_.rbegin(); each != chosen_.rend(); ++each) {
        const CodeLiteral& literal = **each;
        const Line rest{line_.text.substr(0, std::min(line_.text.size(), literal.end - begin_)), line_.code};
        if (const auto other = exact ? other_exact(literal, begin_, rest) : other_expected(literal, begin_, rest)) {
            result.text = other->text + result.text.substr(rest.text.size());
            result.changed = true;
            result.decisive = result.decisive || is_decisive(literal);
        }
    }
    return result;
}

bool ExpectedLiterals::is_decisive(const CodeLiteral& literal) const {
    return direct_.size() == 1 || (tolerant_ && decimal_ != nullptr) || must_be_equal(line_, literal.begin - begin_);
}

OtherLine with_other_values(std::string_view text, const Line& line, std::uint64_t number, const CodeText& read) {
    static const RE2 asserts(R"((?i)==|assert|expect|require|check|\bis\(|\bto(?:be|equal|strictequal)\(|equal|!=)");
    // Imports: with another module name, the file would not load.
    static const RE2 imports(R"(^\s*(?:import|from|export\b.*\bfrom|use|package|#\s*include)\b|=\s*require\()");
    const re2::StringPiece words(line.code.data(), line.code.size());
    if (RE2::PartialMatch(words, imports)) { return {std::string(line.text)}; }
    if (line.text.size() == line.code.size() && RE2::PartialMatch(words, asserts)) {
        std::vector<const CodeLiteral*> literals;
        for (const auto& literal : read.literals) {
            if (literal.line == number) { literals.push_back(&literal); }
        }
        return ExpectedLiterals(text, line, std::move(literals)).altered();
    }
    if (auto row = other_row(line.text)) { return {std::move(*row), true, true}; }
    return {std::string(line.text)};
}

}  // namespace

OtherExpectations with_other_expectations(std::string_view text, const std::set<std::uint64_t>& lines, const CodeRules& rules) {
    if (rules.empty()) { return {}; }
    const auto read = read_code(text, rules);
    const auto blanked = lines_of(read.code);
    const auto written = lines_of(text);
    OtherExpectations result;
    bool changed = false;
    // The next line names the parameters of the rows that follow it: with other names, the file would not load.
    static const RE2 parametrize(R"(\bparametrize\s*\(\s*$)");
    for (std::size_t index = 0; index < written.size(); ++index) {
        const Line line{written[index], blanked[index]};
        const bool names =
            index > 0 && RE2::PartialMatch(re2::StringPiece(blanked[index - 1].data(), blanked[index - 1].size()), parametrize);
        const auto other = lines.contains(index + 1) && !names ? with_other_values(text, line, index + 1, read)
                                                               : OtherLine{std::string(line.text)};
        changed = changed || other.changed;
        result.decisive = result.decisive || other.decisive;
        result.text += other.text + "\n";
    }
    return changed ? result : OtherExpectations{};
}

namespace {

/// True if a line only asserts equality with a literal: `assert f(1) == 2`, `self.assertEqual(f(1), 2)`.
bool is_plain_equality(const Line& line, const std::vector<CodeLiteral>& literals, std::size_t begin) {
    static const RE2 assertion(R"(^\s*assert\s[^=!<>]*[^=!<>\s]\s*==\s*$)");
    static const RE2 words(R"(\b(?:not|and|or|if|for|lambda|is|in)\b)");
    static const RE2 call(R"(^\s*self\.assertEqual\([^=!<>]*[^=!<>\s],\s*$)");
    static const RE2 message(R"(^\s*(?:,.*)?$)");
    static const RE2 closed(R"(^\s*\)\s*$)");
    for (const auto& literal : literals) {
        if (literal.begin < begin || literal.end > begin + line.code.size()) { continue; }
        const re2::StringPiece before(line.code.data(), literal.begin - begin);
        const re2::StringPiece after(line.code.data() + (literal.end - begin), line.code.size() - (literal.end - begin));
        const int depth = depth_at(line, literal.begin - begin);
        if (depth == 0 && RE2::PartialMatch(before, assertion) && !RE2::PartialMatch(before, words) &&
            RE2::PartialMatch(after, message)) {
            return true;
        }
        // With two literals in the assertion's own brackets, `f() + 1, 8`, both are changed and may still match.
        const auto alone = std::ranges::none_of(literals, [&](const CodeLiteral& other) {
            return &other != &literal && other.begin >= begin && other.end <= begin + line.code.size() &&
                   depth_at(line, other.begin - begin) == 1;
        });
        std::size_t commas = 0;
        for (std::size_t at = 0; at < before.size(); ++at) { commas += before[at] == ',' && depth_at(line, at) == 1 ? 1 : 0; }
        if (depth == 1 && alone && commas == 1 && RE2::PartialMatch(before, call) && RE2::PartialMatch(after, closed)) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::set<std::string> asserting_equality(std::string_view text, const std::set<std::uint64_t>& lines, const CodeRules& rules) {
    const auto read = read_code(text, rules);
    const auto written = lines_of(text);
    const auto blanked = lines_of(read.code);
    std::map<std::string, std::pair<std::size_t, bool>>
        functions;  // By name: the number of functions, and whether one of them asserts equality.
    for (const auto& function : function_lines(text, rules)) {
        auto& [count, equating] = functions[function.name];
        ++count;
        // Deeper lines may be inside a condition.
        std::size_t margin = std::string::npos;
        for (auto number = function.first + 1; number <= std::min<std::size_t>(function.last, blanked.size()); ++number) {
            const auto here = blanked[number - 1].find_first_not_of(" \t");
            if (here == std::string_view::npos) { continue; }
            margin = std::min(margin, here);
            if (here != margin || !lines.contains(number)) { continue; }
            const Line line{written[number - 1], blanked[number - 1]};
            equating =
                equating || is_plain_equality(line, read.literals, static_cast<std::size_t>(line.text.data() - text.data()));
        }
    }
    std::set<std::string> names;
    for (const auto& [name, known] : functions) {
        if (known.first == 1 && known.second) { names.insert(name); }
    }
    return names;
}

std::vector<Mutant> choose_mutants(std::vector<std::vector<Mutant>> by_file, std::size_t most) {
    std::erase_if(by_file, [](const auto& mutants) { return mutants.empty(); });
    if (by_file.empty() || most == 0) { return {}; }
    // Each file's share. Files get the unused share of others.
    std::vector<std::vector<Mutant>> spread;
    for (auto& mutants : by_file) {
        std::size_t lines = 1;
        while (lines < mutants.size() && mutants[lines].line > mutants[lines - 1].line) { ++lines; }
        // With more lines than needed, the first round takes every second or third line, so that the end of a long
        // change is also covered.
        const auto step = std::max<std::size_t>(1, (lines + most - 1) / most);
        std::vector<Mutant> order;
        for (std::size_t first = 0; first < step; ++first) {
            for (auto at = first; at < lines; at += step) { order.push_back(std::move(mutants[at])); }
        }
        // Few tests compare a message word for word.
        std::stable_partition(order.begin(), order.end(), [](const Mutant& mutant) { return mutant.rule != another_text; });
        for (auto at = lines; at < mutants.size(); ++at) { order.push_back(std::move(mutants[at])); }
        spread.push_back(std::move(order));
    }
    std::vector<Mutant> result;
    for (std::size_t round = 0; result.size() < most; ++round) {
        const auto before = result.size();
        for (auto& mutants : spread) {
            if (round < mutants.size() && result.size() < most) { result.push_back(std::move(mutants[round])); }
        }
        if (result.size() == before) { break; }
    }
    return result;
}

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
            const auto line = without_margins(lines_[number - 1]);
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
        return without_margins(line.substr(0, at));
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
