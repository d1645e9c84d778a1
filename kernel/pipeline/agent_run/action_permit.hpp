// SPDX-License-Identifier: Apache-2.0
// A person's decision whether the agent of an interactive task may carry out an action.
#pragma once

#include "agent/step_host.hpp"
#include "pipeline/agent_run/open_run.hpp"

namespace agentforge::kernel {

/// Returns the decision on the action at this step, or `go` in a task that is not interactive. The decision is found by the hash
/// of what the person was shown, so it applies only to this action at this step. Errors: AF-ESC-031 nobody has decided yet; the
/// action was recorded as proposed.
[[nodiscard]] Result<ActionVerdict> permit_action(OpenRun& run, unsigned step, const ToolCall& action);

}  // namespace agentforge::kernel
