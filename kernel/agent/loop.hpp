// SPDX-License-Identifier: Apache-2.0
// The step loop behind `run_agent`, over whatever does the actions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/runner.hpp"

namespace agentforge::kernel {

/// Does what the model asks for. The tool bridge in the product.
class ActionTaker {
public:
    virtual ~ActionTaker() = default;
    [[nodiscard]] virtual const std::vector<ToolSpec>& offered() const noexcept = 0;
    /// What the model sees in its context from now on: path → SHA-256 of the whole file. Called before each `call`.
    virtual void expect(std::map<std::string, std::string, std::less<>> /*seen*/) {}
    [[nodiscard]] virtual ToolResult call(std::string_view tool, const json::object& arguments, const ToolCallInfo& info) = 0;
};

/// See run_agent.
[[nodiscard]] Result<AgentOutcome> run_steps(const RunSpec& spec, ActionTaker& actions, ModelClient& model, StepHost& host,
                                             CallContext& context, EventSink& events);

}  // namespace agentforge::kernel
