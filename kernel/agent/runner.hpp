// SPDX-License-Identifier: Apache-2.0
// The step loop: stateless steps with verified state. Each step builds a new bounded context, asks the model once, and carries
// out the one action of its answer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <agentforge/stage.hpp>

#include "agent/step_host.hpp"
#include "backends/model_client.hpp"
#include "base/event_sink.hpp"
#include "config/agent_set.hpp"
#include "contracts/contract.hpp"
#include "tools/tool_bridge.hpp"

namespace agentforge::kernel {

/// Tokens by section. A fixed part that alone exceeds its share is an error at start.
struct TokenBudget {
    std::size_t total = 8000;
    std::size_t system_prompt = 1500;
    std::size_t task_frame = 500;
    std::size_t current_state = 4000;
    std::size_t recent_actions = 1000;
    std::size_t verification_status = 200;
    std::size_t available_actions = 800;
};

struct RunSpec {
    AgentDefinition agent;
    AgentRun run;           ///< Objective, instructions, state, limits.
    RequestPlace place;     ///< `step` is filled in.
    std::string goal;       ///< The user's request.
    std::string agents_md;  ///< The repository's instructions to agents. Empty: none.
    std::vector<std::string> success_criteria;
    std::string stage;
    std::optional<Contract> contract;  ///< None with text_answer.
    TokenBudget budget;
    unsigned calibration_permille = 1000;  ///< Reported input tokens per estimated token, from earlier runs with this model.
    unsigned max_steps = 40;
    unsigned max_identical_failures = 3;  ///< The run ends after the same action has failed this often in a row.
    unsigned max_malformed = 3;           ///< Limit on unreadable answers in a row.
    std::string model;
    std::uint64_t max_output_tokens = 4096;
    bool agentic = false;  ///< Each call is a command that works in the workspace with its own tools and then takes one action.
};

/// Errors: AF-AGENT-010 steps used up, AF-AGENT-011 the same failing action, AF-AGENT-012 unreadable answers, AF-AGENT-018 no
/// progress, AF-AGENT-013 budget too small for the fixed parts, AF-AGENT-014 cancelled, AF-AGENT-015 deadline, AF-AGENT-016 the
/// journal's steps do not belong to this run, AF-LLM-… (the model), and those of the host.
[[nodiscard]] Result<AgentOutcome> run_agent(const RunSpec& spec, ToolBridge& bridge, ModelClient& model, StepHost& host,
                                             CallContext& context, EventSink& events);

/// Returns the system prompt (agent/prompt.cpp).
[[nodiscard]] std::string build_system_prompt(const RunSpec& spec, const std::vector<ToolSpec>& tools, bool native_tool_calls);

}  // namespace agentforge::kernel
