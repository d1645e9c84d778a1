// SPDX-License-Identifier: Apache-2.0
// Measures what a confined program has written to disk, to enforce its limit.
#pragma once

#include <cstdint>
#include <ctime>

namespace agentforge::exec {

/// Minimum size of each file or folder.
constexpr std::uint64_t bytes_of_a_name = 4096;

/// Returns the disk space of the files and folders below `path` that were created or changed since `start` (clock
/// CLOCK_REALTIME_COARSE). An unprivileged program cannot set that time of a file back. Folders that their owner closed are
/// opened meanwhile. Folders nested deeper than any program needs count as infinite.
std::uint64_t bytes_below(const char* path, const timespec& start);

}  // namespace agentforge::exec
