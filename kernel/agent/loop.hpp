// SPDX-License-Identifier: Apache-2.0
// The step loop: stateless steps with verified state. Each step builds a new bounded context, asks the model once, and carries
// out the one action of its answer.
#pragma once

#include <agentforge/stage.hpp>

#include "agent/action_executor.hpp"
#include "agent/run_spec.hpp"
#include "agent/step_host.hpp"
#include "backends/model_client.hpp"
#include "base/event_sink.hpp"

namespace agentforge::kernel {

/// Errors: AF-AGENT-010 steps used up, AF-AGENT-011 the same failing action, AF-AGENT-012 unreadable answers, AF-AGENT-018 no
/// progress, AF-AGENT-013 budget too small for the fixed parts, AF-AGENT-014 cancelled, AF-AGENT-015 deadline, AF-AGENT-016 the
/// journal's steps do not belong to this run, AF-LLM-… (the model), and those of the host.
[[nodiscard]] Result<AgentOutcome> run_steps(const RunSpec& spec, ActionExecutor& actions, ModelClient& model, StepHost& host,
                                             CallContext& context, EventSink& events);

}  // namespace agentforge::kernel
