// SPDX-License-Identifier: Apache-2.0
// One running server of the Model Context Protocol: its handshake, its tools, its calls.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/tool.hpp>

#include "servers/connection.hpp"
#include "servers/definition.hpp"

namespace agentforge::kernel {

/// Where a server runs and with which rights: those of a program that a tool runs for the role.
struct ServerPlace {
    ExecHelper exec_helper;
    std::string workspace;  ///< Absolute path; its working directory.
    std::string scratch;    ///< Writable folder, used as TMPDIR and HOME.
    std::vector<std::string> readable;
    std::vector<std::string> writable;               ///< Paths of the workspace that the role may write.
    std::map<std::string, std::string> environment;  ///< The complete environment. The server gets the allow-listed part.
};

/// Returns the request that starts a server. Fills in `${AGENTFORGE_WORKSPACE}` and `${AGENTFORGE_SCRATCH}`.
[[nodiscard]] ProcessRequest server_process(const ServerDefinition& server, const ServerPlace& place);

/// A tool listed by a server, adapted for the bridge.
struct ListedTool {
    std::string name;                   ///< As the server names it.
    std::string description;            ///< At most 1,024 bytes, one paragraph.
    json::object parameters;            ///< The part that `check_arguments` can apply.
    std::vector<std::string> left_out;  ///< Keywords of its schema that are not checked (UsableSchema::left_out).
    std::vector<std::string> paths;     ///< Parameters that are paths by its schema.
    bool read_only = false;             ///< The server says so (`annotations.readOnlyHint`).
    std::string hash;                   ///< SHA-256 of name, description and schema as received.
    json::object as_listed;             ///< The same content, for the record.
};

struct ToolListing {
    std::vector<ListedTool> tools;
    std::vector<Error> problems;  ///< Tools that cannot be offered, and why: AF-MCP-016, AF-MCP-017.
};

class ServerClient {
public:
    using Log = std::function<void(LogLevel level, const std::string& message)>;
    /// Starts the server and performs the handshake, within `startup_timeout`. Errors: AF-MCP-005 it did not start or ended, with
    /// its output; AF-MCP-006 no answer to `initialize` in time; AF-MCP-007 an unknown protocol version; AF-MCP-008, 009, 013,
    /// 019 as Connection::request.
    [[nodiscard]] static Result<std::unique_ptr<ServerClient>> start(const ServerDefinition& server, const ServerPlace& place,
                                                                     Log log, const std::function<bool()>& cancelled);

    /// Returns all pages of `tools/list`, at most 1,000 tools on 100 pages. Errors: AF-MCP-008 not a list of tools, and those of
    /// a request.
    [[nodiscard]] Result<ToolListing> list(const std::function<bool()>& cancelled);
    /// Calls a tool once. A failed call is a result that the model reads. Errors in the result: AF-MCP-022 the server reports a
    /// failure; AF-MCP-008, 009, 010, 011, 013, 019.
    [[nodiscard]] ToolResult call(const std::string& tool, const json::object& arguments, std::chrono::milliseconds timeout,
                                  const std::function<bool()>& cancelled, const std::function<void(std::string_view)>& progress);
    /// Answers requests of the server that are not the protocol's own, and notifications `host/…`. Empty: they are not answered.
    using Serve = std::function<std::optional<Result<json::value>>(std::string_view method, const json::object& params)>;
    void serve(Serve handler) { serve_ = std::move(handler); }
    [[nodiscard]] Connection& connection() noexcept { return *connection_; }
    /// Returns whether the server reported changed tools since the last call.
    [[nodiscard]] bool tools_changed() noexcept { return std::exchange(tools_changed_, false); }
    [[nodiscard]] const std::string& version() const noexcept { return version_; }  ///< Protocol version in force.
    [[nodiscard]] const std::string& about() const noexcept { return about_; }      ///< The server's own name and version.

private:
    explicit ServerClient(const ServerDefinition& server) : server_(server) {}
    void notified(std::string_view method, const json::object& params);
    std::optional<Result<json::value>> asked(std::string_view method, const json::object& params);

    ServerDefinition server_;
    std::string workspace_;
    Log log_;
    Serve serve_;
    std::unique_ptr<Connection> connection_;
    std::function<void(std::string_view)> progress_;
    std::string version_, about_;
    bool offers_tools_ = false;
    bool tools_changed_ = false;
    unsigned log_lines_ = 0;
};

/// Returns the content blocks of `tools/call` as text. Other blocks are described by kind, type and size.
[[nodiscard]] std::string content_text(const json::value& content);

}  // namespace agentforge::kernel
