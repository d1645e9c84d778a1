// SPDX-License-Identifier: Apache-2.0
// Detects an agent in a loop: it keeps handing in or changing files, and no gate finds fewer failures than the fewest so far.
#pragma once

#include <string>

#include <agentforge/result.hpp>

#include "task/state.hpp"

namespace agentforge::kernel {

/// Counts all attempts at the current stage since a person was last asked. Errors: AF-AGENT-018 no progress; the message has the
/// newest gate that did not pass.
[[nodiscard]] Result<void> check_progress(const TaskState& state, const std::string& role, const std::string& exit_gate);

}  // namespace agentforge::kernel
