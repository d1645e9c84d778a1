// SPDX-License-Identifier: Apache-2.0
// One agent run inside a task: makes its steps durable, its writes recorded, its `complete` verified.
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

/// Runs `run` for the current stage of the session's task as its `number`-th agent run of this visit.
/// `review` marks a reviewer's run; servers of the role's tools are taken from `servers`, which lives as long as the stage's
/// visit. Errors: AF-AGENT-…, AF-LLM-…, AF-ORCH-…; cancelled; timeout AF-ORCH-002.
[[nodiscard]] Result<AgentOutcome> run_role(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services,
                                            StageClock& clock, const AgentRun& run, unsigned number, bool review,
                                            ServerPool& servers);

/// Whether system prompt and tools of the stage's agent and reviewers leave a context its room, so that a task that could not be
/// done is not begun. Tools of servers and of plugins that are not the product's are not known before they run, and not counted.
/// Errors: AF-AGENT-013, and of the agents, contracts and models.
[[nodiscard]] Result<void> check_prompts_fit(const TaskServices& services, const StageTemplate& stage,
                                             const std::string& request);

/// Where a plugin's process runs that is a stage: it reads the workspace and writes scratch only, since a stage's writes are
/// calls of its host.
[[nodiscard]] ServerPlace stage_process_place(TaskWorkspace& task_workspace, const TaskServices& services);

/// Runs a program with a role's rights. Returns what it did and the files it wrote; a write beyond the role's rights is
/// taken back, recorded as `violation` and an Error AF-ORCH-026.
[[nodiscard]] Result<std::pair<ProcessResult, std::vector<Change>>> run_process_as_role(TaskSession& session,
                                                                                        TaskWorkspace& task_workspace,
                                                                                        TaskServices& services,
                                                                                        const std::string& role,
                                                                                        const ProcessSpec& spec);

}  // namespace agentforge::kernel
