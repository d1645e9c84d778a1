// SPDX-License-Identifier: Apache-2.0
// Resource usage of a process tree, read from /proc. All functions return 0 for what they cannot read.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace agentforge::exec {

/// The usage of one process, including the children it waited for.
struct Usage {
    std::uint64_t threads = 0;
    std::uint64_t anonymous_bytes = 0;      ///< Pages that belong to no file; forked processes count theirs separately.
    std::uint64_t cpu_ticks = 0;
    std::uint64_t written_bytes = 0;        ///< To file systems on a disk, less cancelled writes.
};
Usage usage_of(pid_t process);

/// The process's proportional share of its mapped memory (PSS). Slow.
struct Mapped {
    std::uint64_t anonymous_bytes = 0;
    std::uint64_t shared_bytes = 0;
};
Mapped mapped_by(pid_t process);

/// Bytes written by this process and all the children it waited for.
std::uint64_t written_by_ended();

/// System-wide: number of tasks, MemAvailable, Shmem.
struct SystemUsage {
    std::uint64_t tasks = 0;
    std::uint64_t available_bytes = 0;
    std::uint64_t shared_bytes = 0;
};
SystemUsage usage_of_system();

/// Shared memory that exists without a process mapping it: the System V segments of this IPC namespace.
std::uint64_t segment_bytes();

/// Adds up memory-only files that are open in a process, counting each once.
class MemoryFiles {
public:
    void add(pid_t process);
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

private:
    static constexpr int most = 1024;
    ino_t seen_[most] = {};
    int count_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace agentforge::exec
