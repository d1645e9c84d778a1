// SPDX-License-Identifier: Apache-2.0
// The user's repository through libgit2: its state, trees, commits and branches. git/worktree.hpp has the worktrees of tasks.
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
    /// Returns the repository's checkouts besides this one: the main one and its linked worktrees. Also those whose folder is
    /// gone.
    [[nodiscard]] std::vector<std::filesystem::path> other_checkouts() const;
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
    /// Removes `refs/agentforge/<prefix>` and all refs below it (`task-1` does not include `task-10`), except those of the object
    /// `except`.
    [[nodiscard]] Result<void> drop_refs(std::string_view prefix, std::string_view except = {}) const;
    [[nodiscard]] Result<std::string> commit(const CommitRequest& request) const;
    /// Makes objects that git's program wrote since `since` survive a power cut. Call it before a ref or a record names one.
    /// Errors: `io` AF-BASE-013, AF-BASE-016.
    [[nodiscard]] Result<void> sync_objects_since(std::chrono::system_clock::time_point since) const;
    /// Creates `refs/heads/<branch>` at the commit. Succeeds if it is already there. Errors: `conflict` AF-GIT-010 it exists at
    /// another commit, AF-GIT-014 it conflicts with another branch's name.
    [[nodiscard]] Result<void> create_branch(std::string_view branch, std::string_view commit) const;
    [[nodiscard]] Result<std::optional<std::string>> branch_commit(std::string_view branch) const;

private:
    friend class Worktree;
    struct State;
    explicit Repository(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Returns a person's name or address as git writes it into commits: without angle brackets and line ends.
[[nodiscard]] std::string without_brackets(std::string name);

}  // namespace agentforge::kernel
