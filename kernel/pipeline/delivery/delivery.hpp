// SPDX-License-Identifier: Apache-2.0
// Delivers a task: runs the last gate on the tree to commit, runs the user's commit hooks, makes the commit or the patch, and
// publishes it.
#pragma once

#include "pipeline/stage_clock.hpp"
#include "pipeline/task_services.hpp"
#include "pipeline/task_session.hpp"
#include "pipeline/task_workspace.hpp"

namespace agentforge::kernel {

/// Runs the deliver gate on the recorded tree. If it passes, delivers that tree by `delivery.type`:
///   commit   one commit on the branch `agentforge/<task-id>`, with the task's id and the journal's head as trailers;
///   branch   the same on a branch that `delivery.branch` names;
///   files    `artifacts/delivery/change.patch` of the task's folder, for `git apply` and `agentforge apply`; makes no commit;
///   pr       as branch, then pushed, with a pull request if `gh` or `glab` is available.
/// Before a commit, runs the user's commit hooks as a gate named `hooks`. Files that a hook stages (a formatter) are included and
/// measured again; the hooks must then change nothing. After a crash, does not repeat finished steps. Errors: AF-ORCH-030 the
/// gate does not pass, AF-ORCH-031 nothing changed; AF-GIT-047 a hook refuses, AF-GIT-058 one could not run, AF-GIT-059 one
/// refuses the message, AF-GIT-048 hooks change the tree every time; AF-GIT-041 it cannot be signed, AF-GIT-044 it cannot be
/// pushed (both pause the task); AF-GIT-….
[[nodiscard]] Result<Delivery> deliver_task(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services,
                                            StageClock& clock, const DeliveryRequest& request);

/// Checks that the settings deliver a branch, as a part of a set must. Errors: `unavailable` AF-SET-012 they do not. `where`: the
/// error's place; `then`: the end of its remedy.
[[nodiscard]] Result<void> check_leaves_branch(const DeliverySettings& settings, const std::string& where,
                                               const std::string& then);

/// Returns the facts about a delivery that contracts may name: deliverable_type, commit_sha, branch, patch_file, pr_url, signed,
/// commit_hooks, drift.
[[nodiscard]] json::object delivered_facts(const TaskState& state);

/// Returns the message with exactly one trailer for the task and one for the journal's head, and with LF as line ends: hooks may
/// have changed it. The commit is outside the task's folder, so the trailer reveals a truncated journal.
[[nodiscard]] std::string with_trailers(std::string_view message, std::string_view task_id, const JournalHead& head);

/// The hooks' verdict on a tree, as a report of the gate `hooks`. The caller records it. Sets `order.message` and `order.tree` to
/// the hooks' versions.
struct HookVerdict {
    bool ran = false;
    bool changed_tree = false;
    bool refuses_message = false;  ///< A hook refused the message, not the change.
    bool could_not_run = false;    ///< The verdict is not about the change: a hook lacks a program, took too long, or also
                                   ///< refuses the commit before the task.
    GateReport report;
};
[[nodiscard]] Result<HookVerdict> judge_hooks(TaskWorkspace& task_workspace, TaskServices& services, HookOrder& order,
                                              const Stop& stop);
/// Returns AF-GIT-047 if a hook refuses the change, AF-GIT-058 if it could not run, or AF-GIT-059 if it refuses the message;
/// the last two pause the task.
[[nodiscard]] Error hook_refusal(const HookVerdict& verdict, const std::string& consequence);

}  // namespace agentforge::kernel
