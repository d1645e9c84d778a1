// SPDX-License-Identifier: Apache-2.0
// Git LFS without its program: a tree holds a pointer, and the contents are below `<git directory>/lfs/objects`. Private to
// kernel/git.
#pragma once

#include <sys/stat.h>

#include <optional>

#include "git/library.hpp"

namespace agentforge::kernel::git {

struct LfsPointer {
    std::string id;  ///< SHA-256 of the contents.
    std::uint64_t size = 0;
};

/// Parses these bytes as a pointer. Empty if they are not one.
[[nodiscard]] std::optional<LfsPointer> read_pointer(std::string_view bytes);

/// Replaces the pointer file `name` below `parent` by its contents and keeps its mode. Empty if the repository does not have
/// them. Errors: `io` AF-GIT-030.
[[nodiscard]] Result<std::optional<struct stat>> fill_pointer(git_repository* repository, int parent, const std::string& name,
                                                              const std::string& path);

/// Stores the contents of an open file of this size in the repository's LFS store. Returns the bytes of its pointer. Errors: `io`
/// AF-GIT-030; `conflict` AF-GIT-034 it has another size.
[[nodiscard]] Result<std::string> keep_contents(git_repository* repository, int file, std::uint64_t size,
                                                const std::string& path);

}  // namespace agentforge::kernel::git
