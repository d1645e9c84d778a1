// SPDX-License-Identifier: Apache-2.0
// The tools of one role: from plugins, from plugins that are processes, and from tool servers.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "pipeline/services.hpp"
#include "servers/pool.hpp"

namespace agentforge::kernel {

/// Makes the tools that the agent lists. An entry `<server>__*` becomes all tools of that server that are not forbidden; in the
/// forbidden list it forbids them all. The agent's lists are written out accordingly. A server is started here, and only where
/// one of its tools is listed; `place` is asked only then. Errors: AF-PLUG-…, AF-MCP-001 no such server, AF-MCP-014 it has no
/// such tool, those of ServerPool::tools.
[[nodiscard]] Result<std::map<std::string, std::shared_ptr<Tool>, std::less<>>> load_tools(
    const TaskServices& services, AgentDefinition& agent, ServerPool& servers, const std::function<ServerPlace()>& place,
    const ServerOffer& offer, const std::function<bool()>& cancelled);

/// What the product's own tools that the agent lists say of themselves, in that order; `completion_schema` becomes the parameters
/// of those that complete.
[[nodiscard]] std::vector<ToolSpec> shipped_tools_of(const TaskServices& services, const AgentDefinition& agent,
                                                     const json::object& completion_schema);

/// Whether somebody provides the tool, as far as can be said without starting a server. Errors: AF-PLUG-010, AF-MCP-001 … 004.
[[nodiscard]] Result<void> check_tool_is_declared(const PluginRegistry& plugins, const ServerSet* servers,
                                                  const std::string& tool);

/// A plugin that is a process, as a server: its tools are named as its manifest names them.
[[nodiscard]] ServerDefinition plugin_process(const PluginManifest& manifest);

}  // namespace agentforge::kernel
