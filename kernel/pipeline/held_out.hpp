// SPDX-License-Identifier: Apache-2.0
// Tests that are held out: in no workspace and no artifact of those who work between RED and DELIVER, and run by the gates all the same.
#pragma once

#include <map>
#include <string>

#include "base/cancel.hpp"
#include "pipeline/session.hpp"
#include "pipeline/workshop.hpp"

namespace agentforge::kernel {

/// How often a held-out test may fail before it is shown: hand-ins of another tree each.
inline constexpr unsigned held_out_attempts = 2;

/// Before a visit begins: takes the tests that are held out from the workspace, or puts them back, as the stage is to have them, and journals it. Before the
/// first stage after RED it is decided which these are (`choose_held_out`): RED's gate must pass without them. Does nothing inside a visit that has begun.
/// Errors: of gates and git; cancelled.
[[nodiscard]] Result<void> settle_held_out(TaskSession& session, Workshop& workshop, const Stop& stop);

/// Puts them back where they are not in the workspace: what a task ends with has all of RED's tests.
[[nodiscard]] Result<void> return_held_out(TaskSession& session, Workshop& workshop);

/// Shows those that have failed too often. Returns whether there were any.
[[nodiscard]] Result<bool> show_failed(TaskSession& session, Workshop& workshop);
/// Files that `show_failed` would show.
[[nodiscard]] std::vector<std::string> failed_too_often(const TaskState& state);

/// What a gate is measured against, for a workspace without the tests that are held out.
[[nodiscard]] Result<void> hold_out(const TaskState& state, Workshop& workshop, const std::string& tree, GateBaseline& baseline);

/// The artifacts as the current stage may see them: the same over a whole visit.
[[nodiscard]] std::map<std::string, json::object, std::less<>> as_shown(const TaskState& state, std::map<std::string, json::object, std::less<>> artifacts);
[[nodiscard]] json::object as_shown(const TaskState& state, const json::object& artifact);

}  // namespace agentforge::kernel
