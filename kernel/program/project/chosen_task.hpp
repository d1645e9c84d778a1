// SPDX-License-Identifier: Apache-2.0
// Finds the task that a command is about if the user named none.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "aggregate/overview.hpp"
#include "program/program.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// The help of TASK for commands that only read, and for commands that change something.
inline constexpr const char* newest_task_help = "The task's id, or a unique part (default: the newest task)";
inline constexpr const char* only_task_help = "The task's id, or a unique part (default: the only suitable task)";

inline constexpr const char* newest_running_help = "The task's id, or a unique part (default: the newest task that runs)";

/// Expands `named` as TaskStore::resolve does. The error says so if the task is in another worktree of the repository, or only in
/// the archive.
[[nodiscard]] Result<std::string> resolve_task(const TaskStore& tasks, const std::string& named);
/// Returns the error that says so if this task is in another worktree of the repository.
[[nodiscard]] std::optional<Error> in_another_worktree(const TaskStore& tasks, const std::string& named);
/// Returns another checkout of the repository that has tasks. Empty if none has.
[[nodiscard]] std::string checkout_with_tasks(const TaskStore& tasks);
/// Says on `err` which task an abbreviation named, for commands that change something.
void say_which(Program& program, const std::string& named, const std::string& task_id);

/// Expands `named`. If it is empty, returns the newest task and names it on `err`. Errors: those of resolve_task; `not_found`
/// AF-CLI-190 there is no task.
[[nodiscard]] Result<std::string> task_or_newest(Program& program, const TaskStore& tasks, const std::string& named);
/// The same in the project that the command is in.
[[nodiscard]] Result<std::string> task_or_newest(Program& program, const std::string& named);

/// Expands `named`. If it is empty, returns the newest task that `fits` and names it on `err`. `what`: which tasks fit, as in "no
/// task WHAT". Errors: those of resolve_task; AF-CLI-190 none fits.
[[nodiscard]] Result<std::string> task_or_newest_that(Program& program, const TaskStore& tasks, const std::string& named,
                                                      const std::string& what,
                                                      const std::function<bool(const TaskOverview&)>& fits);

/// Returns the task's status in the words of `agentforge status`: `interrupted` if no process runs a running task.
[[nodiscard]] std::string shown_status(const TaskStore& tasks, const TaskState& state);

/// Expands `named`. If it is empty, returns the only task that `fits` and names it on `err`. `what`: which tasks fit, as in "no
/// task WHAT". `otherwise` (may be empty): used if no task fits; returns the only task for which it holds. Errors: those of
/// resolve_task; AF-CLI-190 none fits: lists the newest tasks with their status; `conflict` AF-CLI-191 several fit: lists them.
[[nodiscard]] Result<std::string> task_or_only(Program& program, const TaskStore& tasks, const std::string& named,
                                               const std::string& what, const std::function<bool(const TaskOverview&)>& fits,
                                               const std::function<bool(const TaskOverview&)>& otherwise = nullptr);

}  // namespace agentforge::kernel
