// SPDX-License-Identifier: Apache-2.0
// Commits that wait for a branch, and branches that are taken back.
#pragma once

#include <filesystem>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Keeps a commit alive under `refs/agentforge/<name>`; it replaces the one that is there. Errors: AF-GIT-007, AF-GIT-012,
/// AF-GIT-099.
[[nodiscard]] Result<void> keep_commit(const std::filesystem::path& repository, std::string_view name, std::string_view commit);

/// Removes the branch, if it stands at `commit` and nobody has it checked out. Returns whether it did; a branch that is
/// elsewhere, or gone, is left alone. Errors: AF-GIT-011, AF-GIT-099.
[[nodiscard]] Result<bool> take_back_branch(const std::filesystem::path& repository, std::string_view branch,
                                            std::string_view commit);

/// Whether the branch is there and has `commit` in its history. Errors: AF-GIT-011, AF-GIT-099.
[[nodiscard]] Result<bool> branch_holds(const std::filesystem::path& repository, std::string_view branch,
                                        std::string_view commit);

}  // namespace agentforge::kernel
