// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/line_alterations.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <re2/re2.h>

namespace agentforge::kernel {

namespace {

/// Expands `replace` with groups from the line as written.
std::string filled(const std::string& replace, const CodeLine& line, const std::vector<re2::StringPiece>& groups) {
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

}  // namespace

void alterations_by_rule(const MutationRule& rule, const CodeLine& line, std::vector<Alteration>& found) {
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

std::optional<Alteration> other_literal(const CodeLiteral& literal, std::size_t begin, const CodeLine& line) {
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

std::optional<Alteration> other_expected(const CodeLiteral& literal, std::size_t begin, const CodeLine& line) {
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

std::optional<Alteration> other_exact(const CodeLiteral& literal, std::size_t begin, const CodeLine& line) {
    std::string whole;
    std::string decimals;
    if (!RE2::FullMatch(literal.value, R"((\d{1,9})(\.\d+))", &whole, &decimals)) { return other_expected(literal, begin, line); }
    const auto before = line.text.substr(0, literal.begin - begin);
    return Alteration{"another number", std::string(before) + std::to_string(std::stoll(whole) + 1) + decimals +
                                            std::string(line.text.substr(literal.end - begin))};
}

}  // namespace agentforge::kernel
