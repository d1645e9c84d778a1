// SPDX-License-Identifier: Apache-2.0
// What the parts of a Worktree share. Private to kernel/git.
#pragma once

#include <map>
#include <memory>

#include "base/files.hpp"
#include "git/file_table.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

struct Worktree::State {
    git::RepositoryHandle repository;  ///< The common repository, seen with this worktree's files.
    std::filesystem::path path;
    std::filesystem::path user;   ///< The user's checkout: its submodules are where theirs are.
    std::filesystem::path admin;  ///< `<git directory>/worktrees/<name>`
    FileDescriptor root;
    git::TreeHandle head_tree;  ///< What it stands on: decides which ignored files are tracked.
    std::optional<git::FileTable> cache;
    std::optional<git_oid> last_tree;  ///< What the cache describes.
    bool is_new = false;               ///< `ensure` wrote the files.
    bool is_module = false;            ///< The files of a submodule: no `.git` and no record of their own.
    /// By path; empty where the user's checkout does not have the submodule.
    std::map<std::string, std::unique_ptr<State>, std::less<>> modules;
    std::vector<std::string> unrecordable;  ///< What the last snapshot found that no tree can show.
    bool link_repaired = false;             ///< Somebody had changed the worktree's own `.git` since the last reset.
    std::vector<std::string> unfilled;  ///< What the last checkout could not fill in: submodules, and files that Git LFS keeps.
    bool saved = false;                 ///< The cache is on disk as it is.

    [[nodiscard]] std::filesystem::path trash() const {
        return is_module ? admin / "removed" : std::filesystem::path(path.string() + ".removed");
    }
    [[nodiscard]] std::filesystem::path cache_file() const { return admin / "agentforge-index"; }
    /// Makes the files be the tree's, those of submodules too. After an error the cache is read anew.
    [[nodiscard]] Result<void> reset(const git_oid& tree, bool clean);
    /// The files of the submodule at `module_path`, where the user's checkout has it at that commit; else nullptr.
    [[nodiscard]] State* module_at(const std::string& module_path, const git_oid& commit);
    /// Makes the files of each submodule be its commit's.
    [[nodiscard]] Result<void> fill_modules(bool clean);
    /// Finds changed files of submodules: each path after `prefix`.
    [[nodiscard]] Result<void> look_at_modules(const std::string& prefix, std::vector<std::string>& into);
    /// Whether Git LFS is used here at all. Asked first: libgit2 reads the user's whole index to answer for an attribute.
    [[nodiscard]] bool uses_lfs() const;
    /// Whether the attributes on disk give the file to Git LFS.
    [[nodiscard]] bool kept_by_lfs(const std::string& file) const;
    /// Makes `.git` be the link to `admin`, whatever it was. Answers whether it was another.
    [[nodiscard]] Result<bool> repair_link();
    /// Reads the cache, once; one that is gone or broken is made again from HEAD's tree.
    [[nodiscard]] Result<void> open_cache();
    /// Saves the cache and keeps what it names alive: a ref of this worktree alone, that `git gc` respects.
    void save();
    /// Whether the ignore files on disk leave this path out. Errors: AF-GIT-036, AF-GIT-099.
    [[nodiscard]] Result<bool> ignored(const std::string& file) const;
    /// Refuses ignore files that would block or flood the reader. `prefix` is empty or ends in a slash.
    [[nodiscard]] Result<void> check_ignore_file(const std::string& prefix) const;
    [[nodiscard]] bool in_head(const std::string& file) const { return git::entry_at(head_tree.get(), file).has_value(); }
};

}  // namespace agentforge::kernel
