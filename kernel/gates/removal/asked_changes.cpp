// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/asked_changes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "gates/removal/code_vocabulary.hpp"
#include "gates/removal/definitions.hpp"
#include "gates/removal/source_lines.hpp"
#include "gates/removal/statement_kinds.hpp"

namespace agentforge::kernel {

bool makes_nothing_of(const Making& making, const std::vector<ChangedText>& files, const std::vector<std::string>& others,
                      const CodeRules& rules) {
    Vocabulary before;
    Vocabulary now;
    std::multiset<std::string> definitions;
    std::map<std::string, int> texts;
    int branches = 0;
    for (const auto& file : files) {
        const SourceLines old(file.before, rules);
        const SourceLines text(file.now, rules);
        auto words = vocabulary_of(old.bare, rules);
        before.parts.merge(words.parts);
        words = vocabulary_of(text.bare, rules);
        now.names.merge(words.names);
        now.parts.merge(words.parts);
        if (!file.is_source) { continue; }
        const auto count = [](const std::vector<std::string>& lines) {
            return static_cast<int>(std::ranges::count_if(lines, decides_between));
        };
        branches += count(text.blanked) - count(old.blanked);
        for (const auto& literal : read_code(text.bare, rules).literals) { texts[literal.value] += is_text(literal) ? 1 : 0; }
        for (const auto& literal : read_code(old.bare, rules).literals) { texts[literal.value] -= is_text(literal) ? 1 : 0; }
        for (const auto& each : definitions_of(text, rules)) { definitions.insert(each.name); }
    }
    for (const auto& file : files) {
        if (!file.is_source) { continue; }
        for (const auto& each : definitions_of(SourceLines(file.before, rules), rules)) {
            if (const auto same = definitions.find(each.name); same != definitions.end()) { definitions.erase(same); }
        }
    }
    for (const auto& text : others) {
        auto words = vocabulary_of(without_comments(text, rules), rules);
        before.parts.merge(words.parts);
        now.names.merge(words.names);
    }
    if (std::ranges::any_of(making.calls, [&](const std::string& name) { return !now.names.contains(name); })) { return true; }
    if (!definitions.empty() || branches > 0) { return false; }
    if (std::ranges::any_of(texts, [](const auto& each) { return each.second > 0; })) { return false; }
    return std::ranges::none_of(
        making.words, [&](const std::string& word) { return now.parts.contains(word) && !before.parts.contains(word); });
}

std::string function_left_out(const RemovalRequest& request, const std::vector<ChangedText>& files,
                              const std::vector<std::string>& others, const CodeRules& rules) {
    std::map<std::string, std::string> before;
    std::map<std::string, std::string> now;
    const auto add = [&](const std::string& text, std::map<std::string, std::string>& codes) {
        const SourceLines read(text, rules);
        for (const auto& function : read.functions) {
            if (!request.names(function.name) || request.is_kept(function.name)) { continue; }
            const std::string code = code_of_functions(read, function.name);
            // Without a semicolon, the lines before a function seem to belong to it.
            codes[function.name] = code.substr(std::min(code.find(function.name), code.size()));
        }
    };
    for (const auto& file : files) {
        if (!file.is_source) { continue; }
        add(file.before, before);
        add(file.now, now);
    }
    for (const auto& text : others) {
        add(text, before);
        add(text, now);
    }
    std::set<std::string> lost;  // Parts of what is to go that another named function no longer has.
    for (const auto& [name, code] : before) {
        const auto left = vocabulary_of(now[name], rules).parts;
        for (const auto& part : vocabulary_of(code, rules).parts) {
            if (request.is_object(part) && !left.contains(part)) { lost.insert(part); }
        }
    }
    for (const auto& [name, code] : now) {
        if (code.empty() || before[name] != code) { continue; }
        const auto parts = vocabulary_of(code, rules).parts;
        if (std::ranges::any_of(lost, [&](const std::string& part) { return parts.contains(part); })) { return name; }
    }
    return {};
}

}  // namespace agentforge::kernel
