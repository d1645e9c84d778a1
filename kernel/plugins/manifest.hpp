// SPDX-License-Identifier: Apache-2.0
// A plugin's manifest, `plugin.json`: what the plugin is, what it provides, and whether it is used.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/plugin.hpp>

#include "plugins/files.hpp"

namespace agentforge::kernel {

struct ManifestEntry {
    PluginKind kind{};
    std::string name;
    std::vector<std::string> needs = {};  ///< For a stage: contracts that an earlier stage must have produced an artifact for.
};

/// Who made a plugin available.
enum class PluginSource : unsigned char { product = 1, user, project };
[[nodiscard]] std::string_view to_string(PluginSource source) noexcept;

/// Whether a plugin is used, and if not, why.
enum class PluginState : unsigned char {
    ready = 1,
    disabled,      ///< By plugins.enable or plugins.disable.
    not_trusted,   ///< A plugin of a project that the user has not trusted.
    not_locked,    ///< Not in the project's lock.
    lock_differs,  ///< The project's lock has another version or manifest.
    duplicate,     ///< Another plugin with the same id is used.
    broken         ///< Its config_schema is invalid.
};
[[nodiscard]] std::string_view to_string(PluginState state) noexcept;

/// A `plugin.json` beside the library.
struct PluginManifest {
    std::string id;
    std::string version;
    std::string licence;
    std::string description;
    std::string library;  ///< File name beside the manifest. Empty for a process.
    /// For a plugin that is a process: program and arguments. Those beside the manifest are absolute paths.
    std::vector<std::string> command = {};
    std::string sdk;  ///< Range of SDK versions, e.g. ">=0.1 <0.2".
    std::vector<ManifestEntry> provides;
    std::string directory;  ///< Absolute path.
    json::object config_schema;
    std::string text;  ///< The bytes of plugin.json as read.
    /// Returns the hash of `text`. Not computed beforehand: the first hash of a process waits a millisecond for OpenSSL, and the
    /// product's own plugins need none.
    [[nodiscard]] std::string sha256() const;

    // Set by `PluginRegistry::discover`.
    PluginSource source = PluginSource::product;
    PluginState state = PluginState::ready;
    std::optional<Error> refused;              ///< Why it is not used. Set unless `state` is ready.
    std::shared_ptr<const FileHashes> pinned;  ///< What its files must be when it is loaded. Null: anything.
    std::string pinned_by;                     ///< Origin of `pinned`, for messages: the lock file, or the user's trust.
};

/// True if it is a newer version of the same plugin from the same source. It then replaces the other, wherever either was found.
[[nodiscard]] bool supersedes(const PluginManifest& manifest, const PluginManifest& other);

[[nodiscard]] std::string_view to_string(PluginKind kind) noexcept;
/// Errors: AF-PLUG-001… with file and field.
[[nodiscard]] Result<PluginManifest> read_manifest(const std::string& path);

}  // namespace agentforge::kernel
