// SPDX-License-Identifier: Apache-2.0
// A stage in state.yaml.
#pragma once

#include <cstddef>
#include <string>

#include <agentforge/json.hpp>

#include "task/state.hpp"
#include "task/state_fields.hpp"

namespace agentforge::kernel {

/// Returns the entry of the task's `index`-th stage.
[[nodiscard]] json::object stage_to_json(const TaskState& state, std::size_t index);
/// Reads the entry of a stage. A field that is missing or wrong is the problem of `fields`.
[[nodiscard]] StageState stage_from_json(const std::string& name, StateFields& fields);

}  // namespace agentforge::kernel
