// SPDX-License-Identifier: Apache-2.0
// Temporary files of processes that were killed while they wrote. Whoever writes in the same folder next removes them;
// `agentforge gc` removes all.
#pragma once

#include <filesystem>
#include <vector>

namespace agentforge::kernel {

struct InterruptedWrites {
    std::filesystem::path agentforge;  ///< The project's `.agentforge`, with all in it.
    std::filesystem::path git_directory;
    std::vector<std::filesystem::path> user_folders;  ///< Each without the folders in it.
};

/// What belongs to a process that lives stays; what cannot be removed stays for the next time. Any process, at any time.
void sweep_interrupted_writes(const InterruptedWrites& places);

}  // namespace agentforge::kernel
