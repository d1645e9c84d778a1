// SPDX-License-Identifier: Apache-2.0
// Finding, checking and loading plugins. Manifests are read first; a library is opened when one of
// its factories is needed, and stays loaded until the process exits.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/plugin.hpp>

namespace agentforge::kernel {

struct ManifestEntry { PluginKind kind{}; std::string name; };

/// `plugin.json` beside the library.
struct PluginManifest {
    std::string id;
    std::string version;
    std::string licence;
    std::string description;
    std::string library;                    ///< File name beside the manifest; empty for a process.
    std::vector<std::string> command = {};  ///< Of a plugin that is a process: program and arguments, those beside the manifest as whole paths.
    std::string sdk;                        ///< Range of SDK versions, e.g. ">=0.1 <0.2".
    std::vector<ManifestEntry> provides;
    std::string directory;                  ///< Absolute.
    json::object config_schema;
};

[[nodiscard]] std::string_view to_string(PluginKind kind) noexcept;
/// Errors: AF-PLUG-001… with file and field.
[[nodiscard]] Result<PluginManifest> read_manifest(const std::string& path);

struct PluginSearch {
    std::vector<std::string> configured;        ///< From settings; absolute.
    std::string environment;                    ///< AGENTFORGE_PLUGIN_PATH, colon-separated.
    std::string product;                        ///< The shipped plugins.
};

/// All plugins in reach, by kind and name. Thread-safe after `discover`.
class PluginRegistry {
public:
    /// Order: configured, environment, product; the first to provide a name wins, later ones are named in `problems` (AF-PLUG-007).
    /// Each folder is searched two deep (`<folder>/<kind>/<name>/plugin.json`). A missing or relative folder is a problem
    /// (AF-PLUG-008): never the current directory. A broken manifest (AF-PLUG-001…006) does not hide the others.
    [[nodiscard]] static PluginRegistry discover(const PluginSearch& search);

    [[nodiscard]] const std::vector<PluginManifest>& plugins() const noexcept;
    [[nodiscard]] const std::vector<Error>& problems() const noexcept;
    [[nodiscard]] std::vector<std::string> names(PluginKind kind) const;
    [[nodiscard]] bool has(PluginKind kind, std::string_view name) const;
    /// The plugin that provides a name; null where none does. Valid as long as the registry.
    [[nodiscard]] const PluginManifest* owner(PluginKind kind, std::string_view name) const;

    /// Each loads the library on first use and returns an object that keeps it loaded. Calls are guarded: an exception
    /// that escapes the plugin becomes an Error AF-PLUG-020 naming it.
    /// Errors: AF-PLUG-010 unknown name (nearest named), AF-PLUG-011 cannot be opened, AF-PLUG-012 another fingerprint
    /// ("built for X, this host is Y, rebuild it"), AF-PLUG-013 no entry symbol, AF-PLUG-014 descriptor and manifest differ,
    /// AF-PLUG-015 another interface version, AF-PLUG-016 the plugin refused to make it, AF-PLUG-017 it goes by another name.
    /// Cost of a first use: about 0.1 ms. Each call makes a new object.
    [[nodiscard]] Result<std::shared_ptr<Stage>> stage(std::string_view name, const json::object& config = {});
    [[nodiscard]] Result<std::shared_ptr<Tool>> tool(std::string_view name, const json::object& config = {});
    [[nodiscard]] Result<std::shared_ptr<LLMBackend>> backend(std::string_view name, const json::object& config = {});
    [[nodiscard]] Result<std::shared_ptr<EscalationHandler>> escalation(std::string_view name, const json::object& config = {});

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
