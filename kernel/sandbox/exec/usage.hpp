// SPDX-License-Identifier: Apache-2.0
// Resource usage of a process tree, read from /proc. All functions return 0 for what they cannot read.
#pragma once

#include <sys/types.h>
#include <cstdint>

namespace agentforge::exec {

/// The usage of one process, including the children it waited for.
struct Usage {
    std::uint64_t threads = 0;
    std::uint64_t anonymous_bytes = 0;  ///< Pages that belong to no file; forked processes count theirs separately.
    std::uint64_t cpu_ticks = 0;        ///< Those of waited-for children included.
    std::uint64_t children_ticks = 0;   ///< Theirs alone.
    std::uint64_t started = 0;          ///< In ticks since boot; with the process id it names a process.
    bool runs = false;                  ///< Its first thread runs or waits for a processor.
    std::uint64_t written_bytes = 0;    ///< To file systems on a disk, less cancelled writes.
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

/// Adds up what is held by open files that have no name, in any thread of a process (each may have a table of its own), counting
/// each once: memory files, and files on a disk that were removed.
class NamelessFiles {
public:
    void add(pid_t process);
    [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }
    [[nodiscard]] std::uint64_t disk_bytes() const { return disk_bytes_; }
    /// A descriptor was sent by a socket and not yet received: the file is open in no process.
    [[nodiscard]] bool in_flight() const { return in_flight_; }

private:
    void add_table(const char* folder);
    bool is_new(ino_t inode);

    static constexpr unsigned room = 1U << 14U;  // Beyond it files are counted again.
    ino_t seen_[room] = {};
    unsigned count_ = 0;
    std::uint64_t memory_bytes_ = 0;
    std::uint64_t disk_bytes_ = 0;
    bool in_flight_ = false;
};

}  // namespace agentforge::exec
