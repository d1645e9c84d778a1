// SPDX-License-Identifier: Apache-2.0
// Finds, checks and loads plugins. Manifests are read first. A library is opened when one of its factories is needed, and stays
// loaded until the process exits.
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
#include "plugins/manifest.hpp"

namespace agentforge::kernel {

/// The available plugins that a project uses, by id.
struct PluginChoice {
    std::optional<std::vector<std::string>> enable;  ///< If set: use only these, and the product's.
    std::vector<std::string> disable;                ///< Plugins not to use.
};

struct PluginSearch {
    std::vector<std::string> configured{};  ///< From the user's settings; absolute.
    std::string environment{};              ///< AGENTFORGE_PLUGIN_PATH, separated by colons.
    std::string product{};                  ///< The shipped plugins.
    std::vector<std::string> project{};     ///< From the project's own settings; absolute.
    bool project_trusted = false;
    PluginChoice choice{};
    std::string lock{};  ///< The project's plugins.lock, which need not exist. "": no lock.
    /// Folder of a plugin of the project → the hashes of its files when the user trusted them. Used if there is no lock.
    std::map<std::string, FileHashes, std::less<>> trusted_files{};
    std::vector<std::string> stages{};  ///< Folders of declarative stages (stage_definitions.hpp), the product's first.
    json::object settings{};            ///< `plugins.settings`: id of a plugin, or name of what it provides → settings.
    /// Returns where a setting of a plugin was written (file, line, column), for messages. The pointer points into its settings.
    std::function<std::string(const PluginManifest&, PluginKind, std::string_view name, std::string_view pointer)> place{};
};

/// All available plugins, by kind and name. Thread-safe after `discover`.
class PluginRegistry {
public:
    /// Finds all plugins. Search order: project (if trusted), configured, environment, product. The first plugin to provide a
    /// name wins; later ones are listed in `problems` (AF-PLUG-007).
    ///
    /// If several plugins have the same id, one is used and the others are listed (AF-PLUG-009). It is the newest version of the
    /// first source, among those that neither the choice nor the lock excludes. A plugin that every user of the machine may write
    /// is listed, unless it is pinned (AF-PLUG-038). A folder inside the product's own counts as the product's, whoever names it.
    /// The product's plugins are neither locked nor hashed.
    ///
    /// An unreadable lock (AF-PLUG-034) excludes every plugin that is not the product's. A lock that does not match a plugin
    /// (031, 032) excludes that plugin.
    ///
    /// If no plugin provides a declarative stage, the plugin `prompt` provides it. The given settings override the definition,
    /// which supplies the rest. An invalid definition is listed in `problems` (AF-PLUG-052), and its stage does not exist.
    ///
    /// Each folder is searched two levels deep (`<folder>/<kind>/<name>/plugin.json`). A missing or relative folder is a problem
    /// (AF-PLUG-008); the current directory is never searched. A broken manifest (AF-PLUG-001…006) does not hide the others.
    [[nodiscard]] static PluginRegistry discover(const PluginSearch& search);

    /// All plugins found, used or not (`state`).
    [[nodiscard]] const std::vector<PluginManifest>& plugins() const noexcept;
    /// The lock in force, if any.
    [[nodiscard]] const std::optional<PluginLock>& lock() const noexcept;
    /// Errors: `not_found` AF-PLUG-036 the choice or the settings name a plugin that was not found (with the nearest name).
    /// `where` returns the place of `enable`, `disable` or `settings.<key>`.
    [[nodiscard]] Result<void> check_choice(const std::function<std::string(const std::string& key)>& where) const;
    /// Returns the plugins with this id, or those that provide something of this name. Errors: `not_found` AF-PLUG-036 with the
    /// nearest name.
    [[nodiscard]] Result<std::vector<const PluginManifest*>> find(std::string_view id_or_name) const;
    /// Checks a plugin's settings, with `plugins.settings` below those given, against its schema. Loads nothing. Accepts a name
    /// that no plugin provides. Errors: AF-PLUG-050 with the place of the wrong key or value, AF-PLUG-051.
    [[nodiscard]] Result<void> check_settings(PluginKind kind, std::string_view name, const json::object& config = {}) const;
    /// Checks in the same way every used plugin that `plugins.settings` names, but ignores missing settings. Errors: the first.
    [[nodiscard]] Result<void> check_all_settings() const;
    /// Returns the settings that an object would get.
    [[nodiscard]] json::object settings_of(const PluginManifest& manifest, std::string_view name,
                                           const json::object& config = {}) const;
    /// Checks that the library of a plugin can be loaded. Loads a user's plugin in a separate process. Errors: AF-PLUG-011 … 015,
    /// 021, 031.
    [[nodiscard]] Result<void> try_load(const PluginManifest& manifest) const;
    /// Returns AF-PLUG-010, or AF-PLUG-030 with the reason if an unused plugin provides it. Empty if it is available.
    [[nodiscard]] std::optional<Error> why_not(PluginKind kind, std::string_view name) const;
    [[nodiscard]] const std::vector<Error>& problems() const noexcept;
    [[nodiscard]] std::vector<std::string> names(PluginKind kind) const;
    [[nodiscard]] bool has(PluginKind kind, std::string_view name) const;
    /// Returns the declarative stages with their descriptions.
    [[nodiscard]] std::map<std::string, std::string> described_stages() const;
    /// Returns the contracts that an earlier stage must have produced an artifact for: from `needs` in the settings, else from
    /// the manifest.
    [[nodiscard]] std::vector<std::string> stage_needs(std::string_view name, const json::object& config) const;
    /// Returns the plugin that provides a name, or null. Valid as long as the registry.
    [[nodiscard]] const PluginManifest* owner(PluginKind kind, std::string_view name) const;

    /// Each function loads the library on first use and returns a new object that keeps it loaded. Calls are guarded: an
    /// exception that escapes the plugin becomes an Error AF-PLUG-020 naming it.
    /// Errors: AF-PLUG-010 unknown name (with the nearest), AF-PLUG-011 cannot be opened, AF-PLUG-012 another fingerprint ("built
    /// for X, this host is Y, rebuild it"), AF-PLUG-013 no entry symbol, AF-PLUG-014 descriptor and manifest differ, AF-PLUG-015
    /// another interface version, AF-PLUG-016 the plugin refused to create it, AF-PLUG-017 it has another name, AF-PLUG-030 its
    /// plugin is not used, AF-PLUG-031 its files differ from the lock, AF-PLUG-050 its settings are invalid. All are of kind
    /// `unavailable`, because a retry cannot succeed.
    /// The first object of a plugin that is not the product's is first created in a separate process (AF-PLUG-021: it crashed,
    /// hung or exited there). Cost of a first use: about 0.1 ms, and for such a plugin a fork more.
    [[nodiscard]] Result<std::shared_ptr<Stage>> stage(std::string_view name, const json::object& config = {});
    [[nodiscard]] Result<std::shared_ptr<Tool>> tool(std::string_view name, const json::object& config = {});
    [[nodiscard]] Result<std::shared_ptr<LLMBackendV2>> backend(std::string_view name, const json::object& config = {});
    [[nodiscard]] Result<std::shared_ptr<EscalationHandler>> escalation(std::string_view name, const json::object& config = {});

    /// The accepted interface versions. Change them before the first use of a plugin.
    [[nodiscard]] Interfaces& interfaces() noexcept;

    /// Adds objects made in this process instead of loaded ones. For tests only.
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
