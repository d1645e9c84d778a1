// SPDX-License-Identifier: Apache-2.0
// Hashes the files of a plugin's folder, for plugins.lock and for the user's trust.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Path below the folder (`plugin.json`, `lib/x.so`) → SHA-256 of its bytes as 64 lower-case hexadecimal digits. A symbolic link
/// is not followed: its value is `-> ` and its target.
using FileHashes = std::map<std::string, std::string, std::less<>>;

/// Hashes every file below the folder, whatever its name: an unlisted file could be the one that runs. Errors (AF-PLUG-037): not
/// readable; neither file, folder nor link; more than 10,000 files or 1 GiB. Cost: reads all of them, about 1 ms a MB.
[[nodiscard]] Result<FileHashes> hash_folder(const std::string& folder);

/// The same for a plugin's folder, whose plugin.json must be a regular file. Errors: as above.
[[nodiscard]] Result<FileHashes> hash_plugin(const std::string& folder);

/// Returns the manifests (`plugin.json`) in a folder of plugins, two levels deep, sorted. Skips folders that cannot be read. Does
/// not search inside a plugin's own folder. Follows symbolic links to folders, each real folder once.
[[nodiscard]] std::vector<std::string> find_manifests(const std::string& folder);

}  // namespace agentforge::kernel
