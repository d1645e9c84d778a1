// SPDX-License-Identifier: Apache-2.0
// Finds out which tasks have changed, from file system events; `misses_events` says when the caller must poll.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files.hpp"

namespace agentforge::kernel {

/// What to watch besides the journals.
struct ExtraWatches {
    bool locks = false;  ///< The start and end of the tasks' processes.
    /// The files of these folders and of the folders in them, without dot files. A folder may appear later.
    std::vector<std::filesystem::path> folders = {};
};

/// Watches `tasks/` folders by inotify(7). `misses_events` is true if a folder is on a network file system (it reports no writes
/// by other machines), if a folder does not exist (any more), or if the user has no inotify watches left. The caller must then
/// poll everything from time to time. One thread at a time.
class ChangeWatch {
public:
    /// `tasks`: the folders. Events refer to them by their index.
    explicit ChangeWatch(std::vector<std::filesystem::path> tasks, ExtraWatches also = {});

    struct Change {
        std::size_t folder = 0;  ///< Index into `tasks`; `tasks.size()` means one of the other folders.
        std::string task;        ///< Empty: look at the whole folder.
    };
    /// Waits until something changes, `stop` is readable, or `wait` has passed. Returns each change once. `stop`: a descriptor,
    /// or -1 for none.
    [[nodiscard]] std::vector<Change> wait(std::chrono::milliseconds wait, int stop);
    [[nodiscard]] bool misses_events() const noexcept { return misses_events_; }

private:
    void watch_folder(std::size_t folder);
    void watch_task(std::size_t folder, const std::string& task);
    void watch_lock(std::size_t folder, const std::string& task);
    void watch_others();
    void watch_other(const std::filesystem::path& folder);
    void take_event(int watch, unsigned mask, const std::string& name, std::vector<Change>& changes);

    std::vector<std::filesystem::path> folders_;
    ExtraWatches also_;
    FileDescriptor events_;
    std::map<int, Change> watched_;
    bool misses_events_ = false;
};

}  // namespace agentforge::kernel
