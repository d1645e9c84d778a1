// SPDX-License-Identifier: Apache-2.0
// The files of a plugin's folder, by hash: what plugins.lock names and what a user trusts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Path below the folder (`plugin.json`, `lib/x.so`) → 64 lower-case hexadecimal digits of the SHA-256 of its bytes.
/// A symbolic link is not followed: its value is `-> ` and its target.
using FileHashes = std::map<std::string, std::string, std::less<>>;

/// Every file below the folder, whatever its name: a file that is not named could be the one that is run.
/// Errors (AF-PLUG-037): not readable; neither file, folder nor link; more than 10,000 files or 1 GiB.
/// Cost: reads all of them, about 1 ms a MB.
[[nodiscard]] Result<FileHashes> hash_folder(const std::string& folder);

/// The same for a plugin's folder, whose plugin.json must be a file itself. Errors: as above.
[[nodiscard]] Result<FileHashes> hash_plugin(const std::string& folder);

/// The manifests (`plugin.json`) of a folder of plugins, two deep, sorted; folders that cannot be read hold none.
/// A plugin's own folder is not searched further. Symbolic links to folders are followed, each real folder once.
[[nodiscard]] std::vector<std::string> find_manifests(const std::string& folder);

}  // namespace agentforge::kernel
