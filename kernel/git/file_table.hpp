// SPDX-License-Identifier: Apache-2.0
// The cached state of a worktree's files: what was recorded for each path, and the file's stat data at that time. Private to
// kernel/git.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "git/tree_edit.hpp"

namespace agentforge::kernel::git {

/// If ctime, mtime, size and inode are the same, the file was not changed: no program can set a ctime. A stamp of all zeros never
/// matches.
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

/// Returns the mode in which git records a file or symbolic link.
[[nodiscard]] inline git_filemode_t recorded_mode(const struct stat& st) {
    if (S_ISLNK(st.st_mode)) { return GIT_FILEMODE_LINK; }
    return (st.st_mode & S_IXUSR) != 0 ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB;
}

/// The new state of a path: recorded, or (without an entry) forgotten.
struct Recorded {
    std::string path;
    std::optional<TreeEntry> entry;
    FileStamp stamp;
};

/// Sorted by path, bytewise, as git sorts. Each file costs 52 bytes and its path: a repository may have a hundred thousand files
/// and two worktrees.
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

    /// Reads what `save` wrote, and the tree it describes. Empty if the file is missing, truncated or from another build.
    [[nodiscard]] static std::optional<std::pair<FileTable, git_oid>> load(const std::filesystem::path& file);
    /// Returns the files of a tree; none counts as being on disk. Errors: `invalid` AF-GIT-015 a forbidden path, e.g. with `..`;
    /// AF-GIT-099.
    [[nodiscard]] static Result<FileTable> of_tree(git_repository* repository, const git_oid& tree);
    /// Changes the files of `from` to those of `to`. Files that differ no longer count as being on disk. Returns the paths that
    /// are gone, in order. Cost: the trees that differ. Errors: as `of_tree`; then the table is unchanged.
    [[nodiscard]] Result<std::vector<std::string>> change_tree(git_repository* repository, const git_oid& from,
                                                               const git_oid& to);

    [[nodiscard]] std::size_t size() const { return files_.size(); }
    [[nodiscard]] const File& at(std::size_t position) const { return files_[position]; }
    [[nodiscard]] std::string_view path(std::size_t position) const {
        return {paths_.data() + files_[position].path_begin, files_[position].path_size};
    }
    [[nodiscard]] const File* find(std::string_view path, std::size_t* position = nullptr) const;
    /// Returns the positions below `folder` (without slash): from, to.
    [[nodiscard]] std::pair<std::size_t, std::size_t> below(std::string_view folder) const;
    [[nodiscard]] bool has_below(std::string_view folder) const;
    void set_stamp(std::size_t position, const FileStamp& stamp) { files_[position].stamp = stamp; }

    /// Applies recorded changes, in any order. For a path that occurs twice, the last one counts.
    void update(std::vector<Recorded> changes);
    /// Forgets stamps that are so recent that another write could get the same: file times have the resolution of the kernel's
    /// timer. `update` does this for its own changes.
    void forget_fresh_stamps();
    /// Replaces the file; not synced. It is only a cache: on failure returns false.
    [[nodiscard]] bool save(const std::filesystem::path& file, const git_oid& tree) const;
    /// Writes git's own index (gitformat-index(5), version 2) of these files, none of which counts as being on disk. Not synced.
    [[nodiscard]] Result<void> write_index(const std::filesystem::path& file) const;

private:
    [[nodiscard]] File make(std::string_view path, const TreeEntry& entry);  ///< Also stores the path.
    [[nodiscard]] std::size_t lower_bound(std::string_view path, std::string_view more = {}) const;

    std::vector<File> files_;
    std::string paths_;
};

}  // namespace agentforge::kernel::git
