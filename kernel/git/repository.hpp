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
    std::string old_path;  ///< Of a rename; else empty.
    char status = 'M';     ///< A, M, D, R, T
    std::uint64_t lines_added = 0;
    std::uint64_t lines_removed = 0;
};

struct CommitRequest {
    std::string tree;
    std::string parent;   ///< Commit id.
    std::string message;  ///< Whole, trailers included.
    std::string author_name;
    std::string author_email;
    std::chrono::system_clock::time_point time;
};

/// The user's repository. One instance per thread.
class Repository {
public:
    /// Finds the repository around `path`. Errors: `not_found` AF-GIT-001 no repository; `denied` AF-GIT-002 owned by
    /// another user (says what to do); `unavailable` AF-GIT-003 bare; AF-GIT-004 format not supported (SHA-256).
    [[nodiscard]] static Result<Repository> open(const std::filesystem::path& path);

    Repository(Repository&&) noexcept;
    Repository& operator=(Repository&&) noexcept;
    ~Repository();

    [[nodiscard]] std::filesystem::path work_directory() const;
    [[nodiscard]] std::filesystem::path git_directory() const;  ///< The common one.
    /// Commit that HEAD stands on. Errors: `unavailable` AF-GIT-005 unborn branch (says: make a first commit).
    [[nodiscard]] Result<std::string> head_commit() const;
    [[nodiscard]] Result<std::string> tree_of(std::string_view commit) const;
    [[nodiscard]] std::optional<std::string> current_branch() const;  ///< Empty when detached.
    /// Uncommitted changes of the user's checkout (staged, unstaged, untracked but not ignored), by path;
    /// submodules and `.agentforge/` left out.
    [[nodiscard]] Result<std::vector<std::string>> uncommitted() const;
    /// Whether the checkout has the path as the tree has it: both without it, or the same bytes, as git's filters make them of
    /// the file.
    [[nodiscard]] Result<bool> checkout_is_as(std::string_view tree, const std::string& path) const;
    /// user.name and user.email, or empty where not configured.
    [[nodiscard]] std::optional<std::pair<std::string, std::string>> identity() const;

    [[nodiscard]] Result<std::vector<TreeChange>> diff(std::string_view old_tree, std::string_view new_tree) const;
    /// Unified diff text, bounded.
    [[nodiscard]] Result<std::string> patch(std::string_view old_tree, std::string_view new_tree,
                                            std::size_t max_bytes = 1UL << 20U) const;
    /// A file's bytes in a tree; empty where the tree has no such file.
    [[nodiscard]] Result<std::optional<std::string>> file_in_tree(std::string_view tree, std::string_view path) const;
    [[nodiscard]] Result<std::vector<std::string>> files_in_tree(std::string_view tree) const;
    /// The symbolic links of a tree and what each holds.
    [[nodiscard]] Result<std::map<std::string, std::string>> links_in_tree(std::string_view tree) const;
    /// A tree like `tree` with the given files replaced (content empty optional: removed).
    [[nodiscard]] Result<std::string> edit_tree(
        std::string_view tree, const std::vector<std::pair<std::string, std::optional<std::string>>>& files) const;

    /// Keeps a tree alive: a ref `refs/agentforge/<name>` to it. Overwrites.
    [[nodiscard]] Result<void> keep_tree(std::string_view name, std::string_view tree) const;
    /// Removes `refs/agentforge/<prefix>` and what is below it (`task-1` does not concern `task-10`).
    [[nodiscard]] Result<void> drop_refs(std::string_view prefix) const;
    [[nodiscard]] Result<std::string> commit(const CommitRequest& request) const;
    /// Creates `refs/heads/<branch>` at the commit; no error where it stands there already.
    /// Errors: `conflict` AF-GIT-010 where it exists elsewhere, AF-GIT-014 where another branch's name is in the way.
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
    /// Creates it (or opens the one that is there, its files as they are) at `path`, HEAD detached on `commit`.
    /// `name` is its administrative name. A half-made one is repaired. `path` lies outside the repository.
    /// Never touches the user's checkout, index or branches. Errors: AF-GIT-020…024, -030.
    [[nodiscard]] static Result<Worktree> ensure(const std::filesystem::path& repository, const std::filesystem::path& path,
                                                 std::string_view name, std::string_view commit);

    Worktree(Worktree&&) noexcept;
    Worktree& operator=(Worktree&&) noexcept;
    ~Worktree();

    [[nodiscard]] const std::filesystem::path& path() const noexcept;
    /// The paths of submodules. Their files are the user's own checkout of the commit that is named, where it has that; they are
    /// for reading.
    [[nodiscard]] std::vector<std::string> submodules() const;
    /// What the last `snapshot` found that no tree can show: changed, new or missing files of submodules, another repository's
    /// `.git`, folders nested more than 200 deep, and the worktree's own `.git` where somebody had changed it since the last
    /// `reset_to`, which puts all of that right.
    [[nodiscard]] const std::vector<std::string>& unrecordable() const noexcept;
    /// What the last `reset_to` found nowhere: submodules (their folders are empty) and contents of Git LFS (the file is the
    /// pointer).
    [[nodiscard]] const std::vector<std::string>& unfilled() const noexcept;
    /// `ensure` wrote its files just now: they are the commit's.
    [[nodiscard]] bool is_new() const noexcept;
    /// Makes the files be exactly this tree, byte for byte, no filter applied but Git LFS's (the contents in place of a pointer):
    /// other tracked and untracked files go (ignored ones too where `clean`; else the ignore files of the new tree decide). Links
    /// are never followed.
    [[nodiscard]] Result<void> reset_to(std::string_view tree, bool clean);
    /// Records the whole worktree as a tree, byte for byte; incremental through a stat cache. Left out are ignored
    /// files that `commit` does not hold, `.git` at any depth, sockets and pipes. `.agentforge/` and gitlinks stay as
    /// they were in the last tree; a file that the attributes give to Git LFS is recorded as a pointer. Errors: AF-GIT-015, -030,
    /// -033, -034, -036.
    [[nodiscard]] Result<std::string> snapshot();
    /// Records after writes to known paths only (files, folders, gone or there): O(paths). Errors: those of `snapshot`; `invalid`
    /// AF-GIT-035.
    [[nodiscard]] Result<std::string> snapshot_paths(const std::vector<std::string>& paths);
    /// Paths that differ from the last snapshot.
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
