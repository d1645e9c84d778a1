// SPDX-License-Identifier: Apache-2.0
// The task of each part of a set: runs it up to a commit that waits for its branch, and later through its delivery.
#pragma once

#include <optional>
#include <string>

#include "program/sets/open_set.hpp"
#include "program/start/start_arguments.hpp"
#include "task/state.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// Returns the tasks of the part's repository.
[[nodiscard]] TaskStore tasks_of(const SetPart& part);
/// Returns nothing if the task was not created.
[[nodiscard]] Result<std::optional<TaskState>> state_if_created(const TaskStore& store, const std::string& task);
/// True if its commit is ready and the task has not changed since.
[[nodiscard]] bool is_prepared(const TaskState& state);
/// Returns the commit that the part's task has prepared: an empty one if another process has changed the task since.
[[nodiscard]] Result<PreparedCommit> prepared_commit(const SetPart& part);
/// Says why a task of this part does not go on, and what a person can do.
[[nodiscard]] std::string waiting_reason(const SetPart& part, const TaskState& state);

/// Returns the arguments with which each part's task starts.
[[nodiscard]] StartArguments arguments_of_parts(const TaskSet& set);

/// Runs each part's task up to a commit that waits for its branch. Errors: AF-SET-004.
[[nodiscard]] Result<EarlyExit> prepare_parts(OpenSet& open);
/// Each task takes over its branch: records it in its journal, and publishes it if the settings ask for that. Then the set is
/// done.
[[nodiscard]] Result<EarlyExit> deliver_parts(OpenSet& open);

}  // namespace agentforge::kernel
