// SPDX-License-Identifier: Apache-2.0
// A task's worktree and its snapshots.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "git/repository.hpp"

namespace agentforge::kernel {

/// Git's record of a worktree, below `<git directory>/worktrees`.
struct WorktreeRecord {
    std::string name;
    std::filesystem::path path;  ///< The worktree's folder, which may be gone. Empty if the record names none.
};

/// Returns git's records of worktrees. Their removal may be incomplete: after a power cut, a record can outlive its folder.
[[nodiscard]] std::vector<WorktreeRecord> worktree_records(const Repository& repository);

/// A detached worktree outside the repository, owned by a task.
class Worktree {
public:
    /// Creates it at `path` with HEAD detached on `commit`, or opens the existing one with its files as they are. Repairs one
    /// that is half made. `name` is its administrative name. `path` is outside the repository. Never changes the user's checkout,
    /// index or branches. Errors: AF-GIT-020…024, -030.
    [[nodiscard]] static Result<Worktree> ensure(const std::filesystem::path& repository, const std::filesystem::path& path,
                                                 std::string_view name, std::string_view commit);

    Worktree(Worktree&&) noexcept;
    Worktree& operator=(Worktree&&) noexcept;
    ~Worktree();

    [[nodiscard]] const std::filesystem::path& path() const noexcept;
    /// Returns the paths of submodules. Their files come from the user's own checkout, if that has the named commit, and are for
    /// reading only.
    [[nodiscard]] std::vector<std::string> submodules() const;
    /// Returns the entries of the last `snapshot` that a tree cannot hold: changed, new or missing files of submodules, another
    /// repository's `.git`, folders nested more than 200 deep, and the worktree's own `.git` if it was changed since the last
    /// `reset_to`. `reset_to` repairs all of these.
    [[nodiscard]] const std::vector<std::string>& unrecordable() const noexcept;
    /// Returns the paths whose contents the last `reset_to` could not find: submodules (their folders are empty) and Git LFS
    /// files (the file is the pointer).
    [[nodiscard]] const std::vector<std::string>& unfilled() const noexcept;
    /// True if `ensure` has just written the files, so they are the commit's.
    [[nodiscard]] bool is_new() const noexcept;
    /// Makes the files equal this tree, byte for byte. Applies no filter except Git LFS (contents replace a pointer). Removes
    /// other tracked and untracked files. Removes ignored ones (by the new tree's ignore files) only if `clean`. Never follows
    /// links.
    [[nodiscard]] Result<void> reset_to(std::string_view tree, bool clean);
    /// Records the whole worktree as a tree, byte for byte; incremental through a stat cache. Leaves out ignored files that
    /// `commit` does not contain, `.git` at any depth, sockets and pipes. `.agentforge/` and gitlinks stay as in the last tree.
    /// Files that the attributes assign to Git LFS are recorded as pointers. Errors: AF-GIT-015, -030, -033, -034, -036.
    [[nodiscard]] Result<std::string> snapshot();
    /// Records after writes to known paths only (files or folders, existing or removed). Cost: O(paths). Errors: those of
    /// `snapshot`; `invalid` AF-GIT-035.
    [[nodiscard]] Result<std::string> snapshot_paths(const std::vector<std::string>& paths);
    /// Returns the paths that differ from the last snapshot.
    [[nodiscard]] Result<std::vector<TreeChange>> changes_since(std::string_view tree);
    /// Removes the folder and git's record of it, and returns once neither can come back after a power cut. Idempotent.
    [[nodiscard]] static Result<void> remove(const std::filesystem::path& repository, const std::filesystem::path& path,
                                             std::string_view name);

    struct State;  ///< Private to kernel/git.

private:
    explicit Worktree(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
