// SPDX-License-Identifier: Apache-2.0
// What the step loop is told about a run: the agent, its work and its limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/stage.hpp>

#include "backends/model_client.hpp"
#include "config/agent_set.hpp"
#include "contracts/contract.hpp"

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

}  // namespace agentforge::kernel
