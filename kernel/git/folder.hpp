// SPDX-License-Identifier: Apache-2.0
// Folders whose contents nobody vouches for: opened without following links, removed whatever is in them.
// Private to kernel/git.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/files.hpp"

namespace agentforge::kernel::git {

/// Folders nested deeper than this are refused: each open level costs a descriptor.
inline constexpr unsigned max_folder_depth = 200;
/// Of a whole path, so that those who check it out can name it.
inline constexpr std::size_t max_path_bytes = 4000;
/// Whether some file system takes it for `.git`.
[[nodiscard]] inline bool is_git_name(std::string_view name) {
    return name.size() == 4 && strncasecmp(name.data(), ".git", 4) == 0;
}

[[nodiscard]] Error folder_error(int error, std::string_view doing, const std::filesystem::path& path);

/// Opens `name` below `parent` if it is a folder itself (no link), giving its owner the rights to use it
/// where they were taken away. Empty descriptor and errno where it is none.
[[nodiscard]] FileDescriptor open_folder(int parent, const char* name);
/// Opens an ordinary file for reading in the same way.
[[nodiscard]] FileDescriptor open_file(int parent, const char* name);
/// The names in a folder, sorted bytewise; `.` and `..` left out.
[[nodiscard]] Result<std::vector<std::string>> names_in(int folder, const std::filesystem::path& shown);
[[nodiscard]] Result<std::string> read_link(int parent, const char* name, const std::filesystem::path& shown);

/// A folder beside the worktree into which folders are moved to be taken apart: no recursion, so that no
/// depth is too deep. Goes away with the object; one that a crash left behind is emptied by the next.
class Trash {
public:
    explicit Trash(std::filesystem::path path) : path_(std::move(path)) {}
    /// Removes whatever `name` is, or does nothing where it is not. Errors: `io` AF-GIT-030.
    [[nodiscard]] Result<void> remove(int parent, const std::string& name);
    /// Takes apart what was moved here, and removes the folder. Errors: `io` AF-GIT-030.
    [[nodiscard]] Result<void> empty();

private:
    [[nodiscard]] Result<void> open();
    [[nodiscard]] Result<void> move_in(int parent, const std::string& name);
    std::filesystem::path path_;
    FileDescriptor folder_;
    unsigned long next_ = 0;
};

}  // namespace agentforge::kernel::git
