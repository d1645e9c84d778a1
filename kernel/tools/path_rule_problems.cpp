// SPDX-License-Identifier: Apache-2.0
#include "tools/path_rule_problems.hpp"

#include "base/text.hpp"
#include "tools/path_rules.hpp"

namespace agentforge::kernel {

std::vector<Error> path_rule_problems(const AgentDefinition& agent) {
    std::vector<Error> problems;
    for (const auto& [tool, text] : agent.path_constraints) {
        const auto rule = PathRule::parse(text);
        if (rule.ok()) { continue; }
        Error problem = rule.error();
        problem.message = "path rule of `" + ellipsis(tool, 80) + "`, role " + agent.role + ": " + problem.message;
        const auto place = agent.path_constraint_places.find(tool);
        problem.where = place == agent.path_constraint_places.end() ? agent.source : place->second;
        problems.push_back(std::move(problem));
    }
    return problems;
}

}  // namespace agentforge::kernel
