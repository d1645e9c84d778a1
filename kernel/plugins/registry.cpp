// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/text.hpp"
#include "plugins/guard.hpp"
#include "plugins/host.hpp"
#include "plugins/library.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr const char* manifest_name = "plugin.json";
constexpr int folder_depth = 2;         // <root>/<kind>/<name>/plugin.json

std::string kind_and_name(PluginKind kind, std::string_view name) { return std::string(to_string(kind)) + " `" + std::string(name) + "`"; }

}  // namespace

struct PluginRegistry::State {
    template <class Interface>
    using Made = std::map<std::string, std::shared_ptr<Interface>, std::less<>>;

    std::vector<PluginManifest> plugins;
    std::vector<Error> problems;
    std::map<std::pair<PluginKind, std::string>, std::size_t> owners;   ///< Who provides a name; index into `plugins`.
    std::set<std::string> visited;                                      ///< Canonical folders.
    Made<Stage> stages;
    Made<Tool> tools;
    Made<LLMBackend> backends;
    Made<EscalationHandler> handlers;

    void search(const std::string& root, const char* named_by) {
        if (root.empty()) { return; }
        const auto unusable = [&](const std::string& why, const char* remedy, ErrorKind kind) {
            problems.push_back({"AF-PLUG-008", "The plugin folder from " + std::string(named_by) + " is not used: " + why, root, remedy, kind});
        };
        if (root.front() != '/') {
            // A relative folder would be looked for in whatever directory, perhaps a hostile one, the program was started.
            unusable("it is not an absolute path", "Name it from the root: /…", ErrorKind::denied);
            return;
        }
        std::error_code failure;
        if (!fs::is_directory(root, failure)) {
            unusable(failure ? failure.message() : "it is not a folder", "Create it, or take it out of the search.", ErrorKind::not_found);
            return;
        }
        visit(root, 0);
    }

    void visit(const fs::path& folder, int depth) {
        std::error_code failure;
        const fs::path real = fs::canonical(folder, failure);
        if (failure) {
            problems.push_back({"AF-PLUG-008", "A plugin folder is not used: " + failure.message(), folder.string(), "Make it readable.", ErrorKind::io});
            return;
        }
        if (!visited.insert(real.string()).second) { return; }
        if (fs::exists(real / manifest_name, failure)) {
            add(real / manifest_name);
            return;     // A plugin's folder holds no other plugin.
        }
        if (depth == folder_depth) { return; }
        std::vector<fs::path> inside;
        fs::directory_iterator entry(real, failure);
        for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
            std::error_code ignored;
            if (entry->is_directory(ignored)) { inside.push_back(entry->path()); }
        }
        if (failure) {
            problems.push_back({"AF-PLUG-008", "A plugin folder is not read to its end: " + failure.message(), real.string(), "Make it readable.", ErrorKind::io});
        }
        std::ranges::sort(inside);      // The same order on every machine.
        for (const fs::path& path : inside) { visit(path, depth + 1); }
    }

    void add(const fs::path& path) {
        auto manifest = read_manifest(path.string());
        if (!manifest.ok()) {
            problems.push_back(std::move(manifest).error());
            return;
        }
        const std::size_t index = plugins.size();
        for (const ManifestEntry& entry : manifest->provides) {
            const auto [owner, first] = owners.try_emplace({entry.kind, entry.name}, index);
            if (first) { continue; }
            const PluginManifest& other = plugins[owner->second];
            problems.push_back({"AF-PLUG-007",
                                "The " + kind_and_name(entry.kind, entry.name) + " of plugin `" + manifest->id + "` is not used: `" + other.id + "` in " +
                                    other.directory + " was found first and provides it too",
                                path.string(), "Remove one of the two, or rename it.", ErrorKind::conflict});
        }
        plugins.push_back(std::move(*manifest));
    }

    [[nodiscard]] std::vector<std::string> names(PluginKind kind) const {
        std::set<std::string> all;
        for (const auto& [key, owner] : owners) {
            if (key.first == kind) { all.insert(key.second); }
        }
        const auto take = [&](const auto& made) { for (const auto& [name, object] : made) { all.insert(name); } };
        switch (kind) {
            case PluginKind::stage: take(stages); break;
            case PluginKind::tool: take(tools); break;
            case PluginKind::llm: take(backends); break;
            case PluginKind::escalation: take(handlers); break;
        }
        return {all.begin(), all.end()};
    }

    /// An object of a plugin, fresh from its factory and not yet guarded.
    template <class Interface>
    Result<std::pair<std::shared_ptr<Interface>, Origin>> make(PluginKind kind, std::string_view name, const json::object& config) const {
        const auto owner = owners.find({kind, std::string(name)});
        if (owner == owners.end()) { return unknown(kind, name); }
        const PluginManifest& manifest = plugins[owner->second];
        if (!manifest.command.empty()) {
            return Error{"AF-PLUG-019", "The " + kind_and_name(kind, name) + " of plugin `" + manifest.id + "` is a process: it runs inside a task and has no library to load",
                         manifest.directory + "/plugin.json", "Use it in a pipeline or an agent's tools.", ErrorKind::invalid};
        }
        AF_TRY(const AgentforgeDescriptor* const descriptor, open_library(manifest));
        const auto* const end = descriptor->factories + descriptor->factory_count;
        const auto* const factory = std::find_if(descriptor->factories, end, [&](const AgentforgeFactory& candidate) {
            return candidate.kind == static_cast<std::uint32_t>(kind) && candidate.name == name;
        });
        Origin origin{manifest.id, std::string(name), manifest.directory + "/" + manifest.library};
        std::array<char, 1024> reason{};
        void* object = nullptr;
        try {
            object = factory->create(to_json_line(config).c_str(), reason.data(), reason.size());
        } catch (const std::exception& failure) {   // A factory that the SDK did not make.
            detail::report_create_failure(reason.data(), reason.size(), failure.what());
        } catch (...) {
            detail::report_create_failure(reason.data(), reason.size(), "something that is not a std::exception");
        }
        if (object == nullptr) {
            reason.back() = '\0';
            const std::string text = sanitize_utf8(reason.data());
            return Error{"AF-PLUG-016",
                         "The plugin `" + manifest.id + "` could not make its " + kind_and_name(kind, name) + ": " + (text.empty() ? "it gave no reason" : text),
                         origin.library, "Correct its settings, or report it to the plugin's author.", ErrorKind::invalid};
        }
        const AgentforgeDestroy destroy = factory->destroy;
        std::shared_ptr<Interface> made(static_cast<Interface*>(object), [destroy](Interface* pointer) noexcept {
            try {
                destroy(pointer);
            } catch (...) {     // A destructor that throws is a defect of the plugin; the host stands.
            }
        });
        return std::pair(std::move(made), std::move(origin));
    }

    [[nodiscard]] Error unknown(PluginKind kind, std::string_view name) const {
        const std::vector<std::string> known = names(kind);
        const std::string near = nearest(name, known);
        std::string remedy;
        if (!near.empty()) { remedy = "Did you mean `" + near + "`?"; }
        else if (known.empty()) { remedy = "No plugin provides any; check plugins.path and AGENTFORGE_PLUGIN_PATH."; }
        else {
            remedy = "There are:";
            for (const std::string& each : known) { remedy += " " + each; }
        }
        if (!problems.empty()) { remedy += " " + std::to_string(problems.size()) + " plugin folder(s) or names could not be used: `agentforge plugins list` says why."; }
        return {"AF-PLUG-010", "No plugin provides the " + kind_and_name(kind, name), "", std::move(remedy), ErrorKind::not_found};
    }
};

PluginRegistry::PluginRegistry() : state_(std::make_unique<State>()) {}
PluginRegistry::PluginRegistry(PluginRegistry&&) noexcept = default;
PluginRegistry& PluginRegistry::operator=(PluginRegistry&&) noexcept = default;
PluginRegistry::~PluginRegistry() = default;

PluginRegistry PluginRegistry::discover(const PluginSearch& search) {
    PluginRegistry registry;
    State& state = *registry.state_;
    for (const std::string& folder : search.configured) { state.search(folder, "the settings"); }
    for (std::size_t begin = 0; begin <= search.environment.size();) {
        const std::size_t end = std::min(search.environment.find(':', begin), search.environment.size());
        state.search(search.environment.substr(begin, end - begin), "AGENTFORGE_PLUGIN_PATH");
        begin = end + 1;
    }
    state.search(search.product, "the installation");
    return registry;
}

const std::vector<PluginManifest>& PluginRegistry::plugins() const noexcept { return state_->plugins; }
const std::vector<Error>& PluginRegistry::problems() const noexcept { return state_->problems; }
std::vector<std::string> PluginRegistry::names(PluginKind kind) const { return state_->names(kind); }

bool PluginRegistry::has(PluginKind kind, std::string_view name) const {
    const std::vector<std::string> all = names(kind);
    return std::ranges::find(all, name) != all.end();
}

const PluginManifest* PluginRegistry::owner(PluginKind kind, std::string_view name) const {
    const auto found = state_->owners.find({kind, std::string(name)});
    return found == state_->owners.end() ? nullptr : &state_->plugins[found->second];
}

Result<std::shared_ptr<Stage>> PluginRegistry::stage(std::string_view name, const json::object& config) {
    if (const auto made = state_->stages.find(name); made != state_->stages.end()) { return made->second; }
    AF_TRY(auto object, state_->make<Stage>(PluginKind::stage, name, config));
    return guard_stage(std::move(object.first), std::move(object.second));
}

Result<std::shared_ptr<Tool>> PluginRegistry::tool(std::string_view name, const json::object& config) {
    if (const auto made = state_->tools.find(name); made != state_->tools.end()) { return made->second; }
    AF_TRY(auto object, state_->make<Tool>(PluginKind::tool, name, config));
    return guard_tool(std::move(object.first), std::move(object.second));
}

Result<std::shared_ptr<LLMBackend>> PluginRegistry::backend(std::string_view name, const json::object& config) {
    if (const auto made = state_->backends.find(name); made != state_->backends.end()) { return made->second; }
    AF_TRY(auto object, state_->make<LLMBackend>(PluginKind::llm, name, config));
    return guard_backend(std::move(object.first), std::move(object.second));
}

Result<std::shared_ptr<EscalationHandler>> PluginRegistry::escalation(std::string_view name, const json::object& config) {
    if (const auto made = state_->handlers.find(name); made != state_->handlers.end()) { return made->second; }
    AF_TRY(auto object, state_->make<EscalationHandler>(PluginKind::escalation, name, config));
    return guard_escalation(std::move(object.first), std::move(object.second));
}

void PluginRegistry::add_stage(std::string name, std::shared_ptr<Stage> stage) { state_->stages.insert_or_assign(std::move(name), std::move(stage)); }
void PluginRegistry::add_tool(std::string name, std::shared_ptr<Tool> tool) { state_->tools.insert_or_assign(std::move(name), std::move(tool)); }
void PluginRegistry::add_backend(std::string name, std::shared_ptr<LLMBackend> backend) { state_->backends.insert_or_assign(std::move(name), std::move(backend)); }
void PluginRegistry::add_escalation(std::string name, std::shared_ptr<EscalationHandler> handler) {
    state_->handlers.insert_or_assign(std::move(name), std::move(handler));
}

}  // namespace agentforge::kernel
