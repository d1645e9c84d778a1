// SPDX-License-Identifier: Apache-2.0
// The tools of one role: from plugins, from plugins that are processes, and from tool servers.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "pipeline/agent_run/open_run.hpp"
#include "servers/server_pool.hpp"

namespace agentforge::kernel {

/// Makes the tools that the agent lists, and expands the agent's lists. An entry `<server>__*` becomes all tools of that server
/// that are not forbidden; in the forbidden list it forbids them all. Starts a server only if one of its tools is listed, and
/// calls `place` only then. Errors: AF-PLUG-…, AF-MCP-001 no such server, AF-MCP-014 it has no such tool, those of
/// ServerPool::tools.
[[nodiscard]] Result<std::map<std::string, std::shared_ptr<Tool>, std::less<>>> load_tools(
    const TaskServices& services, AgentDefinition& agent, ServerPool& servers, const std::function<ServerPlace()>& place,
    const ServerOffer& offer, const std::function<bool()>& cancelled);

/// Returns the specifications of the shipped tools that the agent lists, in that order. `completion_schema` becomes the
/// parameters of those that complete.
[[nodiscard]] std::vector<ToolSpec> shipped_tools_of(const TaskServices& services, const AgentDefinition& agent,
                                                     const json::object& completion_schema);

/// Records the description and schema of a server's tool when the task first sees it. From then on they must not change: returns
/// the recorded hash if they did. Errors: those of the journal.
[[nodiscard]] Result<std::optional<std::string>> pin_tool(OpenRun& run, const std::string& name, const ListedTool& tool);

/// Checks that a plugin or server provides the tool, as far as can be known without starting a server. Errors: AF-PLUG-010,
/// AF-MCP-001 to 004.
[[nodiscard]] Result<void> check_tool_is_declared(const PluginRegistry& plugins, const ServerSet* servers,
                                                  const std::string& tool);

/// Returns a plugin process as a server. Its tools keep the names in its manifest.
[[nodiscard]] ServerDefinition plugin_process(const PluginManifest& manifest);

}  // namespace agentforge::kernel
