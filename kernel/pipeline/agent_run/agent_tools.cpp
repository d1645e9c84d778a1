// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/agent_tools.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

using Tools = std::map<std::string, std::shared_ptr<Tool>, std::less<>>;

bool is_glob(std::string_view name) noexcept { return name.ends_with("__*"); }

/// True if a list's entry matches a tool.
bool covers(const std::string& entry, std::string_view tool) {
    return entry == tool || (is_glob(entry) && prefix_of(entry) == prefix_of(tool));
}

/// Returns the plugin process that provides a tool, or null.
const PluginManifest* process_of(const PluginRegistry& plugins, const std::string& tool) {
    const PluginManifest* const owner = plugins.owner(PluginKind::tool, tool);
    return owner != nullptr && !owner->command.empty() ? owner : nullptr;
}

class Loader {
public:
    Loader(const TaskServices& services, AgentDefinition& agent, ServerPool& servers, const std::function<ServerPlace()>& place,
           const ServerOffer& offer, const std::function<bool()>& cancelled)
        : services_(services), agent_(agent), servers_(servers), place_(place), offer_(offer), cancelled_(cancelled) {}

    Result<Tools> load() {
        std::vector<std::string> allowed;
        for (const std::string& entry : agent_.allowed_tools) {
            AF_TRY(const std::vector<std::string> names, load_entry(entry));
            for (const std::string& name : names) {
                if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) { allowed.push_back(name); }
            }
        }
        // Expands patterns of forbidden tools, so that a call of one is refused by name.
        std::vector<std::string> forbidden;
        for (const std::string& entry : agent_.forbidden_tools) {
            if (!is_glob(entry)) {
                forbidden.push_back(entry);
                continue;
            }
            for (const std::string& name : allowed) {
                if (covers(entry, name)) { forbidden.push_back(name); }
            }
        }
        std::erase_if(allowed, [&](const std::string& name) {
            return std::find(forbidden.begin(), forbidden.end(), name) != forbidden.end();
        });
        agent_.allowed_tools = std::move(allowed);
        agent_.forbidden_tools = std::move(forbidden);
        return std::move(tools_);
    }

private:
    [[nodiscard]] bool forbidden(const std::string& name) const {
        return std::any_of(agent_.forbidden_tools.begin(), agent_.forbidden_tools.end(),
                           [&](const std::string& entry) { return covers(entry, name); });
    }

    Result<std::vector<std::string>> load_entry(const std::string& entry) {
        if (const PluginManifest* process = process_of(services_.plugins, entry); process != nullptr) {
            AF_CHECK(load_process(*process));
            if (tools_.contains(entry)) { return std::vector{entry}; }
            return Error{"AF-MCP-020", "the plugin `" + process->id + "` does not offer its tool `" + entry + "`",
                         process->directory, "Report this to the plugin's author.", ErrorKind::unavailable};
        }
        const std::string_view prefix = prefix_of(entry);
        if (prefix.empty() || services_.plugins.has(PluginKind::tool, entry)) {
            AF_TRY(std::shared_ptr<Tool> tool, services_.plugins.tool(entry));
            tools_.emplace(entry, std::move(tool));
            return std::vector{entry};
        }
        AF_CHECK(check_tool_is_declared(services_.plugins, services_.servers, entry));
        const ServerDefinition& server = *services_.servers->by_prefix(prefix);
        AF_TRY(const std::vector<std::string> names, load_server(server));
        if (!is_glob(entry)) {
            if (std::find(names.begin(), names.end(), entry) != names.end()) { return std::vector{entry}; }
            return no_such_tool(server, entry, ", which role `" + agent_.role + "` lists", every_[server.prefix]);
        }
        std::vector<std::string> wanted;
        for (const std::string& name : names) {
            if (!forbidden(name)) { wanted.push_back(name); }
        }
        return wanted;
    }

    /// Loads all tools of the server that the role lists, once.
    Result<std::vector<std::string>> load_server(const ServerDefinition& server) {
        if (const auto known = loaded_.find(server.prefix); known != loaded_.end()) { return known->second; }
        ServerOffer offer = offer_;
        std::vector<std::string>& every = every_[server.prefix];
        offer.wanted = [&](const std::string& name) {
            every.push_back(name);
            const bool listed = std::any_of(agent_.allowed_tools.begin(), agent_.allowed_tools.end(),
                                            [&](const std::string& entry) { return covers(entry, name); });
            return listed && !forbidden(name);
        };
        AF_TRY(const auto made, servers_.tools(server, place_(), offer, cancelled_));
        std::vector<std::string> names;
        for (const auto& tool : made) {
            names.push_back(tool->spec().name);
            tools_.emplace(names.back(), tool);
        }
        loaded_.emplace(server.prefix, names);
        return names;
    }

    Result<void> load_process(const PluginManifest& manifest) {
        if (!processes_.insert(manifest.id).second) { return {}; }
        AF_CHECK(check_pinned_files(manifest));
        ServerOffer offer = offer_;
        offer.pin = nullptr;  // The user chose to install the plugin; its manifest describes the tools.
        offer.prefixed = false;
        offer.trust_hints = true;
        std::set<std::string> offered;
        offer.wanted = [&](const std::string& name) {
            offered.insert(name);
            return services_.plugins.owner(PluginKind::tool, name) == &manifest;
        };
        AF_TRY(const auto made, servers_.tools(plugin_process(manifest), place_(), offer, cancelled_));
        std::set<std::string> promised;
        for (const ManifestEntry& entry : manifest.provides) {
            if (entry.kind == PluginKind::tool) { promised.insert(entry.name); }
        }
        if (offered != promised) {
            const auto list = [](const std::set<std::string>& names) {
                std::string text;
                for (const std::string& name : names) { text += (text.empty() ? "" : ", ") + name; }
                return text.empty() ? std::string("none") : text;
            };
            return Error{"AF-MCP-020",
                         "the plugin `" + manifest.id + "` and its plugin.json list different tools: the process lists " +
                             list(offered) + ", the manifest " + list(promised),
                         manifest.directory + "/plugin.json",
                         "Make `provides` and the answer to `tools/list` name the same tools.", ErrorKind::invalid};
        }
        for (const auto& tool : made) { tools_.emplace(tool->spec().name, tool); }
        return {};
    }

    const TaskServices& services_;
    AgentDefinition& agent_;
    ServerPool& servers_;
    const std::function<ServerPlace()>& place_;
    const ServerOffer& offer_;
    const std::function<bool()>& cancelled_;
    Tools tools_;
    std::map<std::string, std::vector<std::string>> loaded_;  ///< By prefix: the tools that the role may use.
    std::map<std::string, std::vector<std::string>> every_;   ///< By prefix: all tools of the server, for messages.
    std::set<std::string> processes_;
};

}  // namespace

Result<Tools> load_tools(const TaskServices& services, AgentDefinition& agent, ServerPool& servers,
                         const std::function<ServerPlace()>& place, const ServerOffer& offer,
                         const std::function<bool()>& cancelled) {
    return Loader(services, agent, servers, place, offer, cancelled).load();
}

std::vector<ToolSpec> shipped_tools_of(const TaskServices& services, const AgentDefinition& agent,
                                       const json::object& completion_schema) {
    std::vector<ToolSpec> specs;
    for (const std::string& name : agent.allowed_tools) {
        const PluginManifest* const owner = services.plugins.owner(PluginKind::tool, name);
        if (owner == nullptr || owner->source != PluginSource::product || !owner->command.empty()) { continue; }
        const auto tool = services.plugins.tool(name);
        if (!tool.ok()) { continue; }  // The run reports the error.
        specs.push_back((*tool)->spec());
        if (has(specs.back().effects, ToolEffect::completes)) { specs.back().parameters = completion_schema; }
    }
    return specs;
}

Result<std::optional<std::string>> pin_tool(OpenRun& run, const std::string& name, const ListedTool& tool) {
    const auto& pinned = run.state().resumption.pinned_tools;
    if (const auto found = pinned.find(name); found != pinned.end()) {
        return found->second == tool.hash ? std::optional<std::string>() : std::optional(found->second);
    }
    AF_TRY(const std::string blob, run.session.put(tool.as_listed));
    AF_CHECK(run.session.record(records::ServerTool{name, run.stage_name(), tool.hash, blob}, &run.who));
    return std::optional<std::string>();
}

Result<void> check_tool_is_declared(const PluginRegistry& plugins, const ServerSet* servers, const std::string& tool) {
    if (plugins.has(PluginKind::tool, tool)) { return {}; }
    const std::string prefix(prefix_of(tool));
    if (auto error = plugins.why_not(PluginKind::tool, tool); error && (prefix.empty() || error->code != "AF-PLUG-010")) {
        return std::move(*error);
    }
    if (servers != nullptr) {
        if (servers->by_prefix(prefix) != nullptr) { return {}; }
        if (const auto refused = servers->refused.find(prefix); refused != servers->refused.end()) {
            Error error = refused->second;
            error.kind = ErrorKind::unavailable;
            return error;
        }
    }
    return no_such_server(servers == nullptr ? ServerSet() : *servers,
                          "no plugin provides the tool `" + tool + "`, and no tool server is called `" + prefix + "`", prefix);
}

ServerDefinition plugin_process(const PluginManifest& manifest) {
    ServerDefinition server;
    server.name = manifest.id;
    server.prefix = tool_prefix(manifest.id);
    server.where = manifest.directory + "/plugin.json";
    server.command = manifest.command;
    server.readable = {manifest.directory};
    return server;
}

}  // namespace agentforge::kernel
