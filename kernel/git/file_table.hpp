// SPDX-License-Identifier: Apache-2.0
// What is remembered of a worktree's files: what was recorded for each path, and the stat data of the file then. Private to
// kernel/git.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "git/tree_edit.hpp"

namespace agentforge::kernel::git {

/// A file whose ctime, mtime, size and inode are the same was not changed: nobody can set a ctime. One of all zeros is never the
/// same.
struct FileStamp {
    std::uint32_t changed_s = 0;
    std::uint32_t changed_ns = 0;
    std::uint32_t written_s = 0;
    std::uint32_t written_ns = 0;
    std::uint32_t inode = 0;
    std::uint32_t size = 0;

    FileStamp() = default;
    explicit FileStamp(const struct stat& st)
        : changed_s(static_cast<std::uint32_t>(st.st_ctim.tv_sec)),
          changed_ns(static_cast<std::uint32_t>(st.st_ctim.tv_nsec)),
          written_s(static_cast<std::uint32_t>(st.st_mtim.tv_sec)),
          written_ns(static_cast<std::uint32_t>(st.st_mtim.tv_nsec)),
          inode(static_cast<std::uint32_t>(st.st_ino)),
          size(static_cast<std::uint32_t>(st.st_size)) {}
    bool operator==(const FileStamp&) const = default;
};

/// What becomes of a path: recorded, or (without an entry) forgotten.
struct Recorded {
    std::string path;
    std::optional<TreeEntry> entry;
    FileStamp stamp;
};

/// Sorted by path, bytewise, as git sorts. A file costs 52 bytes and its path: a repository may have a hundred thousand, and two
/// worktrees.
class FileTable {
public:
    struct File {
        git_oid id;
        FileStamp stamp;
        std::uint32_t path_begin;
        std::uint16_t path_size;
        std::uint16_t mode;  ///< A git_filemode_t.

        [[nodiscard]] TreeEntry entry() const { return {id, static_cast<git_filemode_t>(mode)}; }
        [[nodiscard]] bool is_gitlink() const { return mode == GIT_FILEMODE_COMMIT; }
        [[nodiscard]] bool holds(const TreeEntry& other) const {
            return git_oid_equal(&id, &other.id) != 0 && mode == static_cast<std::uint16_t>(other.mode);
        }
        [[nodiscard]] bool unchanged(const struct stat& st) const { return stamp.changed_s != 0 && stamp == FileStamp(st); }
    };

    /// What `save` wrote and the tree it describes; empty where the file is not there, cut off or of another make.
    [[nodiscard]] static std::optional<std::pair<FileTable, git_oid>> load(const std::filesystem::path& file);
    /// The files of a tree, none of them known to be on disk. Errors: `invalid` AF-GIT-015 a path that must not be, e.g. with
    /// `..`; AF-GIT-099.
    [[nodiscard]] static Result<FileTable> of_tree(git_repository* repository, const git_oid& tree);
    /// Makes the files of `from` those of `to`: what differs is not known to be on disk. Answers the paths that are gone, in
    /// order. Costs the trees that differ. The errors of `of_tree`; then the table is as it was.
    [[nodiscard]] Result<std::vector<std::string>> change_tree(git_repository* repository, const git_oid& from,
                                                               const git_oid& to);

    [[nodiscard]] std::size_t size() const { return files_.size(); }
    [[nodiscard]] const File& at(std::size_t position) const { return files_[position]; }
    [[nodiscard]] std::string_view path(std::size_t position) const {
        return {paths_.data() + files_[position].path_begin, files_[position].path_size};
    }
    [[nodiscard]] const File* find(std::string_view path, std::size_t* position = nullptr) const;
    /// Positions below `folder` (without slash): from, to.
    [[nodiscard]] std::pair<std::size_t, std::size_t> below(std::string_view folder) const;
    [[nodiscard]] bool has_below(std::string_view folder) const;
    void set_stamp(std::size_t position, const FileStamp& stamp) { files_[position].stamp = stamp; }

    /// Takes over what was recorded, in any order; of a path that stands twice the last.
    void update(std::vector<Recorded> changes);
    /// Forgets stamps so near to now that another write could get the same: file times tick with the kernel's timer. `update`
    /// does so for its own.
    void forget_fresh_stamps();
    /// Replaces the file; not synced. It is a cache: false and nothing else where that fails.
    [[nodiscard]] bool save(const std::filesystem::path& file, const git_oid& tree) const;
    /// Writes git's own index (gitformat-index(5), version 2) of these files, none of them known to be on disk; not synced.
    [[nodiscard]] Result<void> write_index(const std::filesystem::path& file) const;

private:
    [[nodiscard]] File make(std::string_view path, const TreeEntry& entry);  ///< Keeps the path.
    [[nodiscard]] std::size_t lower_bound(std::string_view path, std::string_view more = {}) const;

    std::vector<File> files_;
    std::string paths_;
};

}  // namespace agentforge::kernel::git
