// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/progress_check.hpp"

#include <algorithm>

namespace agentforge::kernel {

namespace {

constexpr unsigned most_same_refusals = 4;  ///< Artifacts that the exit gate refused with the same failures.
constexpr unsigned most_refusals = 8;       ///< Artifacts that the exit gate refused without fewer failures.
constexpr unsigned most_edits = 24;         ///< Edits without fewer failures.
constexpr std::uint64_t most_steps = 60;    ///< Steps without fewer failures; more in a stage whose runs may have more than 40.

Error no_progress(const TaskState& state, const std::string& role, const std::string& how) {
    const GateState* newest = nullptr;
    for (const auto& [name, gate] : state.gates) {
        if (!gate.passed && (newest == nullptr || gate.seq > newest->seq)) { newest = &gate; }
    }
    return Error{"AF-AGENT-018",
                 "agent '" + role + "' makes no progress: " + how + (newest == nullptr ? std::string() : ": " + newest->summary),
                 "", "Say what the agent should do differently.", ErrorKind::invalid};
}

}  // namespace

Result<void> check_progress(const TaskState& state, const std::string& role, const std::string& exit_gate) {
    const StageState& stage = state.stage();
    const Effort& effort = stage.effort;
    for (const auto& [failing, times] : effort.same_refusals) {
        if (times >= most_same_refusals) {
            return no_progress(state, role,
                               "the " + exit_gate + " gate has found the same failures " + std::to_string(times) + " times");
        }
    }
    if (effort.refusals >= most_refusals) {
        return no_progress(state, role,
                           "the " + exit_gate + " gate refused " + std::to_string(effort.refusals) +
                               " artifacts, none with fewer failures than before");
    }
    if (effort.edits >= most_edits) {
        return no_progress(state, role, std::to_string(effort.edits) + " edits did not reduce the failures");
    }
    const std::uint64_t steps = stage.steps - std::min(stage.steps, effort.steps_before);
    if (steps < std::max<std::uint64_t>(most_steps, state.stage_template().max_steps * 3 / 2)) { return {}; }
    return no_progress(state, role, "in the last " + std::to_string(steps) + " steps no gate found fewer failures than before");
}

}  // namespace agentforge::kernel
