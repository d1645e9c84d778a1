// SPDX-License-Identifier: Apache-2.0
// Deletes branches of tasks again, and checks whether a branch has a commit.
#pragma once

#include <filesystem>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Deletes the branch if it is at `commit` and not checked out anywhere. Returns whether it did. Does nothing if the branch is at
/// another commit or gone. Errors: AF-GIT-011, AF-GIT-099.
[[nodiscard]] Result<bool> take_back_branch(const std::filesystem::path& repository, std::string_view branch,
                                            std::string_view commit);

/// True if the branch exists and has `commit` in its history. Errors: AF-GIT-011, AF-GIT-099.
[[nodiscard]] Result<bool> branch_holds(const std::filesystem::path& repository, std::string_view branch,
                                        std::string_view commit);

}  // namespace agentforge::kernel
