// SPDX-License-Identifier: Apache-2.0
// Removes temporary files and folders of processes that were killed while writing. The next writer in a folder also removes the
// files there; `agentforge gc` removes all.
#pragma once

#include <filesystem>
#include <vector>

namespace agentforge::kernel {

struct InterruptedWrites {
    std::filesystem::path agentforge;  ///< The project's `.agentforge`, including subfolders.
    std::filesystem::path git_directory;
    std::vector<std::filesystem::path> user_folders;  ///< Without subfolders.
};

/// Keeps files of processes that are alive. Ignores files that cannot be removed. Safe in any process at any time.
void sweep_interrupted_writes(const InterruptedWrites& places);

}  // namespace agentforge::kernel
