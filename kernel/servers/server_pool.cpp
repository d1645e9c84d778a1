// SPDX-License-Identifier: Apache-2.0
#include "servers/server_pool.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace agentforge::kernel {

struct ServerPool::Running {
    ServerDefinition server;
    ServerPlace place;
    std::unique_ptr<ServerClient> client;
    ToolListing listing;  ///< As first seen.
    std::vector<Error> problems;
    std::set<std::string, std::less<>> vanished;  ///< Tools of `listing` that disappeared.
    std::set<std::string, std::less<>> changed;
    unsigned starts = 0;
};

namespace {

bool in(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

Error changed_tool(const std::string& name, const std::string& server, const std::string& since) {
    return {"AF-MCP-015",
            "the tool `" + name + "` of server `" + server + "` has a different description than " + since + ": it is not called",
            name, "use another tool; a person can check the change and start a new task, which uses the new description",
            ErrorKind::denied};
}

std::string without_workspace(std::string text, const std::string& workspace) {
    for (const auto& [what, by] : {std::pair{workspace + "/", std::string()}, std::pair{workspace, std::string(".")}}) {
        for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
            text.replace(at, what.size(), by);
        }
    }
    return text;
}

bool only_reads(const ServerDefinition& server, const ListedTool& tool, const ServerOffer& offer) {
    return !server.writes || in(server.read_only_tools, tool.name) || (offer.trust_hints && tool.read_only);
}

/// By name and rights.
std::string key_of(const ServerDefinition& server, const ServerPlace& place) {
    std::string key = server.name + '\n' + server.where;
    if (server.writes) {
        for (const std::string& path : place.writable) { key += '\n' + path; }
    }
    return key;
}

}  // namespace

class ServerTool final : public Tool {
public:
    ServerTool(ServerPool& pool, ServerPool::Running& running, const ListedTool& listed, const ServerOffer& offer,
               std::optional<Error> refused)
        : pool_(pool), running_(running), tool_(listed.name), record_writes_(offer.record_writes), refused_(std::move(refused)) {
        const ServerDefinition& server = running.server;
        spec_.name = offer.prefixed ? server_tool_name(server.prefix, listed.name) : listed.name;
        if (refused_) {
            // Its current description is untrusted, so none of it reaches the model.
            spec_.description = "Not to be used: it changed since this task first saw it.";
            spec_.parameters = {{"type", "object"}, {"additionalProperties", true}};
            spec_.effects = ToolEffect::none;
            return;
        }
        spec_.description = listed.description;
        spec_.parameters = listed.parameters;
        spec_.path_parameters = listed.paths;
        if (const auto declared = server.path_parameters.find(listed.name); declared != server.path_parameters.end()) {
            for (const std::string& parameter : declared->second) {
                if (!in(spec_.path_parameters, parameter)) { spec_.path_parameters.push_back(parameter); }
            }
        }
        spec_.effects = ToolEffect::reads | ToolEffect::executes |
                        (only_reads(server, listed, offer) ? ToolEffect::none : ToolEffect::writes);
    }

    [[nodiscard]] ToolSpec spec() const override { return spec_; }

    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        if (refused_) { return ToolResult::failed(*refused_); }
        json::object given = arguments;
        if (running_.server.absolute_paths) { make_absolute(given); }
        ToolResult result = pool_.call(running_, tool_, given, context);
        if (running_.server.absolute_paths) {
            result.output = without_workspace(std::move(result.output), running_.place.workspace);
        }
        if (running_.server.writes && record_writes_) {
            if (const auto recorded = record_writes_(); !recorded.ok()) { return ToolResult::failed(recorded.error()); }
        }
        return result;
    }

private:
    void make_absolute(json::object& arguments) const {
        const auto absolute = [&](json::value& value) {
            if (!value.is_string()) { return; }
            const std::string path(value.get_string());
            value = path == "." ? running_.place.workspace : running_.place.workspace + "/" + path;
        };
        for (const std::string& parameter : spec_.path_parameters) {
            json::value* value = arguments.if_contains(parameter);
            if (value == nullptr) { continue; }
            if (value->is_array()) {
                for (json::value& one : value->get_array()) { absolute(one); }
            } else {
                absolute(*value);
            }
        }
    }

    ServerPool& pool_;
    ServerPool::Running& running_;
    std::string tool_;
    std::function<Result<void>()> record_writes_;
    std::optional<Error> refused_;
    ToolSpec spec_;
};

ServerPool::ServerPool(Log log) : log_(std::move(log)) {}
ServerPool::~ServerPool() { end(); }

bool ServerPool::end() {
    bool could_write = false;
    for (auto& [key, running] : running_) {
        could_write = could_write || (running->server.writes && !running->place.writable.empty());
        running->client.reset();
    }
    running_.clear();
    return could_write;
}

void ServerPool::log(LogLevel level, const std::string& message) const {
    if (log_) { log_(level, message, {}); }
}

namespace {

/// Adds a problem for each tool or parameter that the settings name and the server does not have.
void check_named_tools(const ServerDefinition& server, const std::vector<ListedTool>& tools, std::vector<Error>& problems) {
    const auto has = [&](const std::string& name) {
        return std::any_of(tools.begin(), tools.end(), [&](const ListedTool& tool) { return tool.name == name; });
    };
    std::vector<std::string> names;
    for (const ListedTool& tool : tools) { names.push_back(tool.name); }
    const auto unknown_tool = [&](const std::string& field, const std::string& name) {
        const std::string near = nearest(name, names);
        std::string remedy = near.empty() ? "Its tools:" : "Did you mean `" + near + "`?";
        if (near.empty()) {
            for (const std::string& each : names) { remedy += " " + each; }
        }
        problems.push_back(
            {"AF-MCP-018",
             "`" + field + "` of server `" + server.name + "` names the tool `" + name + "`, which the server does not have",
             server.where, std::move(remedy), ErrorKind::invalid});
    };
    for (const std::string& name : server.allowed_tools) {
        if (!has(name)) { unknown_tool("allowed_tools", name); }
    }
    for (const std::string& name : server.read_only_tools) {
        if (!has(name)) { unknown_tool("read_only_tools", name); }
    }
    for (const auto& [name, parameters] : server.path_parameters) {
        const auto tool =
            std::find_if(tools.begin(), tools.end(), [&, wanted = name](const ListedTool& one) { return one.name == wanted; });
        if (tool == tools.end()) {
            unknown_tool("path_parameters", name);
            continue;
        }
        const json::value* properties = tool->parameters.if_contains("properties");
        for (const std::string& parameter : parameters) {
            if (properties != nullptr && properties->is_object() && properties->get_object().contains(parameter)) { continue; }
            problems.push_back({"AF-MCP-018",
                                "`path_parameters." + name + "` of server `" + server.name + "` names `" + parameter +
                                    "`, which is not a parameter of the tool",
                                server.where, "Correct the name; undeclared paths are not checked.", ErrorKind::invalid});
        }
    }
}

/// Adds a problem for each tool with rules that only the server checks.
void name_unchecked_rules(const ServerDefinition& server, const std::vector<ListedTool>& tools, std::vector<Error>& problems) {
    for (const ListedTool& tool : tools) {
        if (tool.left_out.empty()) { continue; }
        std::string list;
        for (const std::string& one : tool.left_out) { list += (list.empty() ? "" : ", ") + one; }
        problems.push_back({"AF-MCP-017",
                            "the tool `" + tool.name + "` of server `" + server.name +
                                "` has rules in its schema that only the server itself checks: " + ellipsis(list, 500),
                            server.where, "Nothing to do; the server may refuse arguments that AgentForge accepts.",
                            ErrorKind::invalid});
    }
}

}  // namespace

Result<ServerPool::Running*> ServerPool::running(const ServerDefinition& server, const ServerPlace& place,
                                                 const std::function<bool()>& cancelled) {
    std::string key = key_of(server, place);
    if (const auto found = running_.find(key); found != running_.end()) { return found->second.get(); }
    auto made = std::make_unique<Running>();
    made->server = server;
    made->place = place;
    AF_CHECK(start(*made, cancelled));
    AF_TRY(made->listing, made->client->list(cancelled));
    made->problems = made->listing.problems;
    check_named_tools(server, made->listing.tools, made->problems);
    if (!server.allowed_tools.empty()) {
        std::erase_if(made->listing.tools, [&](const ListedTool& tool) { return !in(server.allowed_tools, tool.name); });
    }
    name_unchecked_rules(server, made->listing.tools, made->problems);
    for (const Error& problem : made->problems) { log(LogLevel::warning, problem.message); }
    Running* const running = made.get();
    running_.emplace(std::move(key), std::move(made));
    return running;
}

Result<void> ServerPool::start(Running& running, const std::function<bool()>& cancelled) {
    ++running.starts;
    running.client.reset();
    AF_TRY(running.client, ServerClient::start(
                               running.server, running.place,
                               [this](LogLevel level, const std::string& message) { log(level, message); }, cancelled));
    return {};
}

Result<void> ServerPool::compare(Running& running, const std::function<bool()>& cancelled) {
    AF_TRY(const ToolListing now, running.client->list(cancelled));
    running.vanished.clear();
    for (const ListedTool& before : running.listing.tools) {
        const auto found =
            std::find_if(now.tools.begin(), now.tools.end(), [&](const ListedTool& tool) { return tool.name == before.name; });
        if (found == now.tools.end()) {
            running.vanished.insert(before.name);
        } else if (found->hash != before.hash && running.changed.insert(before.name).second) {
            log(LogLevel::warning, "the tool `" + before.name + "` of server `" + running.server.name +
                                       "` changed while the stage ran and is refused");
        }
    }
    for (const ListedTool& tool : now.tools) {
        const bool known = std::any_of(running.listing.tools.begin(), running.listing.tools.end(),
                                       [&](const ListedTool& before) { return before.name == tool.name; });
        if (!known && (running.server.allowed_tools.empty() || in(running.server.allowed_tools, tool.name))) {
            log(LogLevel::info, "server `" + running.server.name + "` has the new tool `" + tool.name +
                                    "`; it is offered from the next stage on");
        }
    }
    return {};
}

ToolResult ServerPool::call(Running& running, const std::string& tool, const json::object& arguments, ToolContext& context) {
    const std::function<bool()> cancelled = [&context] { return context.cancelled(); };
    const std::string& name = running.server.name;
    bool restarted = false;
    if (running.client == nullptr || !running.client->connection().alive()) {
        if (running.starts > running.server.restarts) {
            return ToolResult::failed({"AF-MCP-012",
                                       "server `" + name + "` ended " + std::to_string(running.starts) +
                                           " times in this stage and is not started again" +
                                           (running.client == nullptr ? std::string() : running.client->connection().said()),
                                       running.server.where,
                                       "use another tool; a person can fix the server, or raise its `restarts`",
                                       ErrorKind::unavailable});
        }
        log(LogLevel::warning, "server `" + name + "` had ended and is started again (" + std::to_string(running.starts) +
                                   " of " + std::to_string(running.server.restarts) + ")");
        if (auto started = start(running, cancelled); !started.ok()) { return ToolResult::failed(started.error()); }
        restarted = true;
    }
    if (const bool said = running.client->tools_changed(); said || restarted) {
        if (auto compared = compare(running, cancelled); !compared.ok()) { return ToolResult::failed(compared.error()); }
    }
    if (running.changed.contains(tool)) { return ToolResult::failed(changed_tool(tool, name, "when this stage began")); }
    if (running.vanished.contains(tool)) { return ToolResult::failed(no_such_tool(running.server, tool, " any more", {})); }
    std::chrono::milliseconds timeout = running.server.timeout;
    if (const auto deadline = context.deadline()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
        timeout = std::clamp(left, std::chrono::milliseconds(0), timeout);
    }
    return running.client->call(tool, arguments, timeout, cancelled,
                                [&context](std::string_view text) { context.progress(text); });
}

Result<ServerPool::Running*> ServerPool::running_with_rights(const ServerDefinition& server, const ServerPlace& place,
                                                             const ServerOffer& offer,
                                                             const std::function<bool(const ListedTool&)>& wanted,
                                                             const std::function<bool()>& cancelled) {
    const bool may_only_read = offer.trust_hints || !server.read_only_tools.empty();
    if (!server.writes || place.writable.empty() || !may_only_read) { return running(server, place, cancelled); }
    ServerPlace reading = place;
    reading.writable.clear();
    AF_TRY(Running* const reader, running(server, reading, cancelled));
    const std::vector<ListedTool>& tools = reader->listing.tools;
    if (std::none_of(tools.begin(), tools.end(),
                     [&](const ListedTool& tool) { return wanted(tool) && !only_reads(server, tool, offer); })) {
        return reader;
    }
    running_.erase(key_of(server, reading));
    return running(server, place, cancelled);
}

Result<std::vector<std::shared_ptr<Tool>>> ServerPool::tools(const ServerDefinition& server, const ServerPlace& place,
                                                             const ServerOffer& offer, const std::function<bool()>& cancelled) {
    std::map<std::string, bool, std::less<>> asked;
    const auto wanted = [&](const std::string& name) {
        const auto [found, is_new] = asked.try_emplace(name, true);
        if (is_new && offer.wanted) { found->second = offer.wanted(name); }
        return found->second;
    };
    const auto offered_name = [&](const ListedTool& tool) {
        return offer.prefixed ? server_tool_name(server.prefix, tool.name) : tool.name;
    };
    AF_TRY(Running* const found,
           running_with_rights(
               server, place, offer, [&](const ListedTool& tool) { return wanted(offered_name(tool)); }, cancelled));
    std::vector<std::shared_ptr<Tool>> made;
    for (const ListedTool& tool : found->listing.tools) {
        std::optional<Error> refused;
        const std::string name = offered_name(tool);
        if (!wanted(name)) { continue; }
        if (offer.pin) {
            AF_TRY(const std::optional<std::string> other, offer.pin(name, tool));
            if (other) {
                refused = changed_tool(
                    tool.name, server.name,
                    "when this task first saw it (" + other->substr(0, 12) + ", now " + tool.hash.substr(0, 12) + ")");
                log(LogLevel::warning, refused->message);
            }
        }
        made.push_back(std::make_shared<ServerTool>(*this, *found, tool, offer, std::move(refused)));
    }
    return made;
}

std::vector<Error> ServerPool::problems(const ServerDefinition& server) const {
    std::vector<Error> all;
    for (const auto& [key, running] : running_) {
        if (running->server.name == server.name) { all.insert(all.end(), running->problems.begin(), running->problems.end()); }
    }
    return all;
}

std::string ServerPool::about(const ServerDefinition& server) const {
    for (const auto& [key, running] : running_) {
        if (running->server.name == server.name && running->client != nullptr) {
            return (running->client->about().empty() ? server.name : running->client->about()) + " (protocol " +
                   running->client->version() + ")";
        }
    }
    return {};
}

}  // namespace agentforge::kernel
