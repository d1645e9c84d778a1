// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/role_rights.hpp"

#include <algorithm>

#include "pipeline/gate_runs.hpp"
#include "pipeline/people/acting_changes.hpp"

namespace agentforge::kernel {

Result<RolePaths> role_paths(const TaskSession& session, TaskGates& gates, const AgentDefinition& agent) {
    AF_TRY(const auto locked, locked_tests(session));
    AF_TRY(auto symbols, gates.path_symbols(session.state().base_tree));
    AF_TRY(auto specified, specified_files(session));
    return RolePaths::make(agent.role, agent.path_constraints, locked, std::move(symbols), std::move(specified));
}

Result<RolePaths> no_paths(const AgentDefinition& agent, std::string_view why) {
    return RolePaths::make(agent.role, {{std::string(why), "!*"}});
}

bool has_writing_tool(const TaskServices& services, const AgentDefinition& agent) {
    return std::any_of(agent.allowed_tools.begin(), agent.allowed_tools.end(), [&services](const std::string& name) {
        if (!services.plugins.has(PluginKind::tool, name)) {
            const ServerDefinition* const server =
                services.servers == nullptr ? nullptr : services.servers->by_prefix(prefix_of(name));
            return server != nullptr && server->writes;
        }
        const auto tool = services.plugins.tool(name);
        return tool.ok() && has((*tool)->spec().effects, ToolEffect::writes);
    });
}

}  // namespace agentforge::kernel
