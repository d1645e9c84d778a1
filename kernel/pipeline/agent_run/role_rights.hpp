// SPDX-License-Identifier: Apache-2.0
// The files that a role may write in a task.
#pragma once

#include <agentforge/result.hpp>

#include "config/agent_set.hpp"
#include "pipeline/task_gates.hpp"
#include "pipeline/task_services.hpp"
#include "pipeline/task_session.hpp"
#include "tools/path_rules.hpp"

namespace agentforge::kernel {

/// Returns the role's path rules in this task: those of its definition, and the locked tests and the files that the specification
/// names. Errors: those of RolePaths::make and of the artifacts.
[[nodiscard]] Result<RolePaths> role_paths(const TaskSession& session, TaskGates& gates, const AgentDefinition& agent);

/// Returns rules that forbid all writes. `why` names them in the error.
[[nodiscard]] Result<RolePaths> no_paths(const AgentDefinition& agent, std::string_view why);

/// True if the role has a tool that writes: path rules alone would let a role without one write. A server's tool counts if the
/// server may write.
[[nodiscard]] bool has_writing_tool(const TaskServices& services, const AgentDefinition& agent);

}  // namespace agentforge::kernel
