// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/hunk.hpp"

#include <algorithm>

#include "gates/removal/code_vocabulary.hpp"
#include "gates/removal/statement_kinds.hpp"
#include "gates/test_quality/changed_line.hpp"

namespace agentforge::kernel {

std::size_t place_of(const Hunk& hunk) {
    if (!hunk.added.empty()) { return hunk.added.front(); }
    if (hunk.after != no_line) { return hunk.after + 1; }
    return hunk.until == no_line ? 0 : hunk.until;
}

std::vector<std::pair<std::size_t, std::size_t>> alike_lines(const SourceLines& before, const SourceLines& now,
                                                             const std::vector<std::size_t>& removed,
                                                             const std::vector<std::size_t>& added) {
    constexpr double alike = 0.6;
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    auto from = removed.begin();
    for (const auto number : added) {
        const auto same = std::find_if(
            from, removed.end(), [&](std::size_t line) { return line_similarity(before.code[line], now.code[number]) >= alike; });
        if (same == removed.end()) { continue; }
        pairs.emplace_back(*same, number);
        from = same + 1;
    }
    return pairs;
}

bool stay_in_place(const SourceLines& before, const SourceLines& now, const Hunk& hunk) {
    const auto pairs = alike_lines(before, now, hunk.removed, hunk.added);
    return !pairs.empty() && std::ranges::none_of(pairs, [&](const auto& pair) {
        return bare_line(before.code[pair.first]) == bare_line(now.code[pair.second]);
    });
}

std::vector<std::vector<std::size_t>> apart_from_calls(const SourceLines& before, const Hunk& hunk,
                                                       const std::set<std::string>& functions) {
    std::vector<std::vector<std::size_t>> parts;
    if (!hunk.added.empty() || functions.empty()) { return {hunk.removed}; }
    std::size_t margin = std::string::npos;
    for (const auto number : hunk.removed) { margin = std::min(margin, margin_of(before.code[number])); }
    bool alone = true;
    for (const auto number : hunk.removed) {
        const auto& line = before.blanked[number];
        const auto names = names_of_code(line);
        const bool calls = margin_of(before.code[number]) == margin && bracket_balance(line) == 0 && !decides(line) &&
                           std::ranges::any_of(names, [&](const auto& name) { return functions.contains(name); });
        if (calls || alone) { parts.emplace_back(); }
        parts.back().push_back(number);
        alone = calls;
    }
    return parts;
}

Hunk unpaired_lines(const SourceLines& before, const SourceLines& now, const Hunk& hunk) {
    Hunk result = hunk;
    result.added.clear();
    for (const auto& [one, other] : alike_lines(before, now, hunk.removed, hunk.added)) {
        std::erase(result.removed, one);
        if (result.removed.empty() || one < result.removed.front()) { result.after = other; }
    }
    if (result.after == no_line && !hunk.added.empty()) { result.until = hunk.added.front(); }
    return result;
}

}  // namespace agentforge::kernel
