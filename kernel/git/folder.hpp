// SPDX-License-Identifier: Apache-2.0
// Opens folders with untrusted contents without following links; git/trash.hpp removes them. Private to kernel/git.
#pragma once

#include <strings.h>
#include <sys/stat.h>
#include <cerrno>

#include <string>
#include <vector>

#include "base/files.hpp"

namespace agentforge::kernel::git {

/// Deeper folders are refused, because each open level costs a descriptor.
inline constexpr unsigned max_folder_depth = 200;
/// Limit for a whole path, so that other programs can open the files.
inline constexpr std::size_t max_path_bytes = 4000;
/// True if some file system treats the name as `.git`.
[[nodiscard]] inline bool is_git_name(std::string_view name) {
    return name.size() == 4 && strncasecmp(name.data(), ".git", 4) == 0;
}

/// Makes a system call again if a signal interrupted it.
template <class Call>
auto retry_interrupted(const Call& call) {
    auto result = call();
    while (result < 0 && errno == EINTR) { result = call(); }
    return result;
}

[[nodiscard]] Error folder_error(int error, std::string_view doing, const std::filesystem::path& path);

/// Gives the owner `rights` on an entry that is not a link.
void grant_owner(int parent, const char* name, mode_t rights);
/// Opens `name` below `parent` if it is itself a folder (not a link). Restores the owner's rights to use it. Otherwise returns an
/// empty descriptor and sets errno.
[[nodiscard]] FileDescriptor open_folder(int parent, const char* name);
/// Opens a regular file for reading in the same way.
[[nodiscard]] FileDescriptor open_file(int parent, const char* name);
/// Returns the names in a folder, sorted bytewise, without `.` and `..`.
[[nodiscard]] Result<std::vector<std::string>> names_in(int folder, const std::filesystem::path& shown);
[[nodiscard]] Result<std::string> read_link(int parent, const char* name, const std::filesystem::path& shown);

}  // namespace agentforge::kernel::git
