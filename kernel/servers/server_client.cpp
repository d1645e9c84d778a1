// SPDX-License-Identifier: Apache-2.0
#include "servers/server_client.hpp"

#include <algorithm>
#include <array>

#include <agentforge/plugin.hpp>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "tools/usable_schema.hpp"

namespace agentforge::kernel {
namespace {

constexpr const char* protocol_version = "2025-06-18";
constexpr std::array<std::string_view, 4> known_versions{"2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"};
constexpr std::size_t max_pages = 100;
constexpr std::size_t max_tools = 1'000;
constexpr std::size_t max_description_bytes = 1'024;
constexpr unsigned max_log_lines = 100;

std::string text_of(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_string() ? sanitize_utf8(value->get_string()) : std::string();
}

const json::object* object_of(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr ? value->if_object() : nullptr;
}

std::string called(const ServerDefinition& server) { return "server `" + server.name + "`"; }

/// Joins to one paragraph: a description is one line in the prompt.
std::string one_paragraph(std::string_view text) {
    std::string out;
    bool blank = false;
    for (const char c : sanitize_utf8(text)) {
        if (c == '\n' || c == '\r' || c == '\t' || c == ' ') {
            blank = !out.empty();
            continue;
        }
        if (static_cast<unsigned char>(c) < 0x20) { continue; }
        if (blank) { out += ' '; }
        blank = false;
        out += c;
    }
    return ellipsis(out, max_description_bytes);
}

std::string replaced(std::string text, std::string_view what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
        text.replace(at, what.size(), by);
    }
    return text;
}

std::string with_places(const std::string& text, const ServerPlace& place) {
    return replaced(replaced(text, "${AGENTFORGE_WORKSPACE}", place.workspace), "${AGENTFORGE_SCRATCH}", place.scratch);
}

std::string embedded(const json::object& resource) {
    const std::string uri = text_of(resource, "uri");
    if (resource.contains("text")) { return "[resource " + uri + "]\n" + text_of(resource, "text"); }
    return "[resource " + uri + ", " + text_of(resource, "mimeType") + ", " + std::to_string(text_of(resource, "blob").size()) +
           " bytes of base64: not shown]";
}

std::string logged_text(const json::value* data) {
    if (data == nullptr) { return {}; }
    return data->is_string() ? std::string(data->get_string()) : json::serialize(*data);
}

/// The error for a server that did not answer `initialize`. Ends the server if it still runs.
Error not_initialized(Error error, const ServerDefinition& server, Connection& connection) {
    if (error.code == "AF-MCP-010") {
        error = Error{
            "AF-MCP-006",
            called(server) + " did not answer `initialize` within " + std::to_string(server.startup_timeout.count()) +
                " ms and was stopped" + connection.said(),
            server.where,
            "Check that its command speaks the Model Context Protocol on standard input and output; raise startup_timeout_seconds if it is slow." +
                std::string(
                    server.network
                        ? ""
                        : " It has no network, so `npx` cannot install anything: install the server first, or see `network` in `agentforge help docs/servers.md`."),
            ErrorKind::unavailable};
        connection.end();
    } else if (error.code == "AF-MCP-011") {
        error = Error{
            "AF-MCP-005",
            called(server) + " ended before it answered `initialize` (" + connection.end() + ")" + connection.said(),
            server.where,
            "Run its command by hand; inside the sandbox it reads only the system's folders, those on PATH, the workspace and the folders in the server's `readable`, and has no "
            "network unless `network` allows it.",
            ErrorKind::unavailable};
    } else if (error.code != "AF-MCP-019") {
        error.where = server.where;
    }
    return error;
}

}  // namespace

ProcessRequest server_process(const ServerDefinition& server, const ServerPlace& place) {
    ProcessRequest request;
    for (const std::string& word : server.command) { request.argv.push_back(with_places(word, place)); }
    request.directory = place.workspace;
    request.environment = base_environment(place.environment);
    request.environment["TMPDIR"] = place.scratch;
    request.environment["HOME"] =
        place.scratch;  // The user's own is inaccessible, and programs fail on a HOME that they cannot read.
    for (const auto& [name, text] : server.environment) { request.environment[name] = with_places(text, place); }
    request.grace = std::chrono::milliseconds(500);
    request.confinement.readable = place.readable;
    request.confinement.readable.insert(request.confinement.readable.end(), server.readable.begin(), server.readable.end());
    if (server.writes) { request.confinement.writable = place.writable; }
    request.confinement.writable.push_back(place.scratch);
    request.confinement.network = server.network ? Network::full : Network::none;
    return request;
}

Result<std::unique_ptr<ServerClient>> ServerClient::start(const ServerDefinition& server, const ServerPlace& place, Log log,
                                                          const std::function<bool()>& cancelled) {
    const ProcessRequest request = server_process(server, place);
    auto child = start_interactive(place.exec_helper, request);
    if (!child.ok()) {
        return Error{"AF-MCP-005", called(server) + " cannot be started: " + child.error().message, server.where,
                     child.error().remedy, ErrorKind::unavailable};
    }
    std::unique_ptr<ServerClient> client(new ServerClient(server));
    ServerClient* const self = client.get();
    client->workspace_ = place.workspace;
    client->log_ = std::move(log);
    Connection::Limits limits;
    limits.max_message_bytes = server.max_message_bytes;
    Connection::Peer peer;
    peer.notified = [self](std::string_view method, const json::object& params) { self->notified(method, params); };
    peer.asked = [self](std::string_view method, const json::object& params) { return self->asked(method, params); };
    peer.log = [self](LogLevel level, const std::string& message) {
        if (self->log_) { self->log_(level, message); }
    };
    client->connection_ = std::make_unique<Connection>(called(server), std::move(*child), limits, std::move(peer));

    const auto answer =
        client->connection_->request("initialize",
                                     {{"protocolVersion", protocol_version},
                                      {"capabilities", json::object{{"roots", json::object{{"listChanged", false}}}}},
                                      {"clientInfo", json::object{{"name", "agentforge"}, {"version", sdk_version}}}},
                                     {server.startup_timeout, cancelled});
    if (!answer.ok()) { return not_initialized(answer.error(), server, *client->connection_); }
    if (!answer->is_object()) {
        return Error{
            "AF-MCP-008",
            called(server) + " answered `initialize` with " + ellipsis(json::serialize(*answer), 200) + ", not an object",
            server.where, "Report this to the server's author.", ErrorKind::invalid};
    }
    const json::object& about = answer->get_object();
    client->version_ = text_of(about, "protocolVersion");
    if (std::find(known_versions.begin(), known_versions.end(), client->version_) == known_versions.end()) {
        return Error{
            "AF-MCP-007",
            called(server) + " speaks version `" + ellipsis(client->version_, 40) +
                "` of the Model Context Protocol; supported versions are 2025-06-18, 2025-03-26, 2024-11-05 and 2024-10-07",
            server.where, "Use a release of the server that supports one of these.", ErrorKind::unavailable};
    }
    if (const json::object* info = object_of(about, "serverInfo")) {
        client->about_ = ellipsis(one_paragraph(text_of(*info, "name") + " " + text_of(*info, "version")), 200);
    }
    const json::object* capabilities = object_of(about, "capabilities");
    client->offers_tools_ = capabilities != nullptr && capabilities->contains("tools");
    client->connection_->notify("notifications/initialized");
    return client;
}

void ServerClient::notified(std::string_view method, const json::object& params) {
    if (method == "notifications/tools/list_changed") {
        tools_changed_ = true;
    } else if (method == "notifications/progress") {
        if (progress_) {
            const std::string message = one_paragraph(text_of(params, "message"));
            progress_(server_.name + ": " + (message.empty() ? std::string("at work") : ellipsis(message, 100)));
        }
    } else if (method == "notifications/message") {
        if (++log_lines_ > max_log_lines || !log_) { return; }
        const std::string text = logged_text(params.if_contains("data"));
        log_(LogLevel::debug, called(server_) + " says: " + ellipsis(one_paragraph(text), 500));
    } else if (method.starts_with("host/") && serve_) {
        if (const auto done = serve_(method, params); !done || !done->ok()) {
            if (++log_lines_ <= max_log_lines && log_) {
                log_(LogLevel::warning, called(server_) + " sent the notification `" + ellipsis(sanitize_utf8(method), 80) +
                                            "`, which failed: " + (done ? done->error().message : "it is not known"));
            }
        }
    } else if (method != "notifications/cancelled" && !method.starts_with("notifications/resources/") &&
               !method.starts_with("notifications/prompts/")) {
        if (++log_lines_ <= max_log_lines && log_) {
            log_(LogLevel::debug,
                 called(server_) + " sent the unknown notification `" + ellipsis(sanitize_utf8(method), 80) + "`");
        }
    }
}

std::optional<Result<json::value>> ServerClient::asked(std::string_view method, const json::object& params) {
    if (method == "ping") { return Result<json::value>(json::value(json::object())); }
    if (method == "roots/list") {
        json::object root{{"uri", "file://" + workspace_}, {"name", "workspace"}};
        return Result<json::value>(json::value(json::object{{"roots", json::array{std::move(root)}}}));
    }
    return serve_ ? serve_(method, params) : std::nullopt;
}

namespace {

Error wrong_listing(const ServerDefinition& server, const std::string& what) {
    return Error{"AF-MCP-008", called(server) + " answered `tools/list` with " + what, server.where,
                 "Report this to the server's author.", ErrorKind::invalid};
}

Error unusable_tool(const ServerDefinition& server, const std::string& tool, Error error) {
    error.code = "AF-MCP-017";
    error.message = "the tool `" + tool + "` of " + called(server) + " cannot be offered: " + error.message;
    error.where = server.where;
    return error;
}

std::string description_of(const ServerDefinition& server, const json::object& tool) {
    std::string text = one_paragraph(text_of(tool, "description"));
    if (text.empty()) { text = one_paragraph(text_of(tool, "title")); }
    return text.empty() ? "A tool of " + called(server) + "; it does not describe itself." : text;
}

bool says_read_only(const json::object& tool) {
    const json::object* annotations = object_of(tool, "annotations");
    const json::value* hint = annotations == nullptr ? nullptr : annotations->if_contains("readOnlyHint");
    return hint != nullptr && *hint == true;
}

/// Errors: AF-MCP-017 this tool cannot be offered.
Result<ListedTool> read_tool(const ServerDefinition& server, const json::object& object, std::string name) {
    const json::value* schema = object.if_contains("inputSchema");
    auto usable = schema == nullptr ? Result<UsableSchema>(Error{"AF-MCP-017", "there is no `inputSchema`", "",
                                                                 "Report this to the server's author.", ErrorKind::invalid})
                                    : usable_schema(*schema);
    if (!usable.ok()) { return unusable_tool(server, name, usable.error()); }
    ListedTool tool;
    tool.name = std::move(name);
    tool.description = description_of(server, object);
    tool.parameters = std::move(usable->schema);
    tool.left_out = std::move(usable->left_out);
    tool.paths = std::move(usable->paths);
    tool.read_only = says_read_only(object);
    tool.as_listed = json::object{{"name", tool.name}, {"description", text_of(object, "description")}, {"inputSchema", *schema}};
    tool.hash = hash_of(tool.as_listed);
    return tool;
}

/// Adds one page of tools. Errors: AF-MCP-008 it is not a list of tools.
Result<void> add_tools(const ServerDefinition& server, const json::value& page, ToolListing& listing) {
    const json::value* tools = page.is_object() ? page.get_object().if_contains("tools") : nullptr;
    if (tools == nullptr || !tools->is_array()) { return wrong_listing(server, "no list of tools"); }
    for (const json::value& one : tools->get_array()) {
        const json::object* object = one.if_object();
        std::string name = object == nullptr ? std::string() : text_of(*object, "name");
        if (name.empty() || name.size() > 128) {
            return wrong_listing(server, "a tool without a name, or with one of more than 128 bytes");
        }
        auto tool = read_tool(server, *object, std::move(name));
        if (tool.ok()) {
            listing.tools.push_back(*std::move(tool));
        } else {
            listing.problems.push_back(std::move(tool).error());
        }
    }
    return {};
}

/// Two tools whose names map to the same one are indistinguishable: neither is offered.
void leave_out_indistinguishable(const ServerDefinition& server, ToolListing& listing) {
    std::vector<std::string> names;
    for (const ListedTool& tool : listing.tools) { names.push_back(server_tool_name(server.prefix, tool.name)); }
    std::vector<ListedTool> kept;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto twice = std::find_if(listing.tools.begin(), listing.tools.end(), [&](const ListedTool& other) {
            const auto k = static_cast<std::size_t>(&other - listing.tools.data());
            return k != i && names[k] == names[i];
        });
        if (twice == listing.tools.end()) {
            kept.push_back(listing.tools[i]);
        } else if (static_cast<std::size_t>(twice - listing.tools.begin()) > i) {
            listing.problems.push_back({"AF-MCP-016",
                                        "the tools `" + listing.tools[i].name + "` and `" + twice->name + "` of " +
                                            called(server) + " would both be called `" + names[i] + "`; neither is offered",
                                        server.where,
                                        "Leave one of them out of allowed_tools, or report it to the server's author.",
                                        ErrorKind::conflict});
        }
    }
    listing.tools = std::move(kept);
}

}  // namespace

Result<ToolListing> ServerClient::list(const std::function<bool()>& cancelled) {
    ToolListing listing;
    if (!offers_tools_) { return listing; }
    tools_changed_ = false;  // Before asking: a change while the answer is on its way then causes another request.
    json::object params;
    for (std::size_t page = 0;; ++page) {
        if (page == max_pages || listing.tools.size() > max_tools) {
            return wrong_listing(server_,
                                 "more than " + std::to_string(max_tools) + " tools or " + std::to_string(max_pages) + " pages");
        }
        AF_TRY(const json::value answer, connection_->request("tools/list", params, {server_.startup_timeout, cancelled}));
        AF_CHECK(add_tools(server_, answer, listing));
        const std::string cursor = text_of(answer.get_object(), "nextCursor");
        if (cursor.empty()) { break; }
        params["cursor"] = cursor;
    }
    leave_out_indistinguishable(server_, listing);
    return listing;
}

ToolResult ServerClient::call(const std::string& tool, const json::object& arguments, std::chrono::milliseconds timeout,
                              const std::function<bool()>& cancelled, const std::function<void(std::string_view)>& progress) {
    progress_ = progress;
    auto answer = connection_->request("tools/call", {{"name", tool}, {"arguments", arguments}}, {timeout, cancelled});
    progress_ = nullptr;
    if (!answer.ok()) { return ToolResult::failed(answer.error()); }
    const auto wrong = [&](const std::string& what) {
        return ToolResult::failed({"AF-MCP-008", called(server_) + " answered the call of `" + tool + "` with " + what,
                                   server_.where, "Use another tool; report this to the server's author.", ErrorKind::invalid});
    };
    if (!answer->is_object()) { return wrong(ellipsis(json::serialize(*answer), 200) + ", not an object"); }
    const json::object& object = answer->get_object();
    const json::value* content = object.if_contains("content");
    const json::value* structured = object.if_contains("structuredContent");
    if ((content == nullptr || !content->is_array()) && structured == nullptr) {
        return wrong("neither `content` nor `structuredContent`");
    }
    std::string text = content == nullptr ? std::string() : content_text(*content);
    if (text.empty() && structured != nullptr) { text = json::serialize(*structured); }
    if (const json::value* failed = object.if_contains("isError"); failed != nullptr && *failed == true) {
        return ToolResult::failed(
            {"AF-MCP-022",
             called(server_) + " says that `" + tool + "` failed: " + (text.empty() ? std::string("without a reason") : text), "",
             "correct the arguments, or use another tool", ErrorKind::invalid});
    }
    json::object data;
    if (structured != nullptr) { data["structured_content"] = *structured; }
    const std::string first = ellipsis(first_line(text), 120);
    return ToolResult::done(std::move(text), tool + ": " + (first.empty() ? std::string("done") : first), std::move(data));
}

std::string content_text(const json::value& content) {
    std::string text;
    if (!content.is_array()) { return text; }
    for (const json::value& block : content.get_array()) {
        const json::object* object = block.if_object();
        const std::string type = object == nullptr ? std::string() : text_of(*object, "type");
        if (!text.empty()) { text += '\n'; }
        if (type == "text") {
            text += text_of(*object, "text");
        } else if (type == "image" || type == "audio") {
            text += "[" + type + ", " + text_of(*object, "mimeType") + ", " + std::to_string(text_of(*object, "data").size()) +
                    " bytes of base64: not shown]";
        } else if (type == "resource") {
            const json::object* resource = object_of(*object, "resource");
            text += resource == nullptr ? std::string("[a resource without contents]") : embedded(*resource);
        } else if (type == "resource_link") {
            text += "[link to the resource " + text_of(*object, "uri") + ", " + text_of(*object, "name") + "]";
        } else {
            text += "[content of the unknown type `" + ellipsis(type, 40) + "`: not shown]";
        }
    }
    return text;
}

}  // namespace agentforge::kernel
