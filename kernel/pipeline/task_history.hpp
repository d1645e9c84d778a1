// SPDX-License-Identifier: Apache-2.0
// The view that an agent has of its task beyond its stage's own input (`context_strategy` of the template).
#pragma once

#include "pipeline/task_session.hpp"
#include "pipeline/task_trees.hpp"

namespace agentforge::kernel {

/// Returns the task's course so far: `stages` (those entered, with their visits), `sent_back` (each way back and its reason),
/// `gates` (the newest verdict of each).
[[nodiscard]] json::object task_history(const TaskState& state);

/// Returns everything that people said: the request first, then answers, feedback and guidance in order.
[[nodiscard]] Result<json::array> conversation(const TaskSession& session);

/// Adds the parts of the current stage's strategy to an agent run's state:
///   full      `conversation` and `task_history`
///   summary   `task_history` and `change`, the patch of everything that the task has changed, shortened
///   minimal   nothing, and the previous stage's artifact is removed: the stage itself selects its input
///   focused   nothing
/// The context's budget then limits all of it.
[[nodiscard]] Result<void> add_context(json::object& run_state, const TaskSession& session, TaskTrees& trees);

}  // namespace agentforge::kernel
