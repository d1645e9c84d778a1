// SPDX-License-Identifier: Apache-2.0
// Checks what a task needs of the machine and of its folders, before anything is created.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Checks that AgentForge may write to this `.agentforge`: it and its written subfolders must be folders or not exist yet. A
/// repository could contain a symbolic link there, which would redirect the writes. Errors: `denied` AF-CLI-130.
[[nodiscard]] Result<void> check_own_folder(const std::filesystem::path& agentforge);

/// Checks that a task may have enough files open, and raises the limit as far as this user may. Errors: `unavailable` AF-CLI-133.
[[nodiscard]] Result<void> check_open_files();

/// Checks that a task can run here: both folders can be created and written, the state folder is outside the repository, their
/// disks have room, and enough files may be open. Creates nothing permanent. Errors: AF-CLI-132 a folder, AF-CLI-133 open files,
/// AF-CLI-134 no room, AF-CLI-138 the state folder.
[[nodiscard]] Result<void> check_environment(const std::filesystem::path& root, const std::filesystem::path& agentforge,
                                             const std::filesystem::path& git_directory, const std::filesystem::path& state);

/// Refuses a request that is only the name of a file or folder, or looks like a path. Errors: `invalid` AF-CLI-135.
[[nodiscard]] Result<void> check_request_is_no_path(std::string_view request, const std::vector<std::filesystem::path>& folders);

/// Returns a line for each entry of the definitions' folders whose name is close to one that AgentForge reads: `.agentforge/agent
/// is not read; …`.
[[nodiscard]] std::vector<std::string> misnamed(const std::filesystem::path& agentforge);

/// Returns a sentence for each set variable that git follows and AgentForge does not: GIT_DIR and similar ones.
[[nodiscard]] std::vector<std::string> variables_not_followed(const std::map<std::string, std::string>& environment,
                                                              const std::filesystem::path& root);

}  // namespace agentforge::kernel
