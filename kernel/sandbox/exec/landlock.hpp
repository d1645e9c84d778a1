// SPDX-License-Identifier: Apache-2.0
// Landlock as the kernel defines it (Documentation/userspace-api/landlock.rst). Written out because the build machine's headers
// may be older than the kernel that runs the program.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>
#include <cstdint>

namespace landlock {

struct RulesetAttributes {
    std::uint64_t handled_access_fs;
    std::uint64_t handled_access_net;  // ABI 4
    std::uint64_t scoped;              // ABI 6
};

struct PathBeneath {
    std::uint64_t allowed_access;
    std::int32_t parent;
} __attribute__((packed));

constexpr std::uint64_t execute = 1ULL << 0U;
constexpr std::uint64_t write_file = 1ULL << 1U;
constexpr std::uint64_t read_file = 1ULL << 2U;
constexpr std::uint64_t read_dir = 1ULL << 3U;
constexpr std::uint64_t remove_dir = 1ULL << 4U;
constexpr std::uint64_t remove_file = 1ULL << 5U;
constexpr std::uint64_t make_char = 1ULL << 6U;
constexpr std::uint64_t make_dir = 1ULL << 7U;
constexpr std::uint64_t make_reg = 1ULL << 8U;
constexpr std::uint64_t make_sock = 1ULL << 9U;
constexpr std::uint64_t make_fifo = 1ULL << 10U;
constexpr std::uint64_t make_block = 1ULL << 11U;
constexpr std::uint64_t make_sym = 1ULL << 12U;
constexpr std::uint64_t refer = 1ULL << 13U;      // ABI 2
constexpr std::uint64_t truncate = 1ULL << 14U;   // ABI 3
constexpr std::uint64_t ioctl_dev = 1ULL << 15U;  // ABI 5

constexpr std::uint64_t bind_tcp = 1ULL << 0U;
constexpr std::uint64_t connect_tcp = 1ULL << 1U;
constexpr std::uint64_t scope_abstract_sockets = 1ULL << 0U;
constexpr std::uint64_t scope_signals = 1ULL << 1U;

/// The system calls have these numbers on every architecture.
constexpr long create_ruleset = 444;
constexpr long add_rule = 445;
constexpr long restrict_self = 446;

inline int abi() {
    const long version = syscall(create_ruleset, nullptr, 0, 1U);
    return version < 0 ? 0 : static_cast<int>(version);
}

constexpr std::uint64_t handled(int abi) {
    std::uint64_t rights = (1ULL << 13U) - 1;
    if (abi >= 2) { rights |= refer; }
    if (abi >= 3) { rights |= truncate; }
    if (abi >= 5) { rights |= ioctl_dev; }
    return rights;
}

constexpr std::uint64_t reading = execute | read_file | read_dir;
constexpr std::uint64_t writing =
    reading | write_file | remove_dir | remove_file | make_dir | make_reg | make_sock | make_fifo | make_sym | refer | truncate;
constexpr std::uint64_t of_files = execute | write_file | read_file | truncate | ioctl_dev;

}  // namespace landlock
