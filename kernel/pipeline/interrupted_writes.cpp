// SPDX-License-Identifier: Apache-2.0
#include "pipeline/interrupted_writes.hpp"

#include <chrono>
#include <system_error>
#include <vector>

#include "base/files.hpp"
#include "git/stand_in.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

/// libgit2 holds a lock for a moment and does not say whose it is. Only these programs write refs there.
void remove_old_locks(const fs::path& refs) {
    std::error_code error;
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::minutes(10);
    std::vector<fs::path> found;
    for (fs::recursive_directory_iterator at(refs, fs::directory_options::skip_permission_denied, error), end; !error && at != end; at.increment(error)) {
        std::error_code unknown;
        if (at->path().extension() == ".lock" && at->is_regular_file(unknown) && at->last_write_time(unknown) < long_ago && !unknown) { found.push_back(at->path()); }
    }
    for (const fs::path& lock : found) { fs::remove(lock, error); }
}

}  // namespace

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
    remove_old_locks(places.git_directory / "refs" / "agentforge");
}

}  // namespace agentforge::kernel
