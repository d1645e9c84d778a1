// SPDX-License-Identifier: Apache-2.0
// Which tool servers a project has: `mcp_servers:` of the settings, and `.mcp.json` in the project's root.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// One server as it is declared. Nothing here was started or looked up yet.
struct ServerDefinition {
    std::string name;                                                 ///< As written.
    std::string prefix;                                               ///< Of its tools' names, `tool_prefix(name)`.
    std::vector<std::string> command;                                 ///< Program and arguments.
    std::map<std::string, std::string> environment;                   ///< Added to the allow-listed one.
    std::chrono::milliseconds timeout{60'000};                        ///< Of one call.
    std::chrono::milliseconds startup_timeout{30'000};                ///< Until `initialize` and `tools/list` have been answered.
    std::vector<std::string> allowed_tools;                           ///< As the server names them; empty: all.
    std::vector<std::string> read_only_tools;                         ///< Their path parameters are only read.
    std::map<std::string, std::vector<std::string>> path_parameters;  ///< Tool as the server names it → parameters.
    bool absolute_paths = false;                                      ///< Whether the server wants paths absolute.
    bool writes = true;                                               ///< False: it may write nothing of the workspace.
    bool network = false;
    std::vector<std::string> readable;  ///< Absolute; besides the workspace.
    unsigned restarts = 3;              ///< In one stage.
    std::size_t max_message_bytes = 4UL << 20U;
    bool enabled = true;
    bool from_repository = false;  ///< `.mcp.json`: only where the project is trusted.
    std::string where;             ///< `file:line:column`.
};

/// What a definition may say is checked here once; a broken one does not hide the others.
struct ServerSet {
    std::vector<ServerDefinition> servers;  ///< Those that may be started, in the order of their names.
    std::map<std::string, Error> refused;   ///< By prefix: declared, but not to be started, and why.
    std::vector<Error> problems;            ///< What is wrong with the declarations; not what is switched off or not trusted.

    /// Whose tools begin with `prefix`, or null.
    [[nodiscard]] const ServerDefinition* by_prefix(std::string_view prefix) const noexcept;
};

struct ServerSources {
    json::object settings;                                      ///< `mcp_servers:`, each field of the type that the schema says.
    std::function<std::string(const std::string& name)> where;  ///< Place of a server's settings.
    std::string mcp_json;                                       ///< Path; need not be there.
    std::map<std::string, std::string> environment;             ///< For `${NAME}`.
    bool trusted = true;                                        ///< Whether what the repository itself declares may be started.
    bool network_allowed = false;
};

/// A server of the settings with the name of one in `.mcp.json` adds to it; where both have a command, the settings' counts.
/// Problems: AF-MCP-002 a wrong or unknown field, AF-MCP-003 not stdio, AF-MCP-004 not trusted or network not allowed, AF-MCP-016
/// two names that give the same prefix, AF-MCP-021 a `${NAME}` that is not set.
[[nodiscard]] ServerSet read_servers(const ServerSources& sources);
/// AF-MCP-001: no server is called so; the nearest of those that are declared is named. `what` says who asked.
[[nodiscard]] Error no_such_server(const ServerSet& set, const std::string& what, const std::string& name);
/// AF-MCP-014: the server has no such tool; the nearest of `tools`, or all of them, are named. `more` ends the sentence.
[[nodiscard]] Error no_such_tool(const ServerDefinition& server, const std::string& tool, const std::string& more,
                                 const std::vector<std::string>& tools);
/// AF-MCP-004 of a server that the project declares and the user has not trusted.
[[nodiscard]] Error not_trusted(const std::string& name, const std::string& where);

/// `${NAME}` and `${NAME:-default}`, as `.mcp.json` has them; `$` alone is a character. Errors: AF-MCP-021.
[[nodiscard]] Result<std::string> expand_variables(std::string_view text, const std::map<std::string, std::string>& environment);

/// A name of our form `^[a-z][a-z0-9_]*$` from any: capitals become small (after `_` where a small letter or a digit stands
/// before), everything else `_`; a name that does not begin with a letter gets `x_`. Deterministic; two names may give the same.
[[nodiscard]] std::string mapped_name(std::string_view name);
/// `mapped_name` without `__` in it or `_` at its end, so that the first `__` of a tool's name ends the prefix.
[[nodiscard]] std::string tool_prefix(std::string_view server);
/// `<prefix>__<tool>`.
[[nodiscard]] std::string server_tool_name(std::string_view prefix, std::string_view tool);
/// The prefix of a name in that form; empty where it has none.
[[nodiscard]] std::string_view prefix_of(std::string_view tool_name) noexcept;

}  // namespace agentforge::kernel
