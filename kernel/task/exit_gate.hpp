// SPDX-License-Identifier: Apache-2.0
// The exit gate: whether a stage may end. Acceptance of an artifact and the fold both use one predicate, `unmet_exit_gate`.
#pragma once

#include <string>
#include <string_view>

#include "task/state.hpp"

namespace agentforge::kernel {

/// Returns why a gate was not measured completely on a tree. Empty if it was.
[[nodiscard]] std::string unmeasured_gate(const TaskState& state, std::string_view gate, const std::string& tree);
/// Returns why a gate did not pass completely on a tree. Empty if it did. `inputs`: the current inputs of gates
/// (TaskWorkspace::gate_inputs). Null: accepts any inputs.
[[nodiscard]] std::string unmet_gate(const TaskState& state, std::string_view gate, const std::string& tree,
                                     const std::string* inputs = nullptr);
/// Returns why the exit gate of the current stage does not let it end on the recorded tree. Empty if the gate allows it, or if
/// the stage has none.
[[nodiscard]] std::string unmet_exit_gate(const TaskState& state, const std::string* inputs = nullptr);

}  // namespace agentforge::kernel
