// SPDX-License-Identifier: Apache-2.0
// The step loop behind `run_agent`, independent of what carries out the actions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/runner.hpp"

namespace agentforge::kernel {

/// Performs the model's actions. In the program this is the tool bridge.
class ActionExecutor {
public:
    virtual ~ActionExecutor() = default;
    [[nodiscard]] virtual const std::vector<ToolSpec>& offered() const noexcept = 0;
    /// Sets what the model sees in its context from now on: path → SHA-256 of the whole file. Called before each `call`.
    virtual void expect(std::map<std::string, std::string, std::less<>> /*seen*/) {}
    [[nodiscard]] virtual ToolResult call(std::string_view tool, const json::object& arguments, const ToolCallInfo& info) = 0;
};

/// See run_agent.
[[nodiscard]] Result<AgentOutcome> run_steps(const RunSpec& spec, ActionExecutor& actions, ModelClient& model, StepHost& host,
                                             CallContext& context, EventSink& events);

}  // namespace agentforge::kernel
