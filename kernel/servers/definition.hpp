// SPDX-License-Identifier: Apache-2.0
// The tool servers of a project: `mcp_servers:` of the settings, and `.mcp.json` in the project's root.
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

/// One server as declared. Nothing was started or looked up yet.
struct ServerDefinition {
    std::string name;                                                 ///< As written.
    std::string prefix;                                               ///< Prefix of its tools' names, `tool_prefix(name)`.
    std::vector<std::string> command;                                 ///< Program and arguments.
    std::map<std::string, std::string> environment;                   ///< Added to the allow-listed environment.
    std::chrono::milliseconds timeout{60'000};                        ///< For one call.
    std::chrono::milliseconds startup_timeout{30'000};                ///< Until `initialize` and `tools/list` have been answered.
    std::vector<std::string> allowed_tools;                           ///< As the server names them. Empty: all.
    std::vector<std::string> read_only_tools;                         ///< Tools that only read their path parameters.
    std::map<std::string, std::vector<std::string>> path_parameters;  ///< Tool, as the server names it → parameters.
    bool absolute_paths = false;                                      ///< True if the server needs absolute paths.
    bool writes = true;                                               ///< False: it may not write in the workspace.
    bool network = false;
    std::vector<std::string> readable;  ///< Absolute paths, in addition to the workspace.
    unsigned restarts = 3;              ///< Limit within one stage.
    std::size_t max_message_bytes = 4UL << 20U;
    bool enabled = true;
    bool from_repository = false;  ///< From `.mcp.json`: only used if the project is trusted.
    std::string where;             ///< `file:line:column`.
};

/// Definitions are checked here, once. An invalid one does not hide the others.
struct ServerSet {
    std::vector<ServerDefinition> servers;  ///< Those that may be started, sorted by name.
    std::map<std::string, Error> refused;   ///< By prefix: declared, but must not be started, and why.
    std::vector<Error> problems;            ///< Faults in the declarations. Excludes servers that are disabled or not trusted.

    /// Returns the server whose tools begin with `prefix`, or null.
    [[nodiscard]] const ServerDefinition* by_prefix(std::string_view prefix) const noexcept;
};

struct ServerSources {
    json::object settings;                                      ///< `mcp_servers:`, each field with the type of the schema.
    std::function<std::string(const std::string& name)> where;  ///< Returns the place of a server's settings.
    std::string mcp_json;                                       ///< Path. The file may be missing.
    std::map<std::string, std::string> environment;             ///< For `${NAME}`.
    /// True if servers declared by the repository itself may be started.
    bool trusted = true;
    bool network_allowed = false;
};

/// Settings for a server of `.mcp.json` with the same name are merged; if both have a command, the settings' one wins. Problems:
/// AF-MCP-002 a wrong or unknown field, AF-MCP-003 not stdio, AF-MCP-004 not trusted or network not allowed, AF-MCP-016 two names
/// with the same prefix, AF-MCP-021 an unset `${NAME}`.
[[nodiscard]] ServerSet read_servers(const ServerSources& sources);
/// Returns AF-MCP-001: there is no server of that name; gives the nearest declared one. `what`: who asked.
[[nodiscard]] Error no_such_server(const ServerSet& set, const std::string& what, const std::string& name);
/// Returns AF-MCP-014: the server has no such tool; gives the nearest of `tools`, or all of them. `more` ends the sentence.
[[nodiscard]] Error no_such_tool(const ServerDefinition& server, const std::string& tool, const std::string& more,
                                 const std::vector<std::string>& tools);
/// Returns AF-MCP-004 for a server that the project declares and the user has not trusted.
[[nodiscard]] Error not_trusted(const std::string& name, const std::string& where);

/// Expands `${NAME}` and `${NAME:-default}`, as in `.mcp.json`. `$` alone is an ordinary character. Errors: AF-MCP-021.
[[nodiscard]] Result<std::string> expand_variables(std::string_view text, const std::map<std::string, std::string>& environment);

/// Converts any name to our form `^[a-z][a-z0-9_]*$`: capitals become lower case (with `_` before them after a lower-case letter
/// or a digit), everything else becomes `_`; a name that does not begin with a letter gets `x_`. Deterministic; two names may
/// give the same result.
[[nodiscard]] std::string mapped_name(std::string_view name);
/// Returns `mapped_name` without `__` in it or `_` at its end, so that the first `__` of a tool's name ends the prefix.
[[nodiscard]] std::string tool_prefix(std::string_view server);
/// Returns `<prefix>__<tool>`.
[[nodiscard]] std::string server_tool_name(std::string_view prefix, std::string_view tool);
/// Returns the prefix of a name in that form. Empty if it has none.
[[nodiscard]] std::string_view prefix_of(std::string_view tool_name) noexcept;

}  // namespace agentforge::kernel
