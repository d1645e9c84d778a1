// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/filled_skeletons.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace agentforge::kernel {
namespace {

/// A function's lines, and whether it has the marker.
struct MarkedFunction {
    FunctionLines lines;
    bool is_marked = false;
};

std::map<std::string, std::vector<MarkedFunction>> functions_by_name(std::string_view text, const CodeRules& rules,
                                                                     const std::string& marker) {
    const auto lines = lines_of(text);
    std::map<std::string, std::vector<MarkedFunction>> functions;
    for (const auto& function : function_lines(text, rules)) {
        bool is_marked = false;
        for (auto number = function.first; number <= std::min<std::uint64_t>(function.last, lines.size()); ++number) {
            is_marked = is_marked || lines[number - 1].find(marker) != std::string_view::npos;
        }
        functions[function.name].push_back({function, is_marked});
    }
    return functions;
}

}  // namespace

std::set<std::uint64_t> lines_of_filled_skeletons(std::string_view before, std::string_view now, const CodeRules& rules,
                                                  const std::string& marker) {
    std::set<std::uint64_t> numbers;
    if (marker.empty() || before.find(marker) == std::string_view::npos) { return numbers; }
    auto filled = functions_by_name(now, rules, marker);
    for (const auto& [name, skeletons] : functions_by_name(before, rules, marker)) {
        const auto& functions = filled[name];
        if (functions.size() != skeletons.size()) { continue; }
        for (std::size_t at = 0; at < functions.size(); ++at) {
            if (!skeletons[at].is_marked || functions[at].is_marked) { continue; }
            const auto& lines = functions[at].lines;
            for (auto number = lines.first; number <= lines.last; ++number) { numbers.insert(number); }
        }
    }
    return numbers;
}

}  // namespace agentforge::kernel
