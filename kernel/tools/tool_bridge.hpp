// SPDX-License-Identifier: Apache-2.0
// The bridge between a model's tool calls and the tools.
//
// It decides before the tool runs: forbidden list, allowed list, schema of the arguments, each path parameter. A refusal names
// the role, what was refused and what is allowed, so a model can act on it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <agentforge/tool.hpp>

#include "config/agent_set.hpp"
#include "secrets/redactor.hpp"
#include "tools/tool_services.hpp"
#include "tools/workspace/role_workspace.hpp"

namespace agentforge::kernel {

/// One role's tools. Checks a call in this order:
///   1. AF-TOOL-001 the tool is forbidden;
///   2. AF-TOOL-002 it is not in the role's allowed list (1 and 2 quote that list), AF-TOOL-003 it is allowed but no plugin
///      provides it;
///   3. AF-TOOL-004 the arguments do not satisfy the tool's schema: names the parameter nearest to an unknown one. `file_path`
///      stands for `path` if the schema has `path` and no `file_path` (recorded as `alias` in `data`). `null` or an empty path
///      for an optional parameter counts as absent. A tool that completes gets its arguments unchanged: the contract judges
///      them in `ToolServices::complete`;
///   4. AF-TOOL-010…015 a path parameter: its text, the tool's own path constraint, and for a tool that writes all rules of
///      the role. The tool sees normalised paths;
///   5. AF-TOOL-005 the tool did what it does not declare (the call then fails, whatever the tool answers), AF-TOOL-006 it
///      threw, AF-TOOL-007 it failed without a reason, AF-TOOL-008 its schema is invalid or uses a keyword that is not
///      checked here.
///
/// Output, data and error contain no secrets (the services' redactor), are limited to 16 KiB each and are valid UTF-8. Threads:
/// one at a time. Cost in addition to the tool's own work: some microseconds.
class ToolBridge {
public:
    static constexpr std::size_t max_output_bytes = 16UL << 10U;

    /// `tools`: every loaded tool, by name. `completion_schema` becomes the parameters of tools that complete. `known_tools`: all
    /// existing tools; an error omits advice about those that the role does not have.
    ToolBridge(AgentDefinition agent, std::map<std::string, std::shared_ptr<Tool>, std::less<>> tools, RoleWorkspace& workspace,
               ToolServices& services, json::object completion_schema, std::vector<std::string> known_tools = {});
    ~ToolBridge();

    /// Returns the role's tools, for the prompt, in the order of its allowed list.
    [[nodiscard]] const std::vector<ToolSpec>& offered() const noexcept;
    /// Sets what the agent sees from now on: RoleWorkspace::expect.
    void expect(std::map<std::string, std::string, std::less<>> seen);
    /// Never fails itself: a refusal, a failure and an exception of the tool are results with an Error.
    [[nodiscard]] ToolResult call(std::string_view tool, const json::object& arguments, const ToolCallInfo& info);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
