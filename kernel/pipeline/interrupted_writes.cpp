// SPDX-License-Identifier: Apache-2.0
#include "pipeline/interrupted_writes.hpp"

#include <system_error>

#include "base/files.hpp"
#include "git/stand_in.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

void sweep_interrupted_writes(const InterruptedWrites& places) {
    std::error_code error;
    sweep_abandoned_writes_in(places.agentforge);
    for (const auto& entry : fs::directory_iterator(places.agentforge, error)) {
        std::error_code unknown;
        if (entry.is_symlink(unknown) || !entry.is_directory(unknown)) { continue; }
        if (entry.path().filename() == "tasks") { sweep_abandoned_writes_in(entry.path()); } else { sweep_abandoned_writes(entry.path()); }
    }
    for (const fs::path& folder : places.user_folders) { sweep_abandoned_writes_in(folder); }
    GitStandIn::remove_abandoned(places.git_directory);
}

}  // namespace agentforge::kernel
