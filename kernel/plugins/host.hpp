// SPDX-License-Identifier: Apache-2.0
// Finding, checking and loading plugins. Manifests are read first; a library is opened when one of
// its factories is needed, and stays loaded until the process exits.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/plugin.hpp>

#include "plugins/interfaces.hpp"
#include "plugins/lock.hpp"

namespace agentforge::kernel {

struct ManifestEntry {
    PluginKind kind{};
    std::string name;
    std::vector<std::string> needs = {};  ///< Of a stage: contracts of which an earlier stage must have made an artifact.
};

/// By whose choice a plugin is in reach.
enum class PluginSource : unsigned char { product = 1, user, project };
[[nodiscard]] std::string_view to_string(PluginSource source) noexcept;

/// Whether a plugin is used, and if not, why.
enum class PluginState : unsigned char {
    ready = 1,
    disabled,      ///< By plugins.enable or plugins.disable.
    not_trusted,   ///< It is the project's, and the user has not trusted the project.
    not_locked,    ///< The project's lock does not name it.
    lock_differs,  ///< The project's lock names another version or manifest.
    duplicate,     ///< Another plugin of the same id is used.
    broken         ///< Its config_schema is none.
};
[[nodiscard]] std::string_view to_string(PluginState state) noexcept;

/// `plugin.json` beside the library.
struct PluginManifest {
    std::string id;
    std::string version;
    std::string licence;
    std::string description;
    std::string library;  ///< File name beside the manifest; empty for a process.
    std::vector<std::string> command =
        {};           ///< Of a plugin that is a process: program and arguments, those beside the manifest as whole paths.
    std::string sdk;  ///< Range of SDK versions, e.g. ">=0.1 <0.2".
    std::vector<ManifestEntry> provides;
    std::string directory;  ///< Absolute.
    json::object config_schema;
    std::string text;  ///< The bytes of plugin.json as they were read.
    /// Of `text`. Not made beforehand: the first hash of a process waits a millisecond for OpenSSL, and the product's own plugins
    /// need none.
    [[nodiscard]] std::string sha256() const;

    // Set by `PluginRegistry::discover`.
    PluginSource source = PluginSource::product;
    PluginState state = PluginState::ready;
    std::optional<Error> refused;              ///< Why it is not used, where `state` is not ready.
    std::shared_ptr<const FileHashes> pinned;  ///< What its files must be when it is loaded; null: anything.
    std::string pinned_by;                     ///< Who says so, for messages: the lock's file, or the user's trust.
};

/// Whether it is a newer version of the same plugin, from the same source: then it is used in the other's place, wherever either
/// was found.
[[nodiscard]] bool supersedes(const PluginManifest& manifest, const PluginManifest& other);

[[nodiscard]] std::string_view to_string(PluginKind kind) noexcept;
/// Errors: AF-PLUG-001… with file and field.
[[nodiscard]] Result<PluginManifest> read_manifest(const std::string& path);

/// Which of the plugins in reach a project uses; by id.
struct PluginChoice {
    std::optional<std::vector<std::string>> enable;  ///< Where given, of the plugins that are not the product's only these.
    std::vector<std::string> disable;                ///< Of all plugins, not these.
};

struct PluginSearch {
    std::vector<std::string> configured{};  ///< From the user's settings; absolute.
    std::string environment{};              ///< AGENTFORGE_PLUGIN_PATH, colon-separated.
    std::string product{};                  ///< The shipped plugins.
    std::vector<std::string> project{};     ///< From the project's own settings; absolute.
    bool project_trusted = false;
    PluginChoice choice{};
    std::string lock{};  ///< The project's plugins.lock; need not exist; "": no lock holds.
    /// Folder of a plugin of the project → what its files were when the user trusted them. Used where there is no lock.
    std::map<std::string, FileHashes, std::less<>> trusted_files{};
    std::vector<std::string> stages{};  ///< Folders of stages that are data (stage_definitions.hpp), the product's first.
    json::object settings{};            ///< `plugins.settings`: id of a plugin, or name of what it provides → settings.
    /// Where a setting of a plugin was written (file, line, column), for messages; the pointer leads into its settings.
    std::function<std::string(const PluginManifest&, PluginKind, std::string_view name, std::string_view pointer)> place{};
};

/// All plugins in reach, by kind and name. Thread-safe after `discover`.
class PluginRegistry {
public:
    /// Order: project (where trusted), configured, environment, product; the first to provide a name wins, later ones are named
    /// in `problems` (AF-PLUG-007). Of several plugins with the same id one is used, and the others are named (AF-PLUG-009): the
    /// first source's, of that source the newest version, of those that neither the choice nor the lock keeps out. What every
    /// user of the machine may write is named, unless it is pinned (AF-PLUG-038). A folder inside the product's own is the
    /// product's, whoever names it. The product's plugins are neither locked nor hashed. A lock that cannot be read (AF-PLUG-034)
    /// keeps every plugin out that is not the product's, as does one that differs (031, 032). A stage that is data and that no
    /// plugin provides is provided by the plugin `prompt`, with the definition as settings below those given. A definition that
    /// is none is named in `problems` (AF-PLUG-052), and its stage is not there. Each folder is searched two deep
    /// (`<folder>/<kind>/<name>/plugin.json`). A missing or relative folder is a problem (AF-PLUG-008): never the current
    /// directory. A broken manifest (AF-PLUG-001…006) does not hide the others.
    [[nodiscard]] static PluginRegistry discover(const PluginSearch& search);

    /// All that were found, used or not (`state`).
    [[nodiscard]] const std::vector<PluginManifest>& plugins() const noexcept;
    /// The lock that holds, if any.
    [[nodiscard]] const std::optional<PluginLock>& lock() const noexcept;
    /// Errors: `not_found` AF-PLUG-036 the choice or the settings name a plugin that was not found (the nearest is named).
    /// `where` gives the place of `enable`, `disable` or `settings.<key>`.
    [[nodiscard]] Result<void> check_choice(const std::function<std::string(const std::string& key)>& where) const;
    /// The plugins of this id, or that provide something of this name. Errors: `not_found` AF-PLUG-036 with the nearest.
    [[nodiscard]] Result<std::vector<const PluginManifest*>> find(std::string_view id_or_name) const;
    /// A plugin's settings, `plugins.settings` under those given, against its schema. Loads nothing. A name that nothing provides
    /// is fine. Errors: AF-PLUG-050 with the place of the wrong key or value, AF-PLUG-051.
    [[nodiscard]] Result<void> check_settings(PluginKind kind, std::string_view name, const json::object& config = {}) const;
    /// Every plugin that is used and `plugins.settings` names, checked so, but for settings that are missing. Errors: the first.
    [[nodiscard]] Result<void> check_all_settings() const;
    /// The settings that an object would get.
    [[nodiscard]] json::object settings_of(const PluginManifest& manifest, std::string_view name,
                                           const json::object& config = {}) const;
    /// Whether the library of a plugin can be loaded; that of the user's plugins is, in a process of its own. Errors: AF-PLUG-011
    /// … 015, 021, 031.
    [[nodiscard]] Result<void> try_load(const PluginManifest& manifest) const;
    /// AF-PLUG-010 or, where a plugin that is not used provides it, AF-PLUG-030 with the reason; empty where it can be had.
    [[nodiscard]] std::optional<Error> why_not(PluginKind kind, std::string_view name) const;
    [[nodiscard]] const std::vector<Error>& problems() const noexcept;
    [[nodiscard]] std::vector<std::string> names(PluginKind kind) const;
    [[nodiscard]] bool has(PluginKind kind, std::string_view name) const;
    /// Stages that are data, with what people read about them.
    [[nodiscard]] std::map<std::string, std::string> described_stages() const;
    /// The contracts of which an earlier stage must have made an artifact: what the settings say under `needs`, else the
    /// manifest.
    [[nodiscard]] std::vector<std::string> stage_needs(std::string_view name, const json::object& config) const;
    /// The plugin that provides a name; null where none does. Valid as long as the registry.
    [[nodiscard]] const PluginManifest* owner(PluginKind kind, std::string_view name) const;

    /// Each loads the library on first use and returns an object that keeps it loaded. Calls are guarded: an exception
    /// that escapes the plugin becomes an Error AF-PLUG-020 naming it.
    /// Errors: AF-PLUG-010 unknown name (nearest named), AF-PLUG-011 cannot be opened, AF-PLUG-012 another fingerprint
    /// ("built for X, this host is Y, rebuild it"), AF-PLUG-013 no entry symbol, AF-PLUG-014 descriptor and manifest differ,
    /// AF-PLUG-015 another interface version, AF-PLUG-016 the plugin refused to make it, AF-PLUG-017 it goes by another name,
    /// AF-PLUG-030 its plugin is not used, AF-PLUG-031 its files differ from the lock, AF-PLUG-050 its settings do not fit.
    /// All of kind `unavailable`: no further attempt would end otherwise.
    /// The first object of a plugin that is not the product's is made in a process of its own beforehand (AF-PLUG-021: it
    /// crashed, hung or exited there). Cost of a first use: about 0.1 ms; of such a plugin's, a fork more. Each call makes a new
    /// object.
    [[nodiscard]] Result<std::shared_ptr<Stage>> stage(std::string_view name, const json::object& config = {});
    [[nodiscard]] Result<std::shared_ptr<Tool>> tool(std::string_view name, const json::object& config = {});
    [[nodiscard]] Result<std::shared_ptr<LLMBackendV2>> backend(std::string_view name, const json::object& config = {});
    [[nodiscard]] Result<std::shared_ptr<EscalationHandler>> escalation(std::string_view name, const json::object& config = {});

    /// The versions of interfaces that are taken; before the first use of a plugin.
    [[nodiscard]] Interfaces& interfaces() noexcept;

    /// Objects made in this process instead of loaded: for tests only.
    void add_stage(std::string name, std::shared_ptr<Stage> stage);
    void add_tool(std::string name, std::shared_ptr<Tool> tool);
    void add_backend(std::string name, std::shared_ptr<LLMBackend> backend);
    void add_escalation(std::string name, std::shared_ptr<EscalationHandler> handler);

    PluginRegistry();
    PluginRegistry(PluginRegistry&&) noexcept;
    PluginRegistry& operator=(PluginRegistry&&) noexcept;
    ~PluginRegistry();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
