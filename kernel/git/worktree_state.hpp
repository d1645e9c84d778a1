// SPDX-License-Identifier: Apache-2.0
// State shared by the parts of a Worktree. Private to kernel/git.
#pragma once

#include <map>
#include <memory>

#include "base/files.hpp"
#include "git/file_table.hpp"
#include "git/worktree.hpp"

namespace agentforge::kernel {

struct Worktree::State {
    git::RepositoryHandle repository;  ///< The common repository, with this worktree's files.
    std::filesystem::path path;
    std::filesystem::path user;   ///< The user's checkout. Its submodules hold the commits.
    std::filesystem::path admin;  ///< `<git directory>/worktrees/<name>`
    FileDescriptor root;
    git::TreeHandle head_tree;  ///< Tree of the worktree's commit. Decides which ignored files are tracked.
    std::optional<git::FileTable> cache;
    std::optional<git_oid> last_tree;  ///< The tree that the cache describes.
    bool is_new = false;               ///< `ensure` wrote the files.
    bool is_module = false;            ///< The files of a submodule: without `.git` and record.
    /// By path. Empty if the user's checkout does not have the submodule.
    std::map<std::string, std::unique_ptr<State>, std::less<>> modules;
    std::vector<std::string> unrecordable;  ///< Entries of the last snapshot that a tree cannot hold.
    bool link_repaired = false;             ///< The worktree's own `.git` was changed since the last reset.
    std::vector<std::string> unfilled;      ///< Paths that the last checkout could not fill in: submodules, and Git LFS files.
    bool saved = false;                     ///< The cache on disk is current.

    [[nodiscard]] std::filesystem::path trash() const {
        return is_module ? admin / "removed" : std::filesystem::path(path.string() + ".removed");
    }
    [[nodiscard]] std::filesystem::path cache_file() const { return admin / "agentforge-index"; }
    /// Makes the files equal the tree, including those of submodules. After an error the cache is read again.
    [[nodiscard]] Result<void> reset(const git_oid& tree, bool clean);
    /// Returns the files of the submodule at `module_path` if the user's checkout has it at that commit, else nullptr.
    [[nodiscard]] State* module_at(const std::string& module_path, const git_oid& commit);
    /// Makes the files of each submodule equal its commit.
    [[nodiscard]] Result<void> fill_modules(bool clean);
    /// Finds changed files of submodules; adds each path after `prefix`.
    [[nodiscard]] Result<void> scan_modules(const std::string& prefix, std::vector<std::string>& into);
    /// True if Git LFS is used at all. Checked first, because libgit2 reads the user's whole index to answer for an attribute.
    [[nodiscard]] bool uses_lfs() const;
    /// True if the attributes on disk assign the file to Git LFS.
    [[nodiscard]] bool kept_by_lfs(const std::string& file) const;
    /// Makes `.git` the link to `admin`, whatever it was before. Returns whether it was different.
    [[nodiscard]] Result<bool> repair_link();
    /// Reads the cache once. If it is missing or broken, makes it again from HEAD's tree.
    [[nodiscard]] Result<void> open_cache();
    /// Saves the cache and keeps its objects alive with a ref that belongs to this worktree only and that `git gc` respects.
    void save();
    /// True if the ignore files on disk exclude this path. Errors: AF-GIT-036, AF-GIT-099.
    [[nodiscard]] Result<bool> ignored(const std::string& file) const;
    /// Refuses ignore files that would block or flood the reader. `prefix` is empty or ends in a slash.
    [[nodiscard]] Result<void> check_ignore_file(const std::string& prefix) const;
    [[nodiscard]] bool in_head(const std::string& file) const { return git::entry_at(head_tree.get(), file).has_value(); }
};

}  // namespace agentforge::kernel
