// SPDX-License-Identifier: Apache-2.0
// What a tree of processes takes, as /proc tells it. All functions answer 0 where they cannot read.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace agentforge::exec {

/// What one process has taken, with those it waited for.
struct Usage {
    std::uint64_t threads = 0;
    std::uint64_t anonymous_bytes = 0;      ///< Pages that are no file's; those of a fork count for each.
    std::uint64_t cpu_ticks = 0;
    std::uint64_t written_bytes = 0;        ///< To file systems on a disk, and not taken back.
};
Usage usage_of(pid_t process);

/// The part of one process in the memory it maps; takes long.
struct Mapped {
    std::uint64_t anonymous_bytes = 0;
    std::uint64_t shared_bytes = 0;
};
Mapped mapped_by(pid_t process);

/// Bytes written by this process and by all that it waited for.
std::uint64_t written_by_ended();

/// System-wide: tasks that there are, MemAvailable, Shmem.
struct SystemUsage {
    std::uint64_t tasks = 0;
    std::uint64_t available_bytes = 0;
    std::uint64_t shared_bytes = 0;
};
SystemUsage usage_of_system();

/// Shared memory that needs no process to map it: System V segments of this IPC namespace.
std::uint64_t segment_bytes();

/// Adds up files that live in memory alone and are open in a process, each once.
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
