// SPDX-License-Identifier: Apache-2.0
// A repository of its own that looks like the user's in the moment of `git commit`: HEAD on the parent, index and files the tree
// that is about to be committed. Commit hooks run there. It borrows the user's objects, which are only read; whatever a hook does
// to it goes with its folder.
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
    std::filesystem::path repository;  ///< The user's.
    std::filesystem::path folder;      ///< Is made; must not be there.
    std::string parent;                ///< Commit id.
    std::string tree;
    std::string branch;  ///< What HEAD is said to be on.
    std::string name;    ///< user.name and user.email.
    std::string email;
};

/// Errors: AF-GIT-006, -007, -012, -099; `io` where the folder cannot be made.
[[nodiscard]] Result<void> prepare_rehearsal(const RehearsalRequest& request);

/// Paths and contents that the index of the rehearsal holds now and `tree` does not hold so (no content: removed): what a hook
/// would have had committed. Errors: AF-GIT-099 the index cannot be read.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::optional<std::string>>>> changed_in_rehearsal(
    const std::filesystem::path& folder, std::string_view tree);

/// Folders with the repository's objects, its alternates included: what a rehearsal must be able to read.
[[nodiscard]] Result<std::vector<std::string>> object_folders(const std::filesystem::path& repository);

/// Where the user's git looks for hooks: `core.hooksPath` (a relative one below the checkout, as git has it), else `hooks` of the
/// git directory.
[[nodiscard]] Result<std::filesystem::path> hooks_folder(const std::filesystem::path& repository);

}  // namespace agentforge::kernel
