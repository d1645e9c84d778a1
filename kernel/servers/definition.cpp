// SPDX-License-Identifier: Apache-2.0
#include "servers/definition.hpp"

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::uint64_t max_file_bytes = 1UL << 20U;
/// Filled in when the server starts and the workspace is known.
const std::vector<std::string> own_variables{"AGENTFORGE_WORKSPACE", "AGENTFORGE_SCRATCH"};

bool small_or_digit(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

Error wrong(std::string where, std::string message, std::string remedy = "`agentforge help docs/servers.md` lists the fields.") {
    return {"AF-MCP-002", std::move(message), std::move(where), std::move(remedy), ErrorKind::invalid};
}

std::vector<std::string> texts(const json::value& value) {
    std::vector<std::string> list;
    if (value.is_string()) { list.emplace_back(value.get_string()); }
    if (value.is_array()) {
        for (const json::value& one : value.get_array()) {
            if (one.is_string()) { list.emplace_back(one.get_string()); }
        }
    }
    return list;
}

Result<void> expand(std::vector<std::string>& list, const std::map<std::string, std::string>& environment) {
    for (std::string& text : list) { AF_TRY(text, expand_variables(text, environment)); }
    return {};
}

/// Applies the fields from the settings. The settings schema has checked their types.
void apply_settings(const json::object& fields, ServerDefinition& server) {
    const auto take = [&](std::string_view key, auto use) {
        if (const json::value* value = fields.if_contains(key); value != nullptr) { use(*value); }
    };
    const auto seconds = [](const json::value& value) {
        return std::chrono::milliseconds(std::chrono::seconds(value.to_number<std::int64_t>()));
    };
    take("command", [&](const json::value& value) { server.command = texts(value); });
    take("args", [&](const json::value& value) {
        for (std::string& word : texts(value)) { server.command.push_back(std::move(word)); }
    });
    take("env", [&](const json::value& value) {
        for (const auto& [name, text] : value.get_object()) { server.environment[name] = std::string(text.get_string()); }
    });
    take("timeout_seconds", [&](const json::value& value) { server.timeout = seconds(value); });
    take("startup_timeout_seconds", [&](const json::value& value) { server.startup_timeout = seconds(value); });
    take("allowed_tools", [&](const json::value& value) { server.allowed_tools = texts(value); });
    take("read_only_tools", [&](const json::value& value) { server.read_only_tools = texts(value); });
    take("path_parameters", [&](const json::value& value) {
        for (const auto& [tool, list] : value.get_object()) { server.path_parameters[tool] = texts(list); }
    });
    take("paths", [&](const json::value& value) { server.absolute_paths = value == "absolute"; });
    take("writes", [&](const json::value& value) { server.writes = value.get_bool(); });
    take("network", [&](const json::value& value) { server.network = value.get_bool(); });
    take("readable", [&](const json::value& value) { server.readable = texts(value); });
    take("restarts", [&](const json::value& value) { server.restarts = value.to_number<unsigned>(); });
    take("max_message_bytes", [&](const json::value& value) { server.max_message_bytes = value.to_number<std::size_t>(); });
    take("enabled", [&](const json::value& value) { server.enabled = value.get_bool(); });
}

/// `.mcp.json` and the line of each value. The YAML reader finds the lines, because almost all JSON is also YAML. If it fails,
/// errors name only the file.
class McpJson {
public:
    Result<void> read(const std::string& path) {
        path_ = path;
        AF_TRY(const std::string text, read_file(path, max_file_bytes));
        auto parsed = parse_json(text, path);
        if (!parsed.ok()) {
            return wrong(parsed.error().where, "`.mcp.json` is not JSON: " + parsed.error().message, "Correct the file.");
        }
        if (auto yaml = parse_yaml(text, path); yaml.ok()) { places_ = std::move(*yaml); }
        if (!parsed->is_object()) {
            return wrong(path, "`.mcp.json` must be an object with `mcpServers`", "Write {\"mcpServers\": {…}}.");
        }
        value_ = std::move(parsed->get_object());
        for (const auto& [key, value] : value_) {
            if (key != "mcpServers") {
                return wrong(where("/" + std::string(key)), "`.mcp.json` has the unknown field `" + std::string(key) + "`",
                             "Remove it; only `mcpServers` is allowed.");
            }
            if (!value.is_object()) {
                return wrong(where("/mcpServers"), "`mcpServers` must be an object",
                             "Write {\"mcpServers\": {\"name\": {\"command\": …}}}.");
            }
        }
        return {};
    }
    [[nodiscard]] const json::object* servers() const {
        const json::value* found = value_.if_contains("mcpServers");
        return found == nullptr ? nullptr : &found->get_object();
    }
    [[nodiscard]] std::string where(const std::string& pointer) const {
        return places_.source.empty() ? path_ : places_.where(pointer);
    }

    [[nodiscard]] Result<ServerDefinition> server(const std::string& name, const json::value& value) const {
        const std::string at = "/mcpServers/" + name;
        if (!value.is_object()) {
            return wrong(where(at), "the server `" + name + "` must be an object", "Write {\"command\": …, \"args\": […]}.");
        }
        const json::object& fields = value.get_object();
        ServerDefinition server;
        server.name = name;
        server.where = where(at);
        server.from_repository = true;
        AF_CHECK(check_fields(name, fields));
        AF_CHECK(check_is_process(server, fields));
        AF_CHECK(read_command(server, fields));
        AF_CHECK(read_environment(server, fields));
        return server;
    }

private:
    [[nodiscard]] Result<void> check_fields(const std::string& name, const json::object& fields) const {
        static const std::vector<std::string> known{"type", "command", "args", "env", "url", "headers"};
        for (const auto& [key, field] : fields) {
            if (std::find(known.begin(), known.end(), std::string_view(key)) != known.end()) { continue; }
            const std::string near = nearest(key, known);
            return wrong(
                where("/mcpServers/" + name + "/" + std::string(key)),
                "the server `" + name + "` has the unknown field `" + std::string(key) + "`",
                near.empty()
                    ? "`type`, `command`, `args` and `env` are allowed here; AgentForge's own fields go under mcp_servers." +
                          name + " in the settings."
                    : "Did you mean `" + near + "`?");
        }
        return {};
    }
    [[nodiscard]] static Result<void> check_is_process(const ServerDefinition& server, const json::object& fields) {
        const json::value* type = fields.if_contains("type");
        if ((type == nullptr || *type == "stdio") && !fields.contains("url") && !fields.contains("headers")) { return {}; }
        const std::string found = type != nullptr ? json::serialize(*type) : "a `url`";
        return Error{"AF-MCP-003",
                     "the server `" + server.name + "` is of type " + found + ", which is not supported: stdio only",
                     server.where, "Start the server as a process, with `command`, or remove it.", ErrorKind::unavailable};
    }
    [[nodiscard]] Result<void> read_command(ServerDefinition& server, const json::object& fields) const {
        const json::value* command = fields.if_contains("command");
        if (command == nullptr || !command->is_string() || command->get_string().empty()) {
            return wrong(server.where, "the server `" + server.name + "` has no `command`",
                         "Give the program as a string, and its arguments in `args`.");
        }
        server.command.emplace_back(command->get_string());
        if (const json::value* args = fields.if_contains("args"); args != nullptr) {
            const auto list = texts(*args);
            if (!args->is_array() || list.size() != args->get_array().size()) {
                return wrong(where("/mcpServers/" + server.name + "/args"),
                             "`args` of the server `" + server.name + "` must be a list of strings");
            }
            server.command.insert(server.command.end(), list.begin(), list.end());
        }
        return {};
    }
    [[nodiscard]] Result<void> read_environment(ServerDefinition& server, const json::object& fields) const {
        const json::value* env = fields.if_contains("env");
        if (env == nullptr) { return {}; }
        const std::string at = "/mcpServers/" + server.name + "/env";
        if (!env->is_object()) {
            return wrong(where(at), "`env` of the server `" + server.name + "` must be an object with string values");
        }
        for (const auto& [key, text] : env->get_object()) {
            if (!text.is_string()) {
                return wrong(where(at + "/" + std::string(key)),
                             "`env." + std::string(key) + "` of the server `" + server.name + "` must be a string");
            }
            server.environment[key] = std::string(text.get_string());
        }
        return {};
    }

    std::string path_;
    json::object value_;
    YamlDocument places_;
};

Result<void> check(ServerDefinition& server, const ServerSources& sources) {
    if (server.command.empty() || server.command.front().empty()) {
        return wrong(server.where, "the server `" + server.name + "` has no `command`",
                     "Name its program under mcp_servers." + server.name + ".command.");
    }
    const auto expanded = [&]() -> Result<void> {
        AF_CHECK(expand(server.command, sources.environment));
        AF_CHECK(expand(server.readable, sources.environment));
        for (auto& [name, value] : server.environment) { AF_TRY(value, expand_variables(value, sources.environment)); }
        return {};
    }();
    if (!expanded.ok()) {
        Error error = expanded.error();
        error.message = "the server `" + server.name + "`: " + error.message;
        error.where = server.where;
        return error;
    }
    for (const std::string& folder : server.readable) {
        if (!folder.starts_with('/')) {
            return wrong(server.where,
                         "`readable` of the server `" + server.name + "` names `" + folder + "`, which is not an absolute path",
                         "Write the absolute path.");
        }
    }
    if (server.network && !sources.network_allowed) {
        return Error{
            "AF-MCP-004", "the server `" + server.name + "` asks for the network, which your own settings do not allow",
            server.where,
            "Set servers.allow_network to true in ~/.agentforge/config.yaml (a project's settings cannot), or remove `network`.",
            ErrorKind::denied};
    }
    return {};
}

}  // namespace

Result<std::string> expand_variables(std::string_view text, const std::map<std::string, std::string>& environment) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = text.find("${", at);
        const std::size_t end = begin == std::string_view::npos ? begin : text.find('}', begin);
        if (end == std::string_view::npos) { return out + std::string(text.substr(at)); }
        out += text.substr(at, begin - at);
        at = end + 1;
        const std::string_view inner = text.substr(begin + 2, end - begin - 2);
        const std::size_t colon = inner.find(":-");
        const std::string name(inner.substr(0, colon));
        const auto found = environment.find(name);
        if (found != environment.end() && !(colon != std::string_view::npos && found->second.empty())) {
            out += found->second;
        } else if (colon != std::string_view::npos) {
            out += inner.substr(colon + 2);
        } else if (std::find(own_variables.begin(), own_variables.end(), name) != own_variables.end()) {
            out += text.substr(begin, end + 1 - begin);
        } else {
            return Error{"AF-MCP-021", "the environment variable " + name + " is not set", "",
                         "Set it, or write ${" + name + ":-a default}.", ErrorKind::invalid};
        }
    }
    return out;
}

namespace {
std::string in_our_letters(std::string_view name) {
    std::string out;
    char before = 0;
    for (const char c : name) {
        if (c >= 'A' && c <= 'Z') {
            if (small_or_digit(before)) { out += '_'; }
            out += static_cast<char>(c - 'A' + 'a');
        } else {
            out += small_or_digit(c) ? c : '_';
        }
        before = c;
    }
    return out;
}
}  // namespace

std::string mapped_name(std::string_view name) {
    std::string out = in_our_letters(name);
    if (out.empty() || out.front() < 'a' || out.front() > 'z') { out.insert(0, "x_"); }
    return out;
}

std::string tool_prefix(std::string_view server) {
    std::string out;
    for (const char c : mapped_name(server)) {
        if (c != '_' || !out.ends_with('_')) { out += c; }
    }
    while (out.ends_with('_')) { out.pop_back(); }
    return out;
}

std::string server_tool_name(std::string_view prefix, std::string_view tool) {
    return std::string(prefix) + "__" + in_our_letters(tool);
}

std::string_view prefix_of(std::string_view tool_name) noexcept {
    const std::size_t at = tool_name.find("__");
    return at == std::string_view::npos ? std::string_view() : tool_name.substr(0, at);
}

const ServerDefinition* ServerSet::by_prefix(std::string_view prefix) const noexcept {
    const auto found =
        std::find_if(servers.begin(), servers.end(), [&](const ServerDefinition& server) { return server.prefix == prefix; });
    return found == servers.end() ? nullptr : &*found;
}

Error no_such_server(const ServerSet& set, const std::string& what, const std::string& name) {
    std::vector<std::string> names;
    for (const ServerDefinition& server : set.servers) { names.push_back(server.prefix); }
    const std::string near = nearest(tool_prefix(name), names);
    return {
        "AF-MCP-001", what, "",
        near.empty()
            ? "Declare the server in .mcp.json or under mcp_servers in the settings; `agentforge servers list` shows those that are declared."
            : "Did you mean `" + set.by_prefix(near)->name + "`, whose tools are " + near + "__…?",
        ErrorKind::unavailable};
}

Error no_such_tool(const ServerDefinition& server, const std::string& tool, const std::string& more,
                   const std::vector<std::string>& tools) {
    const std::string near = nearest(tool, tools);
    std::string remedy;
    if (near.empty()) {
        remedy = tools.empty() ? "Use another tool." : "Its tools:";
        for (const std::string& name : tools) { remedy += " " + name; }
    } else {
        remedy = "Did you mean `" + near + "`?";
    }
    return {"AF-MCP-014", "server `" + server.name + "` has no tool `" + tool + "`" + more, server.where, std::move(remedy),
            ErrorKind::unavailable};
}

Error not_trusted(const std::string& name, const std::string& where) {
    return {"AF-MCP-004",
            "the server `" + name + "` is declared by the project, which you have not trusted, so it was not started", where,
            "Look at it with `agentforge trust --show`, then allow it with `agentforge trust`.", ErrorKind::denied};
}

namespace {

/// Collects the declared servers, and divides them into used and refused ones.
class ServerSetReader {
public:
    explicit ServerSetReader(const ServerSources& sources) : sources_(sources) {}

    ServerSet read() {
        std::error_code missing;
        if (!sources_.mcp_json.empty() && std::filesystem::exists(sources_.mcp_json, missing)) { read_mcp_json(); }
        for (const auto& [key, value] : sources_.settings) {
            const std::string name(key);
            if (set_.refused.contains(tool_prefix(name)) || !value.is_object()) { continue; }
            read_settings(name, value.get_object());
        }
        for (auto& [name, server] : std::map<std::string, ServerDefinition>(found_)) { accept(name, server); }
        return std::move(set_);
    }

private:
    void refuse(const std::string& name, const Error& error) {
        set_.refused.insert_or_assign(tool_prefix(name), error);
        set_.problems.push_back(error);
        found_.erase(name);
    }

    void read_mcp_json() {
        McpJson file;
        if (const auto read = file.read(sources_.mcp_json); !read.ok()) {
            set_.problems.push_back(read.error());
            return;
        }
        const json::object* servers = file.servers();
        if (servers == nullptr) { return; }
        for (const auto& [key, value] : *servers) {
            const std::string name(key);
            if (auto server = file.server(name, value); server.ok()) {
                found_.emplace(name, std::move(*server));
            } else {
                refuse(name, server.error());
            }
        }
    }

    void read_settings(const std::string& name, const json::object& fields) {
        ServerDefinition& server = found_[name];
        server.name = name;
        const bool has_command = fields.contains("command");
        if (server.where.empty() || has_command) { server.where = sources_.where ? sources_.where(name) : name; }
        if (has_command) { server.from_repository = false; }
        apply_settings(fields, server);
    }

    void accept(const std::string& name, ServerDefinition& server) {
        server.prefix = tool_prefix(name);
        if (!server.enabled) {
            set_.refused.insert_or_assign(server.prefix,
                                          Error{"AF-MCP-001", "the server `" + name + "` is disabled", server.where,
                                                "Remove `enabled: false` from its settings.", ErrorKind::unavailable});
            return;
        }
        const auto [other, first] = prefixes_.emplace(server.prefix, name);
        if (!first) {
            refuse(name, {"AF-MCP-016",
                          "the servers `" + other->second + "` and `" + name + "` both use the tool prefix `" + server.prefix +
                              "__`; `" + name + "` is not used",
                          server.where, "Rename one of the two.", ErrorKind::conflict});
            set_.refused.erase(server.prefix);
            return;
        }
        if (server.from_repository && !sources_.trusted) {
            set_.refused.insert_or_assign(server.prefix, not_trusted(name, server.where));
            return;
        }
        if (const auto good = check(server, sources_); !good.ok()) {
            refuse(name, good.error());
            return;
        }
        set_.servers.push_back(server);
    }

    const ServerSources& sources_;
    ServerSet set_;
    std::map<std::string, ServerDefinition> found_;
    std::map<std::string, std::string> prefixes_;  ///< Prefix → server.
};

}  // namespace

ServerSet read_servers(const ServerSources& sources) { return ServerSetReader(sources).read(); }

}  // namespace agentforge::kernel
