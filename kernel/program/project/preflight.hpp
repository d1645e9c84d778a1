// SPDX-License-Identifier: Apache-2.0
// What a task needs of the machine and of the folders around it, told before anything is made.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Whether AgentForge may write into this `.agentforge`: it, and the folders in it that are written, are folders or not there
/// yet. A symbolic link in their place, which a repository may bring along, would lead what is written to anywhere. Errors:
/// `denied` AF-CLI-130.
[[nodiscard]] Result<void> check_own_folder(const std::filesystem::path& agentforge);

/// Whether enough files may be open for a task to run; the limit is raised as far as this user may. Errors: `unavailable`
/// AF-CLI-133.
[[nodiscard]] Result<void> check_open_files();

/// Whether a task can live here: both folders can be made and written, the state folder lies outside the repository, their disks
/// have room, and enough files may be open. Makes nothing.
/// Errors: AF-CLI-132 a folder, AF-CLI-133 open files, AF-CLI-134 no room, AF-CLI-138 the state folder.
[[nodiscard]] Result<void> check_surroundings(const std::filesystem::path& root, const std::filesystem::path& agentforge,
                                              const std::filesystem::path& git_directory, const std::filesystem::path& state);

/// A request that is but the name of a file or folder, or looks like a path. Errors: `invalid` AF-CLI-135.
[[nodiscard]] Result<void> check_request_is_no_path(std::string_view request, const std::vector<std::filesystem::path>& folders);

/// What lies where definitions are looked for, under a name that is nearly one that is read: `.agentforge/agent is not read; …`.
[[nodiscard]] std::vector<std::string> misnamed(const std::filesystem::path& agentforge);

/// Variables that git's own programs follow and AgentForge does not: GIT_DIR and its kin. One sentence each.
[[nodiscard]] std::vector<std::string> variables_not_followed(const std::map<std::string, std::string>& environment,
                                                              const std::filesystem::path& root);

}  // namespace agentforge::kernel
