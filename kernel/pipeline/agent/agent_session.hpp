// SPDX-License-Identifier: Apache-2.0
// One agent run inside a task: makes its steps durable, records its writes, verifies its `complete`.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "agent/runner.hpp"
#include "pipeline/measure.hpp"
#include "pipeline/services.hpp"
#include "pipeline/session.hpp"
#include "pipeline/workspace.hpp"
#include "servers/pool.hpp"

namespace agentforge::kernel {

/// Runs `run` for the current stage of the session's task, as the `number`-th agent run of this visit. `review` marks a
/// reviewer's run. Servers of the role's tools come from `servers`, which lives as long as the stage's visit. Errors: AF-AGENT-…,
/// AF-LLM-…, AF-ORCH-…; cancelled; timeout AF-ORCH-002.
[[nodiscard]] Result<AgentOutcome> run_role(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services,
                                            StageClock& clock, const AgentRun& run, unsigned number, bool review,
                                            ServerPool& servers);

/// Checks that the system prompt and the tools of the stage's agent and reviewers leave room in the context, before a task that
/// cannot succeed begins. Does not count tools of servers and of plugins from elsewhere: they are unknown until they run. Errors:
/// AF-AGENT-013, and those of the agents, contracts and models.
[[nodiscard]] Result<void> check_prompts_fit(const TaskServices& services, const StageTemplate& stage,
                                             const std::string& request);

/// Returns the sandbox of a stage plugin's process: it reads the workspace and writes only scratch, because a stage writes by
/// calls of its host.
[[nodiscard]] ServerPlace stage_process_place(TaskWorkspace& task_workspace, const TaskServices& services);

/// Runs a program with a role's rights. Returns its result and the files it wrote. A write beyond the role's rights is taken
/// back, recorded as `violation`, and returned as Error AF-ORCH-026.
[[nodiscard]] Result<std::pair<ProcessResult, std::vector<Change>>> run_process_as_role(TaskSession& session,
                                                                                        TaskWorkspace& task_workspace,
                                                                                        TaskServices& services,
                                                                                        const std::string& role,
                                                                                        const ProcessSpec& spec);

}  // namespace agentforge::kernel
