// SPDX-License-Identifier: Apache-2.0
// Git through libgit2: the user's repository, task worktrees outside it, tree snapshots, delivery.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct TreeChange {
    std::string path;
    std::string old_path;  ///< Set for a rename, else empty.
    char status = 'M';     ///< A, M, D, R, T
    std::uint64_t lines_added = 0;
    std::uint64_t lines_removed = 0;
};

struct CommitRequest {
    std::string tree;
    std::string parent;   ///< Commit id.
    std::string message;  ///< Complete, including trailers.
    std::string author_name;
    std::string author_email;
    std::chrono::system_clock::time_point time;
};

/// The user's repository. One instance per thread.
class Repository {
public:
    /// Finds the repository around `path`. Errors: `not_found` AF-GIT-001 no repository; `denied` AF-GIT-002 owned by another
    /// user (says what to do); `unavailable` AF-GIT-003 bare; AF-GIT-004 format not supported (SHA-256).
    [[nodiscard]] static Result<Repository> open(const std::filesystem::path& path);

    Repository(Repository&&) noexcept;
    Repository& operator=(Repository&&) noexcept;
    ~Repository();

    [[nodiscard]] std::filesystem::path work_directory() const;
    [[nodiscard]] std::filesystem::path git_directory() const;  ///< The common git directory.
    /// Returns the commit of HEAD. Errors: `unavailable` AF-GIT-005 unborn branch (says: make a first commit).
    [[nodiscard]] Result<std::string> head_commit() const;
    [[nodiscard]] Result<std::string> tree_of(std::string_view commit) const;
    [[nodiscard]] std::optional<std::string> current_branch() const;  ///< Empty if HEAD is detached.
    /// Returns the uncommitted changes of the user's checkout (staged, unstaged, untracked but not ignored), by path. Leaves out
    /// submodules and `.agentforge/`.
    [[nodiscard]] Result<std::vector<std::string>> uncommitted() const;
    /// True if the path is the same in checkout and tree: missing in both, or the same bytes after git's filters.
    [[nodiscard]] Result<bool> checkout_is_as(std::string_view tree, const std::string& path) const;
    /// Returns user.name and user.email, or empty if they are not configured.
    [[nodiscard]] std::optional<std::pair<std::string, std::string>> identity() const;

    [[nodiscard]] Result<std::vector<TreeChange>> diff(std::string_view old_tree, std::string_view new_tree) const;
    /// Returns a unified diff of bounded size.
    [[nodiscard]] Result<std::string> patch(std::string_view old_tree, std::string_view new_tree,
                                            std::size_t max_bytes = 1UL << 20U) const;
    /// Returns a file's bytes in a tree. Empty if the tree has no such file.
    [[nodiscard]] Result<std::optional<std::string>> file_in_tree(std::string_view tree, std::string_view path) const;
    [[nodiscard]] Result<std::vector<std::string>> files_in_tree(std::string_view tree) const;
    /// Returns the symbolic links of a tree with their targets.
    [[nodiscard]] Result<std::map<std::string, std::string>> links_in_tree(std::string_view tree) const;
    /// Returns a tree like `tree` with the given files replaced (empty optional: removed).
    [[nodiscard]] Result<std::string> edit_tree(
        std::string_view tree, const std::vector<std::pair<std::string, std::optional<std::string>>>& files) const;

    /// Keeps a tree alive with a ref `refs/agentforge/<name>`. Replaces an existing one.
    [[nodiscard]] Result<void> keep_tree(std::string_view name, std::string_view tree) const;
    /// Removes `refs/agentforge/<prefix>` and all refs below it (`task-1` does not include `task-10`).
    [[nodiscard]] Result<void> drop_refs(std::string_view prefix) const;
    [[nodiscard]] Result<std::string> commit(const CommitRequest& request) const;
    /// Creates `refs/heads/<branch>` at the commit. Succeeds if it is already there. Errors: `conflict` AF-GIT-010 it exists at
    /// another commit, AF-GIT-014 another branch's name is in the way.
    [[nodiscard]] Result<void> create_branch(std::string_view branch, std::string_view commit) const;
    [[nodiscard]] Result<std::optional<std::string>> branch_commit(std::string_view branch) const;

private:
    friend class Worktree;
    struct State;
    explicit Repository(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

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
    /// What the last `snapshot` found that a tree cannot hold: changed, new or missing files of submodules, another repository's
    /// `.git`, folders nested more than 200 deep, and the worktree's own `.git` if it was changed since the last `reset_to`,
    /// which repairs all of these.
    [[nodiscard]] const std::vector<std::string>& unrecordable() const noexcept;
    /// What the last `reset_to` could not find: submodules (their folders are empty) and contents of Git LFS (the file is the
    /// pointer).
    [[nodiscard]] const std::vector<std::string>& unfilled() const noexcept;
    /// True if `ensure` has just written the files, so they are the commit's.
    [[nodiscard]] bool is_new() const noexcept;
    /// Makes the files equal this tree, byte for byte. Applies no filter except Git LFS (contents replace a pointer). Removes
    /// other tracked and untracked files; ignored ones only if `clean`, otherwise as the new tree's ignore files say. Never
    /// follows links.
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
    /// Removes the folder and git's record of it. Idempotent.
    [[nodiscard]] static Result<void> remove(const std::filesystem::path& repository, const std::filesystem::path& path,
                                             std::string_view name);

    struct State;  ///< Private to kernel/git.

private:
    explicit Worktree(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
