// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/mutants.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "gates/test_quality/line_alterations.hpp"

namespace agentforge::kernel {

namespace {

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
        const CodeLine line{written[number - 1], blanked[number - 1]};
        // If the line differs in `code`, it is not code.
        if (line.text != left[number - 1] || line.text.size() != line.code.size() || without_margins(line.code).empty()) {
            continue;
        }
        if (without_margins(line.code).starts_with("__all__")) { continue; }  // Python's list of exported names: no behaviour.
        std::vector<Alteration> found;
        for (const auto& rule : mutations) {
            if (rule.name != another_value && (rule.files.empty() || rule.files.matches(path))) {
                alterations_by_rule(rule, line, found);
            }
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
            mutants.push_back({path, number, each.rule, std::string(without_margins(line.text)),
                               each.description.empty() ? std::string(without_margins(each.text)) : each.description,
                               std::move(content)});
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

}  // namespace agentforge::kernel
