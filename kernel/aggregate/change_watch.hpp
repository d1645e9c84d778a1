// SPDX-License-Identifier: Apache-2.0
// Which tasks have changed: from the file system's events, and by looking where there are none (North Star 11.5, "Real-Time
// Updates").
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files.hpp"

namespace agentforge::kernel {

/// Watches `tasks/` folders by inotify(7). A network file system tells nothing of what other machines write, a folder may not be
/// there yet, and a user's watches may be used up: then `misses_events` is true, and the caller looks at everything from time to
/// time. One thread at a time.
class ChangeWatch {
public:
    /// `tasks`: the folders, in the order of the numbers that events name them by.
    explicit ChangeWatch(std::vector<std::filesystem::path> tasks);

    struct Change {
        std::size_t folder = 0;
        std::string task;
    };  ///< `task` empty: look at the whole folder.
    /// Waits for a change, `wait` at the most, or until `stop` is readable. What changed, each once. `stop`: a descriptor, -1:
    /// none.
    [[nodiscard]] std::vector<Change> wait(std::chrono::milliseconds wait, int stop);
    [[nodiscard]] bool misses_events() const noexcept { return misses_events_; }

private:
    void watch_folder(std::size_t folder);
    void watch_task(std::size_t folder, const std::string& task);
    void take_event(int watch, unsigned mask, const std::string& name, std::vector<Change>& changes);

    std::vector<std::filesystem::path> folders_;
    FileDescriptor events_;
    std::map<int, Change> watched_;
    bool misses_events_ = false;
};

}  // namespace agentforge::kernel
