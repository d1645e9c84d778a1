// SPDX-License-Identifier: Apache-2.0
// Git LFS without its program: a tree holds a pointer to the contents, which lie below `<git directory>/lfs/objects`. Private to
// kernel/git.
#pragma once

#include <sys/stat.h>

#include "git/library.hpp"

namespace agentforge::kernel::git {

struct LfsPointer {
    std::string id;  ///< SHA-256 of the contents.
    std::uint64_t size = 0;
};

/// The pointer that these bytes are, if they are one.
[[nodiscard]] std::optional<LfsPointer> read_pointer(std::string_view bytes);

/// Puts the contents in place of the pointer file `name` below `parent`, its mode as it was. Empty where the repository does not
/// have them. Errors: `io` AF-GIT-030.
[[nodiscard]] Result<std::optional<struct stat>> fill_pointer(git_repository* repository, int parent, const std::string& name,
                                                              const std::string& path);

/// Keeps the contents of an open file of this size in the repository's store and answers the bytes of its pointer.
/// Errors: `io` AF-GIT-030; `conflict` AF-GIT-034 it has another size.
[[nodiscard]] Result<std::string> keep_contents(git_repository* repository, int file, std::uint64_t size,
                                                const std::string& path);

}  // namespace agentforge::kernel::git
