// SPDX-License-Identifier: Apache-2.0
// Delivery: one last gate on the very tree that is committed, the user's commit hooks, then the commit (or the patch), and what
// is done with it.
#pragma once

#include "pipeline/services.hpp"
#include "pipeline/session.hpp"
#include "pipeline/workspace.hpp"

namespace agentforge::kernel {

/// Measures the deliver gate on the recorded tree and, only if it passes, delivers that tree as `delivery.type` says:
///   commit   one commit on the branch `agentforge/<task-id>`, with the task's id and the journal's head as trailers;
///   branch   the same on a branch that `delivery.branch` names;
///   files    `artifacts/delivery/change.patch` of the task's folder, for `git apply` and `agentforge apply`; git gets nothing;
///   pr       as branch, then pushed, and a pull request opened where that can be done.
/// The user's commit hooks run on it first, as a gate named `hooks` (not for files: nothing is committed). What a pre-commit hook
/// stages itself (a formatter) is taken in, measured again, and must then be left alone. Each part that was done before a crash
/// is found and not done twice. Errors: AF-ORCH-030 the gate does not pass, AF-ORCH-031 nothing changed; AF-GIT-047 a hook
/// refuses, AF-GIT-058 one could not run, AF-GIT-059 one refuses the message, AF-GIT-048 hooks change the tree every time;
/// AF-GIT-041 it cannot be signed, AF-GIT-044 it cannot be pushed (both pause the task); AF-GIT-….
[[nodiscard]] Result<Delivery> deliver_task(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services,
                                            StageClock& clock, const DeliveryRequest& request);

/// Whether a part of a set can be delivered so. Errors: `unavailable` AF-SET-012 it would leave no branch, at `where`; `then`
/// ends the remedy.
[[nodiscard]] Result<void> check_leaves_branch(const DeliverySettings& settings, const std::string& where,
                                               const std::string& then);

/// What contracts may name of a delivery: deliverable_type, commit_sha, branch, patch_file, pr_url, signed, commit_hooks, drift.
[[nodiscard]] json::object delivered_facts(const TaskState& state);

/// The message with the journal's head as its trailer, in place of an older one: the head is anchored in the commit, outside the
/// task's folder, so that a cut tail shows, whatever a hook made of the message.
[[nodiscard]] std::string with_newest_head(std::string message, const JournalHead& head);

/// The hooks' verdict on a tree, as a report of the gate `hooks`; the caller journals it. `order.message` and `order.tree` become
/// what the hooks made of them.
struct HookVerdict {
    bool ran = false;
    bool changed_tree = false;
    bool refuses_message = false;  ///< What was refused is the message.
    bool could_not_run = false;    ///< It says nothing about the change: a program that it calls is missing, it took too long, or
                                   ///< it refuses the commit before the task, too.
    GateReport report;
};
[[nodiscard]] Result<HookVerdict> judge_hooks(TaskWorkspace& task_workspace, TaskServices& services, HookOrder& order,
                                              const Stop& stop);
/// AF-GIT-047 where a hook refuses the change; AF-GIT-058 where it could not run and AF-GIT-059 where it refuses the message,
/// which pause the task.
[[nodiscard]] Error hook_refusal(const HookVerdict& verdict, const std::string& consequence);

}  // namespace agentforge::kernel
