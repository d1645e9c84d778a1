// SPDX-License-Identifier: Apache-2.0
// The bridge between what a model asks for and what is done (North Star 12.8).
//
// It decides before the tool runs: forbidden list, allowed list, schema of the arguments, each path parameter. A refusal
// names the role, what was refused and what is allowed, so that a model can act on it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <agentforge/tool.hpp>

#include "config/agents.hpp"
#include "tools/workspace.hpp"

namespace agentforge::kernel {

/// What the bridge needs from the rest of the kernel while a tool runs.
class ToolServices {
public:
    virtual ~ToolServices() = default;
    [[nodiscard]] virtual Result<ProcessResult> run_process(const ProcessSpec& spec) = 0;
    [[nodiscard]] virtual Result<GateReport> run_gate(const GateRequest& request) = 0;
    /// The contract of a `completes` tool's arguments.
    [[nodiscard]] virtual Result<void> complete(const json::object& artifact) = 0;
    [[nodiscard]] virtual Result<void> escalate(const EscalationRequest& request) = 0;
    virtual void log(LogLevel level, std::string_view message, const json::object& fields) = 0;
    virtual void progress(std::string_view text) = 0;
    [[nodiscard]] virtual std::chrono::system_clock::time_point now() = 0;
    [[nodiscard]] virtual bool cancelled() const noexcept = 0;
    [[nodiscard]] virtual std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept = 0;
};

class ToolBridge {
public:
    /// `tools`: every tool that is loaded, by name. `completion_schema` becomes the parameters of tools that complete.
    ToolBridge(AgentDefinition agent, std::map<std::string, std::shared_ptr<Tool>, std::less<>> tools,
               RoleWorkspace& workspace, ToolServices& services, json::object completion_schema);
    ~ToolBridge();

    /// The role's tools, for the prompt, in the order of its allowed list.
    [[nodiscard]] const std::vector<ToolSpec>& offered() const noexcept;
    /// Never fails itself: a refusal, a failure and an exception of the tool are results with an Error.
    [[nodiscard]] ToolResult call(std::string_view tool, const json::object& arguments, const ToolCallInfo& info);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
