// SPDX-License-Identifier: Apache-2.0
// A delivery among the user's other commits: patches, merges of trees, how far a branch has moved. Nothing of the user's checkout
// is read or written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// The whole difference as `git apply --binary` takes it: nothing is cut, binary files are in it, paths and modes too.
[[nodiscard]] Result<std::string> whole_patch(const std::filesystem::path& repository, std::string_view old_tree,
                                              std::string_view new_tree);

/// The difference of two texts as a patch of the file `name`; empty where there is none. Errors: AF-GIT-099.
[[nodiscard]] Result<std::string> text_patch(const std::filesystem::path& repository, const std::string& name,
                                             std::string_view before, std::string_view after);

struct TreeMerge {
    std::string tree;                    ///< Empty where there are conflicts.
    std::vector<std::string> conflicts;  ///< Paths, sorted.
};
/// What both sides did since `base`, put together in memory; renamed files are followed. `union_of`: files whose lines of both
/// sides are kept where both added some (a changelog: each side adds its entry). Errors: AF-GIT-006, -007, -099.
[[nodiscard]] Result<TreeMerge> merge_trees(const std::filesystem::path& repository, std::string_view base, std::string_view ours,
                                            std::string_view theirs, const std::vector<std::string>& union_of = {});

struct BranchDistance {
    std::uint64_t ahead = 0;   ///< Commits of `to` that `from` does not have.
    std::uint64_t behind = 0;  ///< Commits of `from` that `to` does not have: history was rewritten.
};
[[nodiscard]] Result<BranchDistance> branch_distance(const std::filesystem::path& repository, std::string_view from,
                                                     std::string_view to);

/// Sets `refs/heads/<branch>` from one commit to another, and only from that one; done already is no error.
/// Errors: `conflict` AF-GIT-040 it stands elsewhere, or is checked out in a worktree (whose files would no longer be its own).
[[nodiscard]] Result<void> move_branch(const std::filesystem::path& repository, std::string_view branch, std::string_view from,
                                       std::string_view to);

/// A commit as it was written. `parent` is the first one; empty where there is none.
struct WrittenCommit {
    std::string tree;
    std::string parent;
    std::string message;
    bool is_signed = false;
};
[[nodiscard]] Result<WrittenCommit> written_commit(const std::filesystem::path& repository, std::string_view commit);

}  // namespace agentforge::kernel
