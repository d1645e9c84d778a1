// SPDX-License-Identifier: Apache-2.0
// plugins.lock lists the plugins that a project uses, by id, version and the SHA-256 of every file in their folders.
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
// It is in `.agentforge/config/` and is committed. If it exists, it applies to every plugin that is not the product's own,
// wherever it was found: a plugin that is not listed, or differs, is not loaded.
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

    /// Empty if the file does not exist. Errors: `invalid` AF-PLUG-034 with file, line and column: not YAML, another version of
    /// the format, an unknown, missing or wrong field, a duplicate id, a file outside the plugin's folder.
    [[nodiscard]] static Result<std::optional<PluginLock>> load(const std::string& file);
    /// Reads and hashes the plugins' folders. Errors: AF-PLUG-037.
    [[nodiscard]] static Result<PluginLock> of(const std::vector<const PluginManifest*>& plugins, std::string file);
    /// Returns the file's text: sorted, and the same for the same plugins.
    [[nodiscard]] std::string text() const;

    /// Checks what needs no file reads: that the plugin is listed with its version and its manifest's hash. Errors: AF-PLUG-032
    /// it is not listed, AF-PLUG-031 another version or manifest.
    [[nodiscard]] Result<void> admits(const PluginManifest& manifest) const;
};

/// Reads every file in the plugin's folder and compares it with the pinned hashes (`manifest.pinned`). Succeeds if nothing is
/// pinned. Errors: AF-PLUG-031 a file differs, is missing or is extra; AF-PLUG-037.
[[nodiscard]] Result<void> check_pinned_files(const PluginManifest& manifest);

/// Returns AF-PLUG-031 for one file: the hash found and expected, who expects it, and what to do.
[[nodiscard]] Error file_differs(const PluginManifest& manifest, std::string_view file, std::string_view found,
                                 std::string_view expected);

}  // namespace agentforge::kernel
