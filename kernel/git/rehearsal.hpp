// SPDX-License-Identifier: Apache-2.0
// A separate repository that looks like the user's at the moment of `git commit`: HEAD is at the parent; index and files are the
// tree to commit. Commit hooks run there. It borrows the user's objects read-only. Deleting its folder deletes everything that a
// hook did to it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct RehearsalRequest {
    std::filesystem::path repository;  ///< The user's repository.
    std::filesystem::path folder;      ///< Will be created; must not exist.
    std::string parent;                ///< Commit id.
    std::string tree;
    std::string branch;  ///< The branch that HEAD names.
    std::string name;    ///< From user.name and user.email.
    std::string email;
};

/// Errors: AF-GIT-006, -007, -012, -099; `io` if the folder cannot be created.
[[nodiscard]] Result<void> prepare_rehearsal(const RehearsalRequest& request);

/// Returns the paths and contents in the rehearsal's index that differ from `tree` (no content: removed), because a hook changed
/// them for the commit. Errors: AF-GIT-099 the index cannot be read.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::optional<std::string>>>> changed_in_rehearsal(
    const std::filesystem::path& folder, std::string_view tree);

/// Returns the folders with the repository's objects, including its alternates. A rehearsal must be able to read them.
[[nodiscard]] Result<std::vector<std::string>> object_folders(const std::filesystem::path& repository);

/// Returns where the user's git looks for hooks: `core.hooksPath` (if relative, below the checkout, as in git), else `hooks` of
/// the git directory.
[[nodiscard]] Result<std::filesystem::path> hooks_folder(const std::filesystem::path& repository);

}  // namespace agentforge::kernel
