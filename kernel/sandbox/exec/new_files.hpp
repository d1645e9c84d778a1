// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>

namespace agentforge::exec {

/// What each file or folder takes at least.
constexpr std::uint64_t bytes_of_a_name = 4096;

/// How much disk the files and folders below `path` take that were made or changed since `start`, of the clock
/// CLOCK_REALTIME_COARSE. No program without privileges can change that time of a file to an earlier one. Folders that their
/// owner closed are opened for the time of the look. Folders nested deeper than a program can want count as without end.
std::uint64_t bytes_below(const char* path, const timespec& start);

}  // namespace agentforge::exec
