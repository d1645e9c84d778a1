// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/replaced_checks.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <re2/re2.h>

#include "gates/language/string_piece.hpp"
#include "gates/removal/code_vocabulary.hpp"
#include "gates/removal/definitions.hpp"
#include "gates/removal/statement_kinds.hpp"
#include "gates/test_quality/changed_line.hpp"

namespace agentforge::kernel {
namespace {

/// True if a line decides whether the rest runs, or ends with an error.
bool is_check(std::string_view blanked) {
    static const RE2 passes_on(R"(\breturn\b.*\berr\b)");
    return decides_between(blanked) || raises(blanked) || RE2::PartialMatch(string_piece(blanked), passes_on);
}

std::multiset<std::string> words_of(std::string_view blanked) {
    std::multiset<std::string> words;
    for (auto& name : names_of_code(blanked)) {
        if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) { words.insert(std::move(name)); }
    }
    return words;
}

/// True if the request mentions a word, a number or a text that is new in the line.
bool is_asked(const RemovalRequest& request, std::string_view before, std::string_view now) {
    static const RE2 word(R"(([A-Za-z_]+|\d+))");
    for (const auto& difference : line_differences(before, now)) {
        auto rest = string_piece(difference.now);
        std::string found;
        while (RE2::FindAndConsume(&rest, word, &found)) {
            if (request.mentions(found) || request.names(found)) { return true; }
        }
    }
    return false;
}

/// True if these lines have a text that no code has any more.
bool loses_text(const SourceLines& text, const std::vector<std::size_t>& lines, const std::set<std::string>& names_now) {
    static const RE2 literal(R"(("[^"]+"|'[^']+'|`[^`]+`))");
    for (const auto line : lines) {
        auto rest = string_piece(text.code[line]);
        std::string found;
        while (RE2::FindAndConsume(&rest, literal, &found)) {
            if (!names_now.contains(found)) { return true; }
        }
    }
    return false;
}

/// True if fewer of its lines are checks now.
bool loses_checks(const SourceLines& before, const SourceLines& now, const Hunk& hunk) {
    const auto checks = [](const SourceLines& text, const std::vector<std::size_t>& lines) {
        return std::ranges::count_if(lines, [&](std::size_t line) { return is_check(text.blanked[line]); });
    };
    return checks(before, hunk.removed) > checks(now, hunk.added);
}

}  // namespace

std::vector<Hunk> replaced_checks(const SourceLines& before, const SourceLines& now, const Hunk& hunk,
                                  const std::set<std::string>& names_now, const RemovalRequest& request) {
    const auto* function = function_around(before, hunk.removed.front());
    if (function == nullptr || code_of_functions(now, function->name).empty()) { return {}; }
    std::vector<Hunk> found;
    auto rest = unpaired_lines(before, now, hunk);
    rest.added = hunk.added;
    for (const auto& [one, other] : alike_lines(before, now, hunk.removed, hunk.added)) {
        std::erase(rest.added, other);
        const auto& was = before.blanked[one];
        const auto& is = now.blanked[other];
        const bool same = bare_line(before.code[one]) == bare_line(now.code[other]);
        const bool is_condition = decides_between(was) && decides_between(is) && words_of(was) == words_of(is);
        const bool is_lost = is_check(was) && !is_check(is);
        if (same || (!is_condition && !is_lost) || is_asked(request, before.code[one], now.code[other])) { continue; }
        found.push_back({{one}, {other}, other == 0 ? no_line : other - 1, other + 1});
    }
    if (rest.removed.empty() || !loses_checks(before, now, rest)) { return found; }
    constexpr std::size_t few = 3;
    const bool replaced = !rest.added.empty() && rest.added.size() <= few && rest.removed.size() <= few;
    const bool raised = std::ranges::any_of(rest.removed, [&](std::size_t line) { return raises(before.blanked[line]); });
    if (replaced || (raised && loses_text(before, rest.removed, names_now))) { found.push_back(std::move(rest)); }
    return found;
}

}  // namespace agentforge::kernel
