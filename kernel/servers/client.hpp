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

/// Where and with which rights a server runs; the same as a program that a tool runs for the role.
struct ServerPlace {
    ExecHelper exec_helper;
    std::string workspace;  ///< Absolute; its working directory.
    std::string scratch;    ///< Writable; TMPDIR and HOME.
    std::vector<std::string> readable;
    std::vector<std::string> writable;               ///< Of the workspace; what the role may write.
    std::map<std::string, std::string> environment;  ///< The whole one; the server gets the allow-listed part.
};

/// The request that starts a server: `${AGENTFORGE_WORKSPACE}` and `${AGENTFORGE_SCRATCH}` are put in here.
[[nodiscard]] ProcessRequest server_process(const ServerDefinition& server, const ServerPlace& place);

/// A tool as a server lists it, made fit for the bridge.
struct ListedTool {
    std::string name;                   ///< As the server says.
    std::string description;            ///< At most 1,024 bytes, one paragraph.
    json::object parameters;            ///< What `check_arguments` can apply.
    std::vector<std::string> left_out;  ///< Of its schema (UsableSchema::left_out).
    std::vector<std::string> paths;     ///< Parameters that its schema calls paths.
    bool read_only = false;             ///< It says so itself (`annotations.readOnlyHint`).
    std::string hash;                   ///< SHA-256 of name, description and schema as they came.
    json::object as_listed;             ///< The same, for the record.
};

struct ToolListing {
    std::vector<ListedTool> tools;
    std::vector<Error> problems;  ///< Tools that cannot be offered, and why: AF-MCP-016, AF-MCP-017.
};

class ServerClient {
public:
    using Log = std::function<void(LogLevel level, const std::string& message)>;
    /// Starts the server and shakes hands, within `startup_timeout`. Errors: AF-MCP-005 it did not start or ended, with what it
    /// said; AF-MCP-006 no answer to `initialize` in time; AF-MCP-007 a protocol version that is not known; AF-MCP-008, 009, 013,
    /// 019 as of Connection::request.
    [[nodiscard]] static Result<std::unique_ptr<ServerClient>> start(const ServerDefinition& server, const ServerPlace& place,
                                                                     Log log, const std::function<bool()>& cancelled);

    /// All pages of `tools/list`, at most 1,000 tools on 100 pages. Errors: AF-MCP-008 not a list of tools, and of a request.
    [[nodiscard]] Result<ToolListing> list(const std::function<bool()>& cancelled);
    /// Calls a tool once. A failed call is a result the model reads. Errors in the result: AF-MCP-022 the server says that it
    /// failed; AF-MCP-008, 009, 010, 011, 013, 019.
    [[nodiscard]] ToolResult call(const std::string& tool, const json::object& arguments, std::chrono::milliseconds timeout,
                                  const std::function<bool()>& cancelled, const std::function<void(std::string_view)>& progress);
    /// Requests of the server that are not the protocol's own, and notifications `host/…`: who answers them. Empty: nobody.
    using Serve = std::function<std::optional<Result<json::value>>(std::string_view method, const json::object& params)>;
    void serve(Serve handler) { serve_ = std::move(handler); }
    [[nodiscard]] Connection& connection() noexcept { return *connection_; }
    /// Whether it said that its tools changed since this was last asked.
    [[nodiscard]] bool tools_changed() noexcept { return std::exchange(tools_changed_, false); }
    [[nodiscard]] const std::string& version() const noexcept { return version_; }  ///< Protocol version in force.
    [[nodiscard]] const std::string& about() const noexcept { return about_; }      ///< Its own name and version.

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

/// Content blocks of `tools/call` as text; what is no text is named by kind, type and size.
[[nodiscard]] std::string content_text(const json::value& content);

}  // namespace agentforge::kernel
