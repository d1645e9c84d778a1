// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/hunk_finder.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gates/removal/kept_lines.hpp"
#include "gates/removal/statement_kinds.hpp"

namespace agentforge::kernel {

HunkFinder::HunkFinder(const SourceLines& before, const SourceLines& now, const std::vector<bool>& skipped_before,
                       const std::vector<bool>& skipped_now)
    : before_(before), now_(now), skipped_(skipped_before) {
    const auto add = [](const SourceLines& text, const std::vector<bool>& skipped, std::vector<std::size_t>& numbers,
                        std::vector<std::string>& lines) {
        for (std::size_t at = 0; at < text.code.size(); ++at) {
            if (skipped[at] || text.code[at].empty()) { continue; }
            numbers.push_back(at);
            lines.push_back(text.code[at]);
        }
    };
    add(before, skipped_before, old_numbers_, old_);
    add(now, skipped_now, new_numbers_, new_);
    kept_ = kept_lines(old_, new_, kept_now_);
    slide();
}

std::vector<std::size_t> HunkFinder::kept_places() const {
    std::vector<std::size_t> places(before_.code.size(), no_line);
    std::size_t in_new = 0;
    for (std::size_t in_old = 0; in_old < old_.size(); ++in_old) {
        if (!kept_[in_old]) { continue; }
        while (in_new < new_.size() && !kept_now_[in_new]) { ++in_new; }
        if (in_new < new_.size()) { places[old_numbers_[in_old]] = new_numbers_[in_new++]; }
    }
    return places;
}

std::vector<Hunk> HunkFinder::find() const {
    std::vector<Hunk> hunks;
    std::size_t in_old = 0;
    std::size_t in_new = 0;
    std::size_t last = no_line;
    while (in_old < old_.size() || in_new < new_.size()) {
        Hunk hunk;
        hunk.after = last;
        while (in_old < old_.size() && !kept_[in_old]) { hunk.removed.push_back(old_numbers_[in_old++]); }
        while (in_new < new_.size() && !kept_now_[in_new]) { hunk.added.push_back(new_numbers_[in_new++]); }
        if (in_new < new_.size()) { hunk.until = new_numbers_[in_new]; }
        if (!hunk.removed.empty()) { add_parts(std::move(hunk), hunks); }
        if (in_old >= old_.size() || in_new >= new_.size()) {
            if (in_old >= old_.size() && in_new >= new_.size()) { break; }
            continue;
        }
        last = new_numbers_[in_new];
        ++in_old;
        ++in_new;
    }
    return hunks;
}

std::vector<Hunk> HunkFinder::statements(const Hunk& hunk) const {
    std::vector<Hunk> parts;
    if (!hunk.removed.empty()) { add_statements(hunk, parts); }
    return parts;
}

void HunkFinder::slide() {
    for (std::size_t begin = 0; begin < kept_.size(); ++begin) {
        if (kept_[begin] || (begin > 0 && !kept_[begin - 1])) { continue; }
        auto first = begin;
        auto end = begin;
        while (end < kept_.size() && !kept_[end]) { ++end; }
        while (closes_a_block(old_[first]) && end < kept_.size() && kept_[end] && old_[first] == old_[end]) {
            kept_[first++] = true;
            kept_[end++] = false;
        }
        while (closes_a_block(old_[first]) && first > 0 && kept_[first - 1] && old_[first - 1] == old_[end - 1]) {
            kept_[--first] = false;
            kept_[--end] = true;
        }
        begin = end;
    }
}

void HunkFinder::add_parts(Hunk hunk, std::vector<Hunk>& hunks) const {
    std::vector<std::size_t> partners;  // For each added line, the index of the removed line that it was.
    for (const auto number : hunk.added) {
        auto at = partners.empty() ? 0 : partners.back() + 1;
        while (at < hunk.removed.size() && !adds_no_words(now_.code[number], before_.code[hunk.removed[at]])) { ++at; }
        if (at == hunk.removed.size() || bare_line(now_.code[number]) == bare_line(before_.code[hunk.removed[at]])) {
            return hunks.push_back(std::move(hunk));
        }
        partners.push_back(at);
    }
    std::size_t done = 0;
    auto after = hunk.after;
    for (std::size_t at = 0; at <= hunk.added.size(); ++at) {
        const auto end = at < partners.size() ? partners[at] : hunk.removed.size();
        const auto until = at < hunk.added.size() ? hunk.added[at] : hunk.until;
        Hunk removed{
            {hunk.removed.begin() + static_cast<std::ptrdiff_t>(done), hunk.removed.begin() + static_cast<std::ptrdiff_t>(end)},
            {},
            after,
            until};
        if (!removed.removed.empty()) { add_statements(removed, hunks); }
        if (at == hunk.added.size()) { break; }
        hunks.push_back({{hunk.removed[end]}, {hunk.added[at]}, after, until});
        after = hunk.added[at];
        done = end + 1;
    }
}

void HunkFinder::add_statements(const Hunk& hunk, std::vector<Hunk>& hunks) const {
    std::vector<Hunk> parts;
    for (auto begin = hunk.removed.begin(); begin != hunk.removed.end();) {
        const auto* function = function_around(before_, *begin);
        const auto end =
            std::find_if(begin, hunk.removed.end(), [&](std::size_t line) { return function_around(before_, line) != function; });
        add_statements_of(function, {begin, end}, hunk, parts);
        begin = end;
    }
    std::ranges::move(parts, std::back_inserter(hunks));
}

void HunkFinder::add_statements_of(const FunctionLines* function, const std::vector<std::size_t>& numbers, const Hunk& hunk,
                                   std::vector<Hunk>& parts) const {
    std::size_t margin = std::string::npos;
    for (const auto number : numbers) { margin = std::min(margin, margin_of(before_.code[number])); }
    int open = 0;
    bool decided = false;
    bool first = true;
    for (const auto number : numbers) {
        const auto& line = before_.blanked[number];
        const bool begins = open <= 0 && margin_of(before_.code[number]) == margin && !closes_a_block(before_.code[number]);
        const bool apart = first || separated(parts.back().removed.back(), number);
        if (apart || (begins && (decided || decides(line) || function == nullptr))) {
            parts.push_back({{}, {}, hunk.after, hunk.until});
            decided = begins && decides(line);
        }
        first = false;
        parts.back().removed.push_back(number);
        open += bracket_balance(line);
    }
}

bool HunkFinder::separated(std::size_t one, std::size_t other) const {
    for (auto at = one + 1; at < other; ++at) {
        if (skipped_[at]) { return true; }
    }
    return false;
}

}  // namespace agentforge::kernel
