// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>

#include "base/text.hpp"
#include "plugins/call_watch.hpp"
#include "plugins/config_check.hpp"
#include "plugins/guard.hpp"
#include "plugins/library.hpp"
#include "plugins/manifest_versions.hpp"
#include "plugins/plugin_registry.hpp"
#include "plugins/stage_definitions.hpp"
#include "plugins/trial.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr const char* manifest_name = "plugin.json";
constexpr int folder_depth = 2;  // <root>/<kind>/<name>/plugin.json

std::string kind_and_name(PluginKind kind, std::string_view name) {
    return std::string(to_string(kind)) + " `" + std::string(name) + "`";
}

/// Fills in the schema's `default` for every setting that was not given, inside maps too.
void add_defaults(const json::object& schema, json::object& settings) {
    const json::value* properties = schema.if_contains("properties");
    if (properties == nullptr || !properties->is_object()) { return; }
    for (const auto& [name, property] : properties->get_object()) {
        const json::object* const inner = property.if_object();
        if (inner == nullptr) { continue; }
        const json::value* const otherwise = inner->if_contains("default");
        if (json::value* const given = settings.if_contains(name); given != nullptr) {
            if (given->is_object()) { add_defaults(*inner, given->get_object()); }
        } else if (otherwise != nullptr) {
            settings[name] = *otherwise;
        }
    }
}

bool writable_by_all(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IWOTH) != 0;
}

/// A plugin that cannot be created will fail again, however often a stage or a model retries. Only the user can fix it.
template <class T>
Result<T> as_permanent_failure(Result<T> made) {
    if (made.ok()) { return made; }
    Error error = std::move(made).error();
    error.kind = ErrorKind::unavailable;
    return error;
}

}  // namespace

struct PluginRegistry::State {
    template <class Interface>
    using Made = std::map<std::string, std::shared_ptr<Interface>, std::less<>>;

    std::vector<PluginManifest> plugins;
    std::vector<Error> problems;
    PluginSearch wanted;
    std::optional<PluginLock> lock;
    bool lock_unreadable = false;
    fs::path product;  ///< Canonical path.
    Interfaces interfaces;
    std::map<std::pair<PluginKind, std::string>, std::size_t> owners;  ///< Provider of each name: index into `plugins`.
    std::map<std::string, StageDefinition, std::less<>> definitions;   ///< Stages that no plugin provides.
    std::set<std::string> visited;                                     ///< Canonical folders.
    struct Tried {
        std::mutex mutex;
        std::set<std::string> what;
    };
    std::unique_ptr<Tried> tried = std::make_unique<Tried>();  ///< Objects that were created in a separate process.
    Made<Stage> stages;
    Made<Tool> tools;
    Made<LLMBackendV2> backends;
    Made<EscalationHandler> handlers;

    void search(const std::string& root, const char* named_by, PluginSource source) {
        if (root.empty()) { return; }
        const auto unusable = [&](const std::string& why, const char* remedy, ErrorKind kind) {
            problems.push_back(
                {"AF-PLUG-008", "The plugin folder from " + std::string(named_by) + " is not used: " + why, root, remedy, kind});
        };
        if (root.front() != '/') {
            // A relative folder would be resolved in the current directory, which may be hostile.
            unusable("it is not an absolute path", "Name it from the root: /…", ErrorKind::denied);
            return;
        }
        std::error_code failure;
        if (!fs::is_directory(root, failure)) {
            unusable(failure ? failure.message() : "it is not a folder", "Create it, or take it out of the search.",
                     ErrorKind::not_found);
            return;
        }
        visit(root, 0, source);
    }

    void visit(const fs::path& folder, int depth, PluginSource source) {
        std::error_code failure;
        const fs::path real = fs::canonical(folder, failure);
        if (failure) {
            problems.push_back({"AF-PLUG-008", "A plugin folder is not used: " + failure.message(), folder.string(),
                                "Make it readable.", ErrorKind::io});
            return;
        }
        // A folder inside the installation counts as shipped, even if a user's setting names it.
        if (source != PluginSource::product && !product.empty() && std::ranges::mismatch(product, real).in1 == product.end()) {
            return;
        }
        if (!visited.insert(real.string()).second) { return; }
        if (fs::exists(real / manifest_name, failure)) {
            add(real / manifest_name, source);
            return;  // A plugin's folder contains no other plugin.
        }
        if (depth == folder_depth) { return; }
        if (source != PluginSource::project && !lock) { report_if_world_writable(real.string()); }
        std::vector<fs::path> inside;
        fs::directory_iterator entry(real, failure);
        for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
            std::error_code ignored;
            if (entry->is_directory(ignored)) { inside.push_back(entry->path()); }
        }
        if (failure) {
            problems.push_back({"AF-PLUG-008", "A plugin folder was only partly read: " + failure.message(), real.string(),
                                "Make it readable.", ErrorKind::io});
        }
        std::ranges::sort(inside);  // For the same order on every machine.
        for (const fs::path& path : inside) { visit(path, depth + 1, source); }
    }

    void add(const fs::path& path, PluginSource source) {
        auto manifest = read_manifest(path.string());
        if (!manifest.ok()) {
            problems.push_back(std::move(manifest).error());
            return;
        }
        manifest->source = source;
        plugins.push_back(std::move(*manifest));
    }

    /// Decides which of the found plugins are used, and which one provides each name.
    void resolve() {
        for (PluginManifest& manifest : plugins) {
            decide(manifest);
            if (manifest.refused && manifest.state != PluginState::disabled && manifest.state != PluginState::not_trusted) {
                problems.push_back(*manifest.refused);
            }
        }
        for (const PluginManifest& manifest : plugins) { choose_version(manifest.id); }
        for (std::size_t index = 0; index < plugins.size(); ++index) { assign_names(index); }
        add_stage_definitions();
        for (const PluginManifest& manifest : plugins) {
            // Pinned files are compared before they run.
            if (manifest.state != PluginState::ready || manifest.pinned != nullptr) { continue; }
            for (const std::string& path : {manifest.directory, manifest.directory + "/" + manifest_name}) {
                report_if_world_writable(path);
            }
            if (!manifest.library.empty()) { report_if_world_writable(manifest.directory + "/" + manifest.library); }
        }
    }

    /// Adds the stages that are data, unless a plugin provides a stage of that name.
    void add_stage_definitions() {
        StageDefinitions read = read_stage_definitions(wanted.stages);
        std::ranges::move(read.problems, std::back_inserter(problems));
        const auto runner = owners.find({PluginKind::stage, std::string(prompt_executor)});
        for (auto& [name, definition] : read.by_name) {
            if (owners.contains({PluginKind::stage, name})) { continue; }
            if (runner == owners.end()) { continue; }
            const PluginManifest& manifest = plugins[runner->second];
            const auto problem = check_config(manifest, settings_of(manifest, prompt_executor, definition.settings));
            if (!problem.ok() || *problem) {
                problems.push_back({"AF-PLUG-052",
                                    "The definition of the stage `" + name +
                                        "` is not used: " + (problem.ok() ? (*problem)->message : problem.error().message),
                                    definition.document.where("/stage" + (problem.ok() ? (*problem)->pointer : std::string())),
                                    "`agentforge plugins show prompt` lists its settings.", ErrorKind::invalid});
                continue;
            }
            definitions.emplace(name, std::move(definition));
        }
    }

    /// The provider of a name, its own name for it, and its settings. For a declarative stage the plugin `prompt`. Null: none.
    struct Provider {
        const PluginManifest* manifest = nullptr;
        std::string name;
        json::object settings;
    };
    [[nodiscard]] Provider provider(PluginKind kind, std::string_view name, const json::object& config) const {
        const auto owner = owners.find({kind, std::string(name)});
        if (owner != owners.end()) {
            return {&plugins[owner->second], std::string(name), settings_of(plugins[owner->second], name, config)};
        }
        const auto data = kind == PluginKind::stage ? definitions.find(name) : definitions.end();
        if (data == definitions.end()) { return {}; }
        const PluginManifest& manifest = plugins[owners.find({kind, std::string(prompt_executor)})->second];
        json::object settings = data->second.settings;
        for (const auto& [key, value] : config) { settings[key] = value; }
        return {&manifest, std::string(prompt_executor), settings_of(manifest, prompt_executor, settings)};
    }

    void assign_names(std::size_t index) {
        const PluginManifest& manifest = plugins[index];
        for (const ManifestEntry& entry : manifest.provides) {
            if (manifest.state != PluginState::ready) { break; }
            const auto [owner, first] = owners.try_emplace({entry.kind, entry.name}, index);
            if (first) { continue; }
            const PluginManifest& other = plugins[owner->second];
            problems.push_back(
                {"AF-PLUG-007",
                 "The " + kind_and_name(entry.kind, entry.name) + " of plugin `" + manifest.id + "` is not used: `" + other.id +
                     "` in " + other.directory + " was found first and provides it too",
                 manifest.directory + "/" + manifest_name, "Remove one of the two, or rename it.", ErrorKind::conflict});
        }
    }

    /// Chooses one of the usable plugins with this id.
    void choose_version(const std::string& id) {
        const PluginManifest* chosen = nullptr;
        for (const PluginManifest& manifest : plugins) {
            if (manifest.id != id || manifest.state != PluginState::ready) { continue; }
            if (chosen == nullptr || supersedes(manifest, *chosen)) { chosen = &manifest; }
        }
        for (PluginManifest& manifest : plugins) {
            if (manifest.id != id || manifest.state != PluginState::ready || &manifest == chosen) { continue; }
            manifest.state = PluginState::duplicate;
            manifest.refused = Error{
                "AF-PLUG-009",
                "The plugin `" + id + "` " + manifest.version + " is not used: version " + chosen->version + " of the same id " +
                    (supersedes(*chosen, manifest) ? "is newer, in " : "was found first in ") + chosen->directory,
                manifest.directory + "/" + manifest_name, "Remove one of the two, or remove its folder from the search path.",
                ErrorKind::conflict};
            problems.push_back(*manifest.refused);
        }
    }

    /// Any user who may write a file that this process runs has all the rights of this process's user.
    void report_if_world_writable(const std::string& path) {
        if (!writable_by_all(path)) { return; }
        problems.push_back({"AF-PLUG-038", "Every user of this machine can change a plugin: its file or folder is world-writable",
                            path, "chmod o-w " + path + ", after checking that it is what you installed.", ErrorKind::denied});
    }

    /// Decides whether a plugin is used. Its files are checked when it is loaded.
    void decide(PluginManifest& manifest) const {
        const auto refuse = [&](PluginState state, Error error) {
            manifest.state = state;
            manifest.refused = std::move(error);
        };
        const std::string place = manifest.directory + "/" + manifest_name;
        const auto in = [&](const std::vector<std::string>& ids) { return std::ranges::find(ids, manifest.id) != ids.end(); };
        const bool left_out = wanted.choice.enable && manifest.source != PluginSource::product && !in(*wanted.choice.enable);
        if (left_out || in(wanted.choice.disable)) {
            refuse(PluginState::disabled,
                   {"AF-PLUG-030",
                    "The plugin `" + manifest.id + "` is disabled" +
                        (left_out ? ": plugins.enable does not name it" : " by plugins.disable"),
                    place, left_out ? "Name it there to use it." : "Remove it there to use it.", ErrorKind::denied});
            return;
        }
        if (manifest.source == PluginSource::product) { return; }
        if (manifest.source == PluginSource::project && !wanted.project_trusted) {
            refuse(PluginState::not_trusted,
                   {"AF-PLUG-030", "The plugin `" + manifest.id + "` is the project's, which you have not trusted", place,
                    "Look at it with `agentforge trust --show`, then allow it with `agentforge trust`.", ErrorKind::denied});
            return;
        }
        if (lock_unreadable) {
            refuse(PluginState::not_locked,
                   {"AF-PLUG-032", "The plugin `" + manifest.id + "` is not loaded: this project's lock cannot be read",
                    wanted.lock, "Correct the lock, or write it again with `agentforge plugins lock`.", ErrorKind::denied});
            return;
        }
        if (lock) {
            if (auto admitted = lock->admits(manifest); !admitted.ok()) {
                refuse(lock->plugins.contains(manifest.id) ? PluginState::lock_differs : PluginState::not_locked,
                       std::move(admitted).error());
                return;
            }
            manifest.pinned = std::make_shared<const FileHashes>(lock->plugins.find(manifest.id)->second.files);
            manifest.pinned_by = lock->plugins.find(manifest.id)->second.where;
        } else if (const auto trusted = wanted.trusted_files.find(manifest.directory); trusted != wanted.trusted_files.end()) {
            manifest.pinned = std::make_shared<const FileHashes>(trusted->second);
            manifest.pinned_by = "what you trusted";
            // The bytes that were read and those that were hashed for trust may differ if the file was replaced in between.
            const auto file = trusted->second.find(manifest_name);
            const std::string found = manifest.sha256();
            if (file == trusted->second.end() || file->second != found) {
                refuse(PluginState::lock_differs,
                       file_differs(manifest, manifest_name, found, file == trusted->second.end() ? "" : file->second));
                return;
            }
        }
        if (auto schema = check_config_schema(manifest); !schema.ok()) { refuse(PluginState::broken, std::move(schema).error()); }
    }

    /// Merges settings: the schema's defaults, then those under the plugin's id, then those under the object's name, then those
    /// of its place of use. Later ones win.
    [[nodiscard]] json::object settings_of(const PluginManifest& manifest, std::string_view name,
                                           const json::object& config) const {
        json::object merged;
        const auto overlay = [&](const json::object& over) {
            for (const auto& [key, value] : over) { merged[key] = value; }
        };
        for (const std::string_view key : {std::string_view(manifest.id), name}) {
            const json::value* own = wanted.settings.if_contains(key);
            if (own != nullptr && own->is_object()) { overlay(own->get_object()); }
        }
        overlay(config);
        add_defaults(manifest.config_schema, merged);
        return merged;
    }

    Result<void> check_settings(const PluginManifest& manifest, PluginKind kind, std::string_view name,
                                const json::object& settings, bool partial = false) const {
        AF_TRY(const std::optional<ConfigProblem> problem, check_config(manifest, settings, partial));
        if (!problem) { return {}; }
        std::string where = wanted.place ? wanted.place(manifest, kind, name, problem->pointer) : std::string();
        if (where.empty()) { where = "settings of " + kind_and_name(kind, name); }
        return Error{"AF-PLUG-050",
                     "The settings of the " + kind_and_name(kind, name) + " do not fit the plugin `" + manifest.id +
                         "`: " + problem->message,
                     std::move(where), "Correct them; `agentforge plugins show " + manifest.id + "` lists its settings.",
                     ErrorKind::invalid};
    }

    [[nodiscard]] std::vector<std::string> names(PluginKind kind) const {
        std::set<std::string> all;
        for (const auto& [key, owner] : owners) {
            if (key.first == kind) { all.insert(key.second); }
        }
        const auto take = [&](const auto& made) {
            for (const auto& [name, object] : made) { all.insert(name); }
        };
        switch (kind) {
            case PluginKind::stage:
                take(stages);
                take(definitions);
                break;
            case PluginKind::tool:
                take(tools);
                break;
            case PluginKind::llm:
                take(backends);
                break;
            case PluginKind::escalation:
                take(handlers);
                break;
        }
        return {all.begin(), all.end()};
    }

    /// An object fresh from its factory, not yet guarded.
    template <class Interface>
    Result<std::pair<std::shared_ptr<Interface>, Origin>> make(PluginKind kind, std::string_view name, const json::object& config,
                                                               const InterfaceVersions<Interface>& versions) const {
        const Provider found = provider(kind, name, config);
        if (found.manifest == nullptr) { return unknown(kind, name); }
        const PluginManifest& manifest = *found.manifest;
        if (!manifest.command.empty()) {
            return Error{"AF-PLUG-019",
                         "The " + kind_and_name(kind, name) + " of plugin `" + manifest.id +
                             "` is a process: it runs inside a task and has no library to load",
                         manifest.directory + "/plugin.json", "Use it in a pipeline or an agent's tools.", ErrorKind::invalid};
        }
        AF_CHECK(check_settings(manifest, kind, name, found.settings));
        AF_CHECK(tried_once(manifest, kind, found.name, [&]() -> Result<void> {
            AF_CHECK(made_by_factory(manifest, kind, found.name, found.settings, versions));
            return {};
        }));
        return made_by_factory(manifest, kind, found.name, found.settings, versions);
    }

    /// Runs code of a user's plugin in a separate process first. A crash, hang or exit while it is loaded or created then becomes
    /// an error.
    Result<void> tried_once(const PluginManifest& manifest, PluginKind kind, std::string_view name,
                            const std::function<Result<void>()>& work) const {
        if (manifest.source == PluginSource::product) { return {}; }
        const std::string what = kind_and_name(kind, name);
        {
            const std::lock_guard guard(tried->mutex);
            if (!tried->what.insert(manifest.directory + "\n" + what).second) { return {}; }
        }
        return run_in_child(manifest, "its " + what + " was made", work);
    }

    template <class Interface>
    Result<std::pair<std::shared_ptr<Interface>, Origin>> made_by_factory(const PluginManifest& manifest, PluginKind kind,
                                                                          std::string_view name, const json::object& settings,
                                                                          const InterfaceVersions<Interface>& versions) const {
        const CallWatch::Call noted(CallWatch::lasting(kind_and_name(kind, name) + " of plugin `" + manifest.id + "`"), "create");
        AF_TRY(const AgentforgeDescriptor* const descriptor, open_library(manifest, interfaces));
        const auto* const end = descriptor->factories + descriptor->factory_count;
        const auto* const factory = std::find_if(descriptor->factories, end, [&](const AgentforgeFactory& candidate) {
            return candidate.kind == static_cast<std::uint32_t>(kind) && candidate.name == name;
        });
        Origin origin{manifest.id, std::string(name), manifest.directory + "/" + manifest.library};
        std::array<char, 1024> reason{};
        void* object = nullptr;
        try {
            object = factory->create(to_json_line(settings).c_str(), reason.data(), reason.size());
        } catch (const std::exception& failure) {  // The SDK did not make this factory.
            detail::report_create_failure(reason.data(), reason.size(), failure.what());
        } catch (...) { detail::report_create_failure(reason.data(), reason.size(), "something that is not a std::exception"); }
        if (object == nullptr) {
            reason.back() = '\0';
            const std::string text = sanitize_utf8(reason.data());
            return Error{"AF-PLUG-016",
                         "The plugin `" + manifest.id + "` could not make its " + kind_and_name(kind, name) + ": " +
                             (text.empty() ? "it gave no reason" : text),
                         origin.library, "Correct its settings, or report it to the plugin's author.", ErrorKind::invalid};
        }
        const AgentforgeDestroy destroy = factory->destroy;
        std::shared_ptr<void> made(object, [destroy](void* pointer) noexcept {
            try {
                destroy(pointer);
            } catch (...) {  // A destructor that throws is a defect of the plugin. The host continues.
            }
        });
        return std::pair(versions.adapt(factory->interface_version, std::move(made)), std::move(origin));
    }

    /// Returns AF-PLUG-036. `key`: the key of `plugins:` that names it, if any.
    [[nodiscard]] Error not_found(std::string_view name, bool names_too, std::string where, const std::string& key) const {
        std::vector<std::string> known;
        for (const PluginManifest& manifest : plugins) {
            known.push_back(manifest.id);
            for (const ManifestEntry& entry : manifest.provides) {
                if (names_too) { known.push_back(entry.name); }
            }
        }
        const std::string near = nearest(name, known);
        return {"AF-PLUG-036",
                "No plugin `" + ellipsis(sanitize_utf8(name), 120) + "` was found" +
                    (key.empty() ? "" : ", which plugins." + key + " names"),
                std::move(where),
                near.empty() ? "`agentforge plugins list` shows the plugins that were found." : "Did you mean `" + near + "`?",
                ErrorKind::not_found};
    }

    [[nodiscard]] Error unknown(PluginKind kind, std::string_view name) const {
        for (const PluginManifest& manifest : plugins) {
            const auto same = [&](const ManifestEntry& entry) { return entry.kind == kind && entry.name == name; };
            if (!manifest.refused || !std::ranges::any_of(manifest.provides, same)) { continue; }
            return {"AF-PLUG-030", "The " + kind_and_name(kind, name) + " cannot be used: " + manifest.refused->message,
                    manifest.refused->where, manifest.refused->remedy, ErrorKind::unavailable};
        }
        const std::vector<std::string> known = names(kind);
        const std::string near = nearest(name, known);
        std::string remedy;
        if (!near.empty()) {
            remedy = "Did you mean `" + near + "`?";
        } else if (known.empty()) {
            remedy = "No plugin provides any; check plugins.paths and AGENTFORGE_PLUGIN_PATH.";
        } else {
            remedy = "Available:";
            for (const std::string& each : known) { remedy += " " + each; }
        }
        if (!problems.empty()) {
            remedy += " " + std::to_string(problems.size()) +
                      " plugin folder(s) or names could not be used: `agentforge plugins list` says why.";
        }
        return {"AF-PLUG-010", "No plugin provides the " + kind_and_name(kind, name), "", std::move(remedy),
                ErrorKind::not_found};
    }
};

bool supersedes(const PluginManifest& manifest, const PluginManifest& other) {
    return manifest.id == other.id && manifest.source == other.source && compare_versions(manifest.version, other.version) > 0;
}

std::string_view to_string(PluginSource source) noexcept {
    switch (source) {
        case PluginSource::product:
            return "product";
        case PluginSource::user:
            return "user";
        case PluginSource::project:
            return "project";
    }
    return "?";
}

std::string_view to_string(PluginState state) noexcept {
    switch (state) {
        case PluginState::ready:
            return "ready";
        case PluginState::disabled:
            return "disabled";
        case PluginState::not_trusted:
            return "not trusted";
        case PluginState::not_locked:
            return "not in the lock";
        case PluginState::lock_differs:
            return "differs from the lock";
        case PluginState::duplicate:
            return "found twice";
        case PluginState::broken:
            return "broken";
    }
    return "?";
}

PluginRegistry::PluginRegistry() : state_(std::make_unique<State>()) {}
PluginRegistry::PluginRegistry(PluginRegistry&&) noexcept = default;
PluginRegistry& PluginRegistry::operator=(PluginRegistry&&) noexcept = default;
PluginRegistry::~PluginRegistry() = default;

PluginRegistry PluginRegistry::discover(const PluginSearch& search) {
    PluginRegistry registry;
    State& state = *registry.state_;
    state.wanted = search;
    std::error_code failure;
    if (!search.product.empty()) { state.product = fs::canonical(search.product, failure); }
    if (!search.lock.empty()) {
        auto lock = PluginLock::load(search.lock);
        state.lock_unreadable = !lock.ok();
        if (lock.ok()) {
            state.lock = std::move(*lock);
        } else {
            state.problems.push_back(std::move(lock).error());
        }
    }
    const auto of_the_project = [&] {
        for (const std::string& folder : search.project) {
            state.search(folder, "the project's settings", PluginSource::project);
        }
    };
    if (search.project_trusted) { of_the_project(); }
    for (const std::string& folder : search.configured) { state.search(folder, "the settings", PluginSource::user); }
    for (std::size_t begin = 0; begin <= search.environment.size();) {
        const std::size_t end = std::min(search.environment.find(':', begin), search.environment.size());
        state.search(search.environment.substr(begin, end - begin), "AGENTFORGE_PLUGIN_PATH", PluginSource::user);
        begin = end + 1;
    }
    state.search(search.product, "the installation", PluginSource::product);
    // Last, so that it cannot take precedence over anything. Used only for messages about plugins that trust would enable.
    if (!search.project_trusted) { of_the_project(); }
    state.resolve();
    return registry;
}

const std::optional<PluginLock>& PluginRegistry::lock() const noexcept { return state_->lock; }
Interfaces& PluginRegistry::interfaces() noexcept { return state_->interfaces; }

Result<void> PluginRegistry::check_choice(const std::function<std::string(const std::string& key)>& where) const {
    const PluginChoice& choice = state_->wanted.choice;
    const auto check = [&](const std::vector<std::string>& ids, const char* key) -> Result<void> {
        for (const std::string& id : ids) {
            if (std::ranges::find(state_->plugins, id, &PluginManifest::id) == state_->plugins.end()) {
                return state_->not_found(id, false, where(key), key);
            }
        }
        return {};
    };
    AF_CHECK(check(choice.enable.value_or(std::vector<std::string>()), "enable"));
    AF_CHECK(check(choice.disable, "disable"));
    for (const auto& [key, settings] : state_->wanted.settings) {
        const std::string place = "settings." + std::string(key);
        if (!find(key).ok()) { return state_->not_found(key, true, where(place), "settings"); }
        if (!settings.is_object()) {
            return Error{"AF-PLUG-050", "The settings of `" + std::string(key) + "` must be a map", where(place),
                         "Put each setting below it, indented.", ErrorKind::invalid};
        }
    }
    return {};
}

Result<std::vector<const PluginManifest*>> PluginRegistry::find(std::string_view id_or_name) const {
    std::vector<const PluginManifest*> found;
    for (const PluginManifest& manifest : state_->plugins) {
        if (manifest.id == id_or_name ||
            std::ranges::find(manifest.provides, id_or_name, &ManifestEntry::name) != manifest.provides.end()) {
            found.push_back(&manifest);
        }
    }
    if (found.empty() && state_->definitions.contains(id_or_name)) { found.push_back(owner(PluginKind::stage, id_or_name)); }
    if (found.empty()) { return state_->not_found(id_or_name, true, "", ""); }
    return found;
}

json::object PluginRegistry::settings_of(const PluginManifest& manifest, std::string_view name,
                                         const json::object& config) const {
    return state_->settings_of(manifest, name, config);
}

Result<void> PluginRegistry::check_settings(PluginKind kind, std::string_view name, const json::object& config) const {
    const State::Provider found = state_->provider(kind, name, config);
    return found.manifest == nullptr ? Result<void>() : state_->check_settings(*found.manifest, kind, name, found.settings);
}

Result<void> PluginRegistry::check_all_settings() const {
    for (const auto& [key, owner] : state_->owners) {
        const PluginManifest& manifest = state_->plugins[owner];
        if (!state_->wanted.settings.contains(manifest.id) && !state_->wanted.settings.contains(key.second)) { continue; }
        // The settings may be incomplete here; missing ones are reported where the object is used.
        AF_CHECK(state_->check_settings(manifest, key.first, key.second, state_->settings_of(manifest, key.second, {}), true));
    }
    return {};
}

Result<void> PluginRegistry::try_load(const PluginManifest& manifest) const {
    if (manifest.library.empty()) { return {}; }
    const auto open = [&]() -> Result<void> {
        AF_CHECK(open_library(manifest, state_->interfaces));
        return {};
    };
    return manifest.source == PluginSource::product ? open() : run_in_child(manifest, "it was loaded", open);
}

std::optional<Error> PluginRegistry::why_not(PluginKind kind, std::string_view name) const {
    if (has(kind, name)) { return std::nullopt; }
    return state_->unknown(kind, name);
}

const std::vector<PluginManifest>& PluginRegistry::plugins() const noexcept { return state_->plugins; }
const std::vector<Error>& PluginRegistry::problems() const noexcept { return state_->problems; }
std::vector<std::string> PluginRegistry::names(PluginKind kind) const { return state_->names(kind); }

bool PluginRegistry::has(PluginKind kind, std::string_view name) const {
    const std::vector<std::string> all = names(kind);
    return std::ranges::find(all, name) != all.end();
}

std::map<std::string, std::string> PluginRegistry::described_stages() const {
    std::map<std::string, std::string> described;
    for (const auto& [name, definition] : state_->definitions) {
        const json::value* words = definition.settings.if_contains("description");
        described.emplace(name, words != nullptr && words->is_string() ? std::string(words->get_string()) : std::string());
    }
    return described;
}

std::vector<std::string> PluginRegistry::stage_needs(std::string_view name, const json::object& config) const {
    const State::Provider found = state_->provider(PluginKind::stage, name, config);
    if (found.manifest == nullptr) { return {}; }
    const json::value* said = found.settings.if_contains("needs");
    if (said != nullptr && said->is_array()) {
        std::vector<std::string> contracts;
        for (const json::value& contract : said->get_array()) {
            if (contract.is_string()) { contracts.emplace_back(contract.get_string()); }
        }
        return contracts;
    }
    const auto entry = std::ranges::find_if(found.manifest->provides, [&](const ManifestEntry& each) {
        return each.kind == PluginKind::stage && each.name == found.name;
    });
    return entry == found.manifest->provides.end() ? std::vector<std::string>() : entry->needs;
}

const PluginManifest* PluginRegistry::owner(PluginKind kind, std::string_view name) const {
    return state_->provider(kind, name, {}).manifest;
}

Result<std::shared_ptr<Stage>> PluginRegistry::stage(std::string_view name, const json::object& config) {
    if (const auto made = state_->stages.find(name); made != state_->stages.end()) { return made->second; }
    AF_TRY(auto object, as_permanent_failure(state_->make<Stage>(PluginKind::stage, name, config, state_->interfaces.stage)));
    return as_permanent_failure(guard_stage(std::move(object.first), std::move(object.second)));
}

Result<std::shared_ptr<Tool>> PluginRegistry::tool(std::string_view name, const json::object& config) {
    if (const auto made = state_->tools.find(name); made != state_->tools.end()) { return made->second; }
    AF_TRY(auto object, as_permanent_failure(state_->make<Tool>(PluginKind::tool, name, config, state_->interfaces.tool)));
    return as_permanent_failure(guard_tool(std::move(object.first), std::move(object.second)));
}

Result<std::shared_ptr<LLMBackendV2>> PluginRegistry::backend(std::string_view name, const json::object& config) {
    if (const auto made = state_->backends.find(name); made != state_->backends.end()) { return made->second; }
    AF_TRY(auto object, as_permanent_failure(state_->make<LLMBackendV2>(PluginKind::llm, name, config, state_->interfaces.llm)));
    return as_permanent_failure(guard_backend(std::move(object.first), std::move(object.second)));
}

Result<std::shared_ptr<EscalationHandler>> PluginRegistry::escalation(std::string_view name, const json::object& config) {
    if (const auto made = state_->handlers.find(name); made != state_->handlers.end()) { return made->second; }
    AF_TRY(auto object, as_permanent_failure(state_->make<EscalationHandler>(PluginKind::escalation, name, config,
                                                                             state_->interfaces.escalation)));
    return as_permanent_failure(guard_escalation(std::move(object.first), std::move(object.second)));
}

void PluginRegistry::add_stage(std::string name, std::shared_ptr<Stage> stage) {
    state_->stages.insert_or_assign(std::move(name), std::move(stage));
}
void PluginRegistry::add_tool(std::string name, std::shared_ptr<Tool> tool) {
    state_->tools.insert_or_assign(std::move(name), std::move(tool));
}
void PluginRegistry::add_backend(std::string name, std::shared_ptr<LLMBackend> backend) {
    state_->backends.insert_or_assign(std::move(name), std::make_shared<UnmarkedBackend>(std::move(backend)));
}
void PluginRegistry::add_escalation(std::string name, std::shared_ptr<EscalationHandler> handler) {
    state_->handlers.insert_or_assign(std::move(name), std::move(handler));
}

}  // namespace agentforge::kernel
