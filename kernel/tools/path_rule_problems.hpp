// SPDX-License-Identifier: Apache-2.0
// Checks the path rules of a role before a task needs them.
#pragma once

#include <vector>

#include <agentforge/result.hpp>

#include "config/agent_set.hpp"

namespace agentforge::kernel {

/// Returns one AF-TOOL-020 for each rule of the role that a task could not use, with the rule's file and line in `where`.
[[nodiscard]] std::vector<Error> path_rule_problems(const AgentDefinition& agent);

}  // namespace agentforge::kernel
