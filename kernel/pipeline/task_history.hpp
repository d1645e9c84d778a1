// SPDX-License-Identifier: Apache-2.0
// What an agent sees of its task besides what its stage tells it (`context_strategy` of the template; Task 012, FR-040 to
// FR-046).
#pragma once

#include "pipeline/session.hpp"
#include "pipeline/workspace.hpp"

namespace agentforge::kernel {

/// How the task went so far: `stages` (entered ones, with what they cost in visits), `sent_back` (each way back and its reason),
/// `gates` (the newest verdict of each).
[[nodiscard]] json::object task_history(const TaskState& state);

/// Everything that people said: the request first, then answers, feedback and guidance in their order.
[[nodiscard]] Result<json::array> conversation(const TaskSession& session);

/// Adds to an agent run's state what the current stage's strategy says:
///   full      `conversation` and `task_history`
///   summary   `task_history` and `change`, the patch of all that the task has changed, shortened
///   minimal   nothing; the artifact of the stage before is taken out: the stage shows what counts
///   focused   nothing
/// The context's budget bounds all of it afterwards.
[[nodiscard]] Result<void> add_context(json::object& run_state, const TaskSession& session, TaskTrees& trees);

}  // namespace agentforge::kernel
