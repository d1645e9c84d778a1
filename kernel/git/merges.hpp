// SPDX-License-Identifier: Apache-2.0
// Relates a delivery to the user's other commits: patches, merges of trees, how far a branch has moved. Does not read or write
// the user's checkout.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Returns the complete difference in a form that `git apply --binary` accepts: nothing is cut, and it includes binary files,
/// paths and modes.
[[nodiscard]] Result<std::string> whole_patch(const std::filesystem::path& repository, std::string_view old_tree,
                                              std::string_view new_tree);

/// Returns the difference of two texts as a patch of the file `name`. Empty if there is none. Errors: AF-GIT-099.
[[nodiscard]] Result<std::string> text_patch(const std::filesystem::path& repository, const std::string& name,
                                             std::string_view before, std::string_view after);

struct TreeMerge {
    std::string tree;                    ///< Empty if there are conflicts.
    std::vector<std::string> conflicts;  ///< Paths, sorted.
};
/// Merges the changes of both sides since `base` in memory, and follows renamed files. `union_of`: files in which conflicting
/// additions are resolved by keeping the lines of both sides (a changelog, to which each side adds an entry). Errors: AF-GIT-006,
/// -007, -099.
[[nodiscard]] Result<TreeMerge> merge_trees(const std::filesystem::path& repository, std::string_view base, std::string_view ours,
                                            std::string_view theirs, const std::vector<std::string>& union_of = {});

struct BranchDistance {
    std::uint64_t ahead = 0;   ///< Commits of `to` that `from` does not have.
    std::uint64_t behind = 0;  ///< Commits of `from` that `to` does not have: history was rewritten.
};
[[nodiscard]] Result<BranchDistance> branch_distance(const std::filesystem::path& repository, std::string_view from,
                                                     std::string_view to);

/// Checks that `move_branch` could move the branch from `at`. Errors: those of `move_branch`.
[[nodiscard]] Result<void> check_branch_is_movable(const std::filesystem::path& repository, std::string_view branch,
                                                   std::string_view at);
/// Moves `refs/heads/<branch>` from one commit to another, and only from that one. Succeeds if it was moved already. Errors:
/// `conflict` AF-GIT-040 it is at another commit, or is checked out in a worktree (whose files would no longer match it).
[[nodiscard]] Result<void> move_branch(const std::filesystem::path& repository, std::string_view branch, std::string_view from,
                                       std::string_view to);

/// A commit as it was written. `parent` is the first one; empty if there is none.
struct WrittenCommit {
    std::string tree;
    std::string parent;
    std::string message;
    std::string signature;               ///< Armoured. Empty if the commit is not signed.
    std::string signed_content;          ///< The signed bytes.
    std::chrono::sys_seconds time = {};  ///< The committer's.

    [[nodiscard]] bool is_signed() const { return !signature.empty(); }
};
[[nodiscard]] Result<WrittenCommit> written_commit(const std::filesystem::path& repository, std::string_view commit);

}  // namespace agentforge::kernel
