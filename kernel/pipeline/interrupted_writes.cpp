// SPDX-License-Identifier: Apache-2.0
#include "pipeline/interrupted_writes.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/files.hpp"
#include "gates/run/language_commands.hpp"
#include "git/git_stand_in.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

bool is_old_file(const fs::path& path) {
    std::error_code error;
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::minutes(10);
    return fs::is_regular_file(path, error) && fs::last_write_time(path, error) < long_ago && !error;
}

/// libgit2 holds a lock only briefly and does not record its owner. Only this program writes refs there.
void remove_old_locks(const fs::path& refs) {
    std::error_code error;
    std::vector<fs::path> found;
    for (fs::recursive_directory_iterator at(refs / "agentforge", fs::directory_options::skip_permission_denied, error), end;
         !error && at != end; at.increment(error)) {
        if (at->path().extension() == ".lock" && is_old_file(at->path())) { found.push_back(at->path()); }
    }
    if (const fs::path notes = refs / "notes" / "agentforge.lock"; is_old_file(notes)) { found.push_back(notes); }
    for (const fs::path& lock : found) { fs::remove(lock, error); }
}

/// Removes git's records of unfinished worktrees: `agentforge-<name>-<pid>`, until they move into `worktrees`.
void remove_unnamed_records(const fs::path& git_directory) {
    std::error_code error;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(git_directory, error)) {
        const std::string name = entry.path().filename().string();
        const std::size_t dash = name.rfind('-');
        if (!name.starts_with("agentforge-") || dash < std::string_view("agentforge-").size()) { continue; }
        if (is_abandoned(name.substr(dash + 1) + "-", "")) { found.push_back(entry.path()); }
    }
    for (const fs::path& record : found) { fs::remove_all(record, error); }
}

/// libgit2 writes a pack under its own temporary name first. `git gc` removes only what git itself left.
void remove_unfinished_packs(const fs::path& packs) {
    std::error_code error;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(packs, error)) {
        if (entry.path().filename().string().starts_with("pack_git2_") && is_old_file(entry.path())) {
            found.push_back(entry.path());
        }
    }
    for (const fs::path& pack : found) { fs::remove(pack, error); }
}

}  // namespace

void sweep_interrupted_writes(const InterruptedWrites& places) {
    sweep_abandoned_writes(places.agentforge);
    TaskStore(places.agentforge).remove_abandoned();
    for (const fs::path& folder : places.user_folders) { sweep_abandoned_writes_in(folder); }
    TemporaryDirectory::remove_abandoned(remove_plain_runs);
    GitStandIn::remove_abandoned(places.git_directory);
    remove_unnamed_records(places.git_directory);
    remove_old_locks(places.git_directory / "refs");
    remove_unfinished_packs(places.git_directory / "objects" / "pack");
}

}  // namespace agentforge::kernel
