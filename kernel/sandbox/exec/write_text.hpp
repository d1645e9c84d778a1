// SPDX-License-Identifier: Apache-2.0
// Writes to a file of the Linux kernel (/proc, a cgroup) in one call.
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <cstring>

namespace agentforge::exec {

/// Returns true if all of the text was written.
inline bool write_text(const char* path, const char* text) {
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) { return false; }
    const size_t size = strlen(text);
    const bool whole = write(file, text, size) == static_cast<ssize_t>(size);
    close(file);
    return whole;
}

}  // namespace agentforge::exec
