// SPDX-License-Identifier: Apache-2.0
// The servers of one stage: started when a tool of theirs is first offered, restarted when they died, ended with the stage.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "servers/client.hpp"

namespace agentforge::kernel {

/// How one server's tools are offered to one role.
struct ServerOffer {
    /// What is recorded of a tool: called once for each tool before it is offered. Answers with the hash that was pinned before
    /// where that is another, else with nothing. Empty: nothing is pinned.
    std::function<Result<std::optional<std::string>>(const std::string& name, const ListedTool& tool)> pin;
    /// Called after each call of a server that may write: judges and records what it wrote. An error fails the call.
    std::function<Result<void>()> settle;
    /// Which tools are wanted, by the name they are offered under; the others are neither made nor pinned. Empty: all.
    std::function<bool(const std::string& name)> wanted;
    bool prefixed = true;      ///< False for a plugin's process, whose manifest names its tools.
    bool trust_hints = false;  ///< Whether `readOnlyHint` counts: only for an installed plugin.
};

/// Threads: one at a time; servers die with the thread that started them.
class ServerPool {
public:
    using Log = std::function<void(LogLevel level, std::string_view message, const json::object& fields)>;
    explicit ServerPool(Log log);
    ~ServerPool();
    ServerPool(const ServerPool&) = delete;
    ServerPool& operator=(const ServerPool&) = delete;

    /// The tools of a server, for a role with the rights of `place`; starts it where it does not run with these rights yet. Where
    /// none of the wanted tools writes it has no right to write, whatever `place` says. The list is the same for as long as the
    /// pool lives: what is added later is offered from the next stage on. A tool whose description or schema is not the pinned
    /// one is there under its name, says so when it is called (AF-MCP-015) and does nothing. The tools refer to the pool. Errors:
    /// those of ServerClient::start and list; of `pin`.
    [[nodiscard]] Result<std::vector<std::shared_ptr<Tool>>> tools(const ServerDefinition& server, const ServerPlace& place,
                                                                   const ServerOffer& offer,
                                                                   const std::function<bool()>& cancelled);
    /// What is wrong with the tools and settings of a server that runs: AF-MCP-016, 017, 018, and keywords that are not checked.
    [[nodiscard]] std::vector<Error> problems(const ServerDefinition& server) const;
    /// `everything 1.0 (protocol 2025-06-18)` of a server that runs.
    [[nodiscard]] std::string about(const ServerDefinition& server) const;
    /// Ends all of them, and whatever they started. Whether one of them could write in the workspace: what it wrote after its
    /// last call nobody has judged.
    bool end();

private:
    friend class ServerTool;
    struct Running;

    Result<Running*> running(const ServerDefinition& server, const ServerPlace& place, const std::function<bool()>& cancelled);
    /// With the right to write only where a wanted tool writes: the others have no use for it.
    Result<Running*> running_with_rights(const ServerDefinition& server, const ServerPlace& place, const ServerOffer& offer,
                                         const std::function<bool(const ListedTool&)>& wanted,
                                         const std::function<bool()>& cancelled);
    Result<void> start(Running& running, const std::function<bool()>& cancelled);
    Result<void> compare(Running& running, const std::function<bool()>& cancelled);
    /// One call. Errors in the result: AF-MCP-012 it died too often, AF-MCP-014 the tool is there no more, AF-MCP-015 it changed,
    /// and those of ServerClient::call.
    ToolResult call(Running& running, const std::string& tool, const json::object& arguments, ToolContext& context);
    void log(LogLevel level, const std::string& message) const;

    Log log_;
    std::map<std::string, std::unique_ptr<Running>> running_;  ///< By name and rights.
};

}  // namespace agentforge::kernel
