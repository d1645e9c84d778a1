// SPDX-License-Identifier: Apache-2.0
// plugins.lock: which plugins a project uses, by id, version and the SHA-256 of every file of their folders.
//
//   # Written by `agentforge plugins lock`. …
//   agentforge_lock: 1
//   plugins:
//     - id: "org.example.word-count"
//       version: "1.0.0"
//       files:
//         "plugin.json": "2f0c…"
//         "word_count.so": "9a41…"
//
// It stands in `.agentforge/config/` and is committed. Where there is one, it holds for every plugin that is not the product's
// own, wherever it was found: what is not in it, or differs from it, is not loaded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

#include "plugins/files.hpp"

namespace agentforge::kernel {

struct PluginManifest;

struct LockedPlugin {
    std::string version;
    FileHashes files;
    std::string where;  ///< `plugins.lock:5:5`
};

struct PluginLock {
    std::string file;
    std::map<std::string, LockedPlugin, std::less<>> plugins;  ///< By id.

    /// Empty where there is no such file. Errors: `invalid` AF-PLUG-034 with file, line and column: not YAML, another version
    /// of the format, an unknown, missing or wrong field, an id twice, a file outside of the plugin's folder.
    [[nodiscard]] static Result<std::optional<PluginLock>> load(const std::string& file);
    /// Reads and hashes the plugins' folders. Errors: AF-PLUG-037.
    [[nodiscard]] static Result<PluginLock> of(const std::vector<const PluginManifest*>& plugins, std::string file);
    /// The file's text: sorted, the same for the same plugins.
    [[nodiscard]] std::string text() const;

    /// What needs no reading: is the plugin in it, with its version and its manifest's hash?
    /// Errors: AF-PLUG-032 it is not, AF-PLUG-031 another version or manifest.
    [[nodiscard]] Result<void> admits(const PluginManifest& manifest) const;
};

/// Reads every file of the plugin's folder and holds it against the pinned hashes (`manifest.pinned`); nothing is pinned: fine.
/// Errors: AF-PLUG-031 a file differs, is missing or is one too many; AF-PLUG-037.
[[nodiscard]] Result<void> check_pinned_files(const PluginManifest& manifest);

/// AF-PLUG-031 for one file: found and expected hash, who expects it, what to do.
[[nodiscard]] Error other_file(const PluginManifest& manifest, std::string_view file, std::string_view found,
                               std::string_view expected);

}  // namespace agentforge::kernel
