// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/altered_results.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <re2/re2.h>

#include "gates/test_quality/line_alterations.hpp"

namespace agentforge::kernel {

namespace {

/// Replaces a result that is a single literal with another literal. A neutral value of the other rules might equal this literal.
std::optional<std::string> other_literal_result(const CodeLine& line, std::size_t begin,
                                                const std::vector<CodeLiteral>& literals) {
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
bool is_neutral_result(const CodeLine& line) {
    static const RE2 neutral(
        R"(^\s*(?:return\s+)?(?:None|nil|null|nullptr|std::nullopt|[\w:]*(?:<.*>)?\{\}|[\w:<>]+::(?:new|default)\(\)|vec!\[\]|std::\w+(?:<.*>)?\(\))\s*;?\s*$)");
    return RE2::FullMatch(re2::StringPiece(line.code.data(), line.code.size()), neutral);
}

/// Alters a line that returns a result, once for each kind of value. Empty if the line returns none.
std::vector<Alteration> other_results(const std::string& path, const CodeLine& line, std::size_t begin, const CodeText& read,
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
            alterations_by_rule(rule, line, by_this);
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
    return {function, first, std::string(without_margins(line)),
            shown.description.empty() ? std::string(without_margins(shown.text)) : shown.description,
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
            const CodeLine line{written[number - 1], blanked[number - 1]};
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

}  // namespace agentforge::kernel
