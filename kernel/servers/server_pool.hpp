// SPDX-License-Identifier: Apache-2.0
// The servers of one stage: started when one of their tools is first offered, restarted when they die, ended with the stage.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "servers/server_client.hpp"

namespace agentforge::kernel {

/// How one server's tools are offered to one role.
struct ServerOffer {
    /// Records a tool; called once for each before it is offered. Returns the hash that was pinned before if it differs, else
    /// nothing. Empty: nothing is pinned.
    std::function<Result<std::optional<std::string>>(const std::string& name, const ListedTool& tool)> pin;
    /// Called after each call of a server that may write: judges and records what it wrote. An error fails the call.
    std::function<Result<void>()> record_writes;
    /// Selects the wanted tools by the name under which they are offered. Others are neither created nor pinned. Empty: all.
    std::function<bool(const std::string& name)> wanted;
    bool prefixed = true;      ///< False for a plugin's process, whose manifest names its tools.
    bool trust_hints = false;  ///< Whether `readOnlyHint` counts: only for an installed plugin.
};

/// Threads: one at a time. Servers die with the thread that started them.
class ServerPool {
public:
    using Log = std::function<void(LogLevel level, std::string_view message, const json::object& fields)>;
    explicit ServerPool(Log log);
    ~ServerPool();
    ServerPool(const ServerPool&) = delete;
    ServerPool& operator=(const ServerPool&) = delete;

    /// Returns the tools of a server, for a role with the rights of `place`. Starts it if it does not run with these rights yet.
    /// If none of the wanted tools writes, the server may not write, whatever `place` says. The list stays the same for the
    /// pool's lifetime: tools added later are offered from the next stage on. If a tool's description or schema differs from the
    /// pinned one, a call to it only reports that (AF-MCP-015). The tools refer to the pool. Errors: those of ServerClient::start
    /// and list; of `pin`.
    [[nodiscard]] Result<std::vector<std::shared_ptr<Tool>>> tools(const ServerDefinition& server, const ServerPlace& place,
                                                                   const ServerOffer& offer,
                                                                   const std::function<bool()>& cancelled);
    /// Returns problems with the tools and settings of a running server: AF-MCP-016, 017, 018, and keywords that are not checked.
    [[nodiscard]] std::vector<Error> problems(const ServerDefinition& server) const;
    /// Returns, for a running server, `everything 1.0 (protocol 2025-06-18)`.
    [[nodiscard]] std::string about(const ServerDefinition& server) const;
    /// Ends all servers and whatever they started. Returns whether one of them could write in the workspace, because its writes
    /// after the last call were not judged.
    bool end();

private:
    friend class ServerTool;
    struct Running;

    Result<Running*> running(const ServerDefinition& server, const ServerPlace& place, const std::function<bool()>& cancelled);
    /// Gives the right to write only if a wanted tool writes.
    Result<Running*> running_with_rights(const ServerDefinition& server, const ServerPlace& place, const ServerOffer& offer,
                                         const std::function<bool(const ListedTool&)>& wanted,
                                         const std::function<bool()>& cancelled);
    Result<void> start(Running& running, const std::function<bool()>& cancelled);
    Result<void> compare(Running& running, const std::function<bool()>& cancelled);
    /// One call. Errors in the result: AF-MCP-012 it died too often, AF-MCP-014 the tool no longer exists, AF-MCP-015 it changed,
    /// and those of ServerClient::call.
    ToolResult call(Running& running, const std::string& tool, const json::object& arguments, ToolContext& context);
    void log(LogLevel level, const std::string& message) const;

    Log log_;
    std::map<std::string, std::unique_ptr<Running>> running_;  ///< By name and rights.
};

}  // namespace agentforge::kernel
