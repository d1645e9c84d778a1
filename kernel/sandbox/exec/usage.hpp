// SPDX-License-Identifier: Apache-2.0
// Resource usage of a process tree, read from /proc. All functions return 0 for what they cannot read.
#pragma once

#include <sys/types.h>
#include <cstdint>

namespace agentforge::exec {

/// The usage of one process, including the children it waited for.
struct Usage {
    std::uint64_t threads = 0;
    std::uint64_t anonymous_bytes = 0;  ///< Pages that belong to no file. Forked processes count theirs separately.
    std::uint64_t cpu_ticks = 0;        ///< Includes those of waited-for children.
    std::uint64_t children_ticks = 0;   ///< Only those of waited-for children.
    std::uint64_t started = 0;          ///< In ticks since boot. With the process id it identifies a process.
    bool runs = false;                  ///< Its first thread runs or waits for a processor.
    std::uint64_t written_bytes = 0;    ///< Written to file systems on a disk, minus cancelled writes.
};
Usage usage_of(pid_t process);

/// The process's proportional share of its mapped memory (PSS). Slow to read.
struct Mapped {
    std::uint64_t anonymous_bytes = 0;
    std::uint64_t shared_bytes = 0;
};
Mapped mapped_by(pid_t process);

/// Returns the bytes written by this process and all children it waited for.
std::uint64_t written_by_self_and_children();

/// System-wide: number of tasks, MemAvailable, Shmem.
struct SystemUsage {
    std::uint64_t tasks = 0;
    std::uint64_t available_bytes = 0;
    std::uint64_t shared_bytes = 0;
};
SystemUsage usage_of_system();

/// Returns the size of shared memory that needs no mapping by a process: the System V segments of this IPC namespace.
std::uint64_t segment_bytes();

/// Sums the size of open files without a name: memory files, and deleted files on a disk. Looks at every thread of a process
/// (each may have its own table) and counts each file once.
class NamelessFiles {
public:
    void add(pid_t process);
    [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }
    [[nodiscard]] std::uint64_t disk_bytes() const { return disk_bytes_; }
    /// True if a descriptor was sent through a socket and not yet received: no process has the file open.
    [[nodiscard]] bool in_flight() const { return in_flight_; }

private:
    void add_table(const char* folder);
    bool is_new(ino_t inode);

    static constexpr unsigned room = 1U << 14U;  // Beyond this number, files may be counted twice.
    ino_t seen_[room] = {};
    unsigned count_ = 0;
    std::uint64_t memory_bytes_ = 0;
    std::uint64_t disk_bytes_ = 0;
    bool in_flight_ = false;
};

}  // namespace agentforge::exec
