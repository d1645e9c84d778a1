// SPDX-License-Identifier: Apache-2.0
// Programs that run with a role's rights: their sandbox, their output, their writes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <agentforge/host.hpp>

#include "pipeline/task_services.hpp"
#include "pipeline/task_session.hpp"
#include "pipeline/task_workspace.hpp"
#include "sandbox/process_runner.hpp"
#include "servers/server_pool.hpp"
#include "tools/workspace/role_workspace.hpp"

namespace agentforge::kernel {

/// Returns the top-level entries of the workspace that the role may write, for confinement: Landlock takes folders, not globs.
/// Comparing the trees afterwards (`accept_writes`) finds writes inside them that a pattern forbids.
[[nodiscard]] std::vector<std::string> writable_entries(RoleWorkspace& workspace, const std::string& root);

/// Returns a subprocess's result as a tool or stage sees it: without secrets, in UTF-8.
[[nodiscard]] ProcessResult process_result_of(const ProcessOutcome& outcome, const Redactor& redactor);

/// Returns the sandbox of a stage plugin's process: it reads the workspace and writes only scratch, because a stage writes by
/// calls of its host.
[[nodiscard]] ServerPlace stage_process_place(TaskTrees& trees, const TaskServices& services);

/// Runs a program with the role's rights. Undoes and records writes since `tree` that the role may not make: path rules bind
/// every tool. Returns the allowed writes. Errors: those of `accept_writes` and of the sandbox.
[[nodiscard]] Result<std::pair<ProcessResult, std::vector<Change>>> run_confined(TaskSession& session,
                                                                                 TaskWorkspace& task_workspace,
                                                                                 TaskServices& services, RoleWorkspace& workspace,
                                                                                 const RecordAgent& who, const std::string& tree,
                                                                                 const ProcessSpec& spec);

/// Runs a program with a role's rights. Returns its result and the files it wrote. A write beyond the role's rights is undone,
/// recorded as `violation`, and returned as Error AF-ORCH-026.
[[nodiscard]] Result<std::pair<ProcessResult, std::vector<Change>>> run_process_as_role(TaskSession& session,
                                                                                        TaskWorkspace& task_workspace,
                                                                                        TaskServices& services,
                                                                                        const std::string& role,
                                                                                        const ProcessSpec& spec);

}  // namespace agentforge::kernel
