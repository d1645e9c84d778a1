// SPDX-License-Identifier: Apache-2.0
// The figures of a set of tasks (docs/repositories.md), for `status` and the dashboard's API.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <agentforge/json.hpp>

#include "aggregate/aggregator.hpp"
#include "task/task_set.hpp"

namespace agentforge::kernel {

/// Returns the state_name of the part's task, or `unknown` if the task cannot be read.
using StateOfPart = std::function<std::string(const SetPart& part)>;

/// Returns the set with its parts in order. A part's `state` is its task's condition, or null if it has no task yet. As for a
/// task, `available_actions` says whether the set can be resumed or aborted.
[[nodiscard]] json::object figures_of(const TaskSet& set, const StateOfPart& state_of);

}  // namespace agentforge::kernel
