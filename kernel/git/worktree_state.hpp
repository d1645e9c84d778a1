// SPDX-License-Identifier: Apache-2.0
// What the parts of a Worktree share. Private to kernel/git.
#pragma once

#include "base/files.hpp"
#include "git/file_table.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

struct Worktree::State {
    git::RepositoryHandle repository;       ///< The common repository, seen with this worktree's files.
    std::filesystem::path path;
    std::filesystem::path admin;            ///< `<git directory>/worktrees/<name>`
    FileDescriptor root;
    git::TreeHandle head_tree;              ///< What it stands on: decides which ignored files are tracked.
    std::optional<git::FileTable> cache;
    std::optional<git_oid> last_tree;       ///< What the cache describes.
    bool is_new = false;                    ///< `ensure` wrote the files.
    bool saved = false;                     ///< The cache is on disk as it is.

    [[nodiscard]] std::filesystem::path trash() const { return path.string() + ".removed"; }
    [[nodiscard]] std::filesystem::path cache_file() const { return admin / "agentforge-index"; }
    /// Makes `.git` be the link to `admin`, whatever it was.
    [[nodiscard]] Result<void> repair_link();
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
