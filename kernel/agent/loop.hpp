// SPDX-License-Identifier: Apache-2.0
// The step loop behind `run_agent`, independent of what carries out the actions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/action_executor.hpp"
#include "agent/runner.hpp"

namespace agentforge::kernel {

/// See run_agent.
[[nodiscard]] Result<AgentOutcome> run_steps(const RunSpec& spec, ActionExecutor& actions, ModelClient& model, StepHost& host,
                                             CallContext& context, EventSink& events);

}  // namespace agentforge::kernel
