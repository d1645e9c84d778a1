// SPDX-License-Identifier: Apache-2.0
// Held-out tests: absent from every workspace and artifact between RED and DELIVER, but still run by the gates.
#pragma once

#include <map>
#include <string>

#include "base/cancel_token.hpp"
#include "pipeline/task_session.hpp"
#include "pipeline/task_workspace.hpp"

namespace agentforge::kernel {

/// How often a held-out test may fail before it is shown. Counts hand-ins of different trees.
inline constexpr unsigned held_out_attempts = 2;

/// Call before a visit begins. Removes the held-out tests from the workspace or puts them back, depending on the stage, and
/// journals it. Before the first stage after RED it chooses them (`choose_held_out`); RED's gate must pass without them. Does
/// nothing during a visit. Errors: those of gates and git; cancelled.
[[nodiscard]] Result<void> update_held_out(TaskSession& session, TaskWorkspace& task_workspace, const Stop& stop);

/// Puts them back if they are not in the workspace, because a task's final tree has all of RED's tests.
[[nodiscard]] Result<void> return_held_out(TaskSession& session, TaskTrees& trees);

/// Shows the files that failed too often. Returns whether there were any.
[[nodiscard]] Result<bool> show_failed(TaskSession& session, TaskTrees& trees);
/// Returns the files that `show_failed` would show.
[[nodiscard]] std::vector<std::string> failed_too_often(const TaskState& state);

/// Adapts a gate's baseline to a workspace without the held-out tests.
[[nodiscard]] Result<void> hold_out(const TaskState& state, TaskTrees& trees, const std::string& tree, GateBaseline& baseline);

/// Return the artifacts as the current stage may see them. They stay the same for a whole visit.
[[nodiscard]] std::map<std::string, json::object, std::less<>> as_shown(
    const TaskState& state, std::map<std::string, json::object, std::less<>> artifacts);
[[nodiscard]] json::object as_shown(const TaskState& state, const json::object& artifact);

}  // namespace agentforge::kernel
