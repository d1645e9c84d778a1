// SPDX-License-Identifier: Apache-2.0
// Opens paths whose links are untrusted.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>

namespace agentforge::exec {

constexpr long openat2_call = 437;
constexpr std::uint64_t resolve_no_symlinks = 0x04;
constexpr std::uint64_t resolve_in_root = 0x10;

struct OpenHow {
    std::uint64_t flags, mode, resolve;
};

/// True if any component of the path is a link. A link planted by an earlier command must not redirect the path.
inline bool leads_over_a_link(const char* path) {
    OpenHow how{O_PATH | O_CLOEXEC, 0, resolve_no_symlinks};
    const long place = syscall(openat2_call, AT_FDCWD, path, &how, sizeof how);
    if (place < 0) { return errno == ELOOP; }
    close(static_cast<int>(place));
    return false;
}

/// Opens `path` as a process with the root directory `root` would see it. Returns a descriptor, or -1.
inline int open_inside(int root, const char* path) {
    OpenHow how{O_PATH | O_CLOEXEC, 0, resolve_in_root};
    return static_cast<int>(syscall(openat2_call, root, *path == '\0' ? "/" : path, &how, sizeof how));
}

}  // namespace agentforge::exec
