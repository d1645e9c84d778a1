// SPDX-License-Identifier: Apache-2.0
// What the parts of a Worktree share. Private to kernel/git.
#pragma once

#include <sys/stat.h>

#include "base/files.hpp"
#include "git/library.hpp"
#include "git/repository.hpp"
#include "git/tree_edit.hpp"

namespace agentforge::kernel {

namespace git {

/// What the index keeps of a file's stat data: a third of it, and a large repository has tens of thousands waiting at once.
struct FileStamp {
    timespec changed{};
    timespec written{};
    std::uint32_t inode = 0;
    std::uint32_t size = 0;

    FileStamp() = default;
    explicit FileStamp(const struct stat& st)
        : changed(st.st_ctim), written(st.st_mtim), inode(static_cast<std::uint32_t>(st.st_ino)), size(static_cast<std::uint32_t>(st.st_size)) {}
};

/// An index entry that waits to be put into the index.
struct Recorded {
    std::string path;
    TreeEntry entry;
    FileStamp stamp;
};

/// The index file serves as a cache: what was recorded for a path, and the stat data of the file then.
/// A file whose ctime, mtime, size and inode are the same was not changed: nobody can set a ctime.
class StatCache {
public:
    /// Errors: AF-GIT-099.
    [[nodiscard]] static Result<StatCache> open(const std::filesystem::path& file);

    [[nodiscard]] const git_index_entry* find(const std::string& path, std::size_t* position = nullptr) const;
    [[nodiscard]] bool has_below(const std::string& folder) const;      ///< An entry below `folder` (without slash).
    [[nodiscard]] std::size_t size() const { return git_index_entrycount(index_.get()); }
    [[nodiscard]] const git_index_entry* at(std::size_t position) const { return git_index_get_byindex(index_.get(), position); }
    [[nodiscard]] static bool unchanged(const git_index_entry& entry, const struct stat& st);

    void clear();
    void remove(const std::string& path);
    /// Paths below a folder, and the path itself.
    [[nodiscard]] std::vector<std::string> at_or_below(const std::string& path) const;
    /// A file whose ctime is so near that another write could get the same is remembered as unknown.
    /// Errors: `invalid` AF-GIT-015.
    [[nodiscard]] Result<void> put(const std::vector<Recorded>& entries);
    [[nodiscard]] Result<git_oid> write_tree(git_repository* repository) const;
    /// Saves where something changed. Where another process holds its lock nothing is lost but time.
    void save();

private:
    explicit StatCache(IndexHandle index) : index_(std::move(index)) {}
    IndexHandle index_;
    bool changed_ = false;
};

}  // namespace git

struct Worktree::State {
    git::RepositoryHandle repository;       ///< The common repository, seen with this worktree's files.
    std::filesystem::path path;
    std::filesystem::path admin;            ///< `<git directory>/worktrees/<name>`
    FileDescriptor root;
    git::TreeHandle head_tree;              ///< What it stands on: decides which ignored files are tracked.
    std::optional<git::StatCache> cache;
    std::optional<git_oid> last_tree;       ///< What the cache describes.

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
