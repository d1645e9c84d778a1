// SPDX-License-Identifier: Apache-2.0
// Runs an agent for the current stage of a task.
#pragma once

#include <agentforge/stage.hpp>

#include "pipeline/stage_clock.hpp"
#include "pipeline/task_services.hpp"
#include "pipeline/task_session.hpp"
#include "pipeline/task_workspace.hpp"
#include "servers/server_pool.hpp"

namespace agentforge::kernel {

/// Runs `run` for the current stage of the session's task, as the `number`-th agent run of this visit. `review` marks a
/// reviewer's run. Servers of the role's tools come from `servers`, which lives as long as the stage's visit. Errors: AF-AGENT-…,
/// AF-LLM-…, AF-ORCH-…; cancelled; timeout AF-ORCH-002.
[[nodiscard]] Result<AgentOutcome> run_role(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services,
                                            StageClock& clock, const AgentRun& run, unsigned number, bool review,
                                            ServerPool& servers);

}  // namespace agentforge::kernel
