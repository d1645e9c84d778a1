// SPDX-License-Identifier: Apache-2.0
#include "aggregate/change_watch.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/ids.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

/// NFS, SMB (two), CIFS, FUSE, 9P, Ceph: writes by other machines cause no event on this one.
constexpr std::array<long, 7> network_file_systems{0x6969, 0xFE534D42, 0x517B, 0xFF534D42, 0x65735546, 0x01021997, 0x00C36400};

bool is_on_a_network(const fs::path& folder) {
    struct statfs info {};
    return ::statfs(folder.c_str(), &info) == 0 &&
           std::ranges::find(network_file_systems, static_cast<long>(info.f_type)) != network_file_systems.end();
}

}  // namespace

ChangeWatch::ChangeWatch(std::vector<fs::path> tasks, ExtraWatches also)
    : folders_(std::move(tasks)), also_(std::move(also)), events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    misses_events_ = !events_.valid();
    for (std::size_t folder = 0; folder < folders_.size(); ++folder) { watch_folder(folder); }
    watch_others();
}

void ChangeWatch::watch_others() {
    for (const fs::path& folder : also_.folders) {
        watch_other(folder);
        std::error_code error;
        for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
            std::error_code none;
            if (at->is_directory(none)) { watch_other(at->path()); }
        }
    }
}

void ChangeWatch::watch_other(const fs::path& folder) {
    const int watch = ::inotify_add_watch(
        events_.get(), folder.c_str(),
        IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_ONLYDIR);
    if (watch >= 0) { watched_[watch] = {folders_.size(), {}}; }
    if ((watch < 0 && errno != ENOENT) || is_on_a_network(folder)) { misses_events_ = true; }
}

void ChangeWatch::watch_folder(std::size_t folder) {
    const int watch = events_.valid()
                          ? ::inotify_add_watch(events_.get(), folders_[folder].c_str(),
                                                IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MOVE_SELF | IN_ONLYDIR)
                          : -1;
    if (watch < 0 || is_on_a_network(folders_[folder])) { misses_events_ = true; }
    if (watch < 0) { return; }
    watched_[watch] = {folder, {}};
    std::error_code error;
    for (fs::directory_iterator at(folders_[folder], error), end; !error && at != end; at.increment(error)) {
        std::error_code none;
        if (at->is_directory(none) && !at->is_symlink(none) && is_task_id(at->path().filename().string())) {
            watch_task(folder, at->path().filename().string());
        }
    }
}

void ChangeWatch::watch_task(std::size_t folder, const std::string& task) {
    // A link would replace the watch of the task that it points to.
    std::error_code error;
    if (fs::is_symlink(folders_[folder] / task, error)) { return; }
    const int watch = ::inotify_add_watch(events_.get(), (folders_[folder] / task / "actions.yaml").c_str(),
                                          IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW);
    if (watch >= 0) {
        watched_[watch] = {folder, task};
        if (also_.locks) { watch_lock(folder, task); }
        return;
    }
    // The task has no journal yet. Watches its folder for it.
    const int parent = ::inotify_add_watch(events_.get(), (folders_[folder] / task).c_str(),
                                           IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW);
    if (parent >= 0) { watched_[parent] = {folder, task}; }
    // If the task is gone or is not a folder, the watch of the parent folder reports its return.
    if (parent < 0 && errno != ENOENT && errno != ENOTDIR) { misses_events_ = true; }
}

void ChangeWatch::watch_lock(std::size_t folder, const std::string& task) {
    // The process writes its name into the lock, and the system closes it when the process ends. Looking for it writes nothing.
    const int watch = ::inotify_add_watch(events_.get(), (folders_[folder] / task / "lock").c_str(),
                                          IN_MODIFY | IN_CLOSE_WRITE | IN_DONT_FOLLOW);
    if (watch >= 0) { watched_[watch] = {folder, task}; }
}

void ChangeWatch::take_event(int watch, unsigned mask, const std::string& name, std::vector<Change>& changes) {
    if ((mask & IN_Q_OVERFLOW) != 0) {
        const std::size_t count = folders_.size() + (also_.folders.empty() ? 0 : 1);
        for (std::size_t folder = 0; folder < count; ++folder) { changes.push_back({folder, {}}); }
        return;
    }
    const auto found = watched_.find(watch);
    if (found == watched_.end()) { return; }
    const Change about = found->second;
    if ((mask & IN_IGNORED) != 0) { watched_.erase(found); }
    if (about.folder == folders_.size()) {
        if (!name.starts_with('.')) { changes.push_back(about); }
        return;
    }
    // Also reports entries that are not task folders, except dot files, which are AgentForge's own.
    if (about.task.empty() && !name.empty() && !name.starts_with('.')) {
        if (is_task_id(name) && (mask & (IN_CREATE | IN_MOVED_TO)) != 0) { watch_task(about.folder, name); }
        changes.push_back({about.folder, {}});
        return;
    }
    if (about.task.empty()) {
        if ((mask & (IN_IGNORED | IN_MOVE_SELF)) == 0) { return; }
        misses_events_ = true;  // The folder itself is gone; another one may come in its place.
        changes.push_back(about);
        return;
    }
    const bool gone = (mask & (IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)) !=
                      0;  // Deleting a file that is still open changes only its link count.
    if (name == "actions.yaml" || gone) { watch_task(about.folder, about.task); }
    if (also_.locks) { watch_lock(about.folder, about.task); }  // The first process makes the file.
    changes.push_back(about);
}

std::vector<ChangeWatch::Change> ChangeWatch::wait(std::chrono::milliseconds wait, int stop) {
    std::array<pollfd, 2> watched{pollfd{events_.get(), POLLIN, 0},
                                  pollfd{stop, POLLIN, 0}};  // poll(2) ignores a negative descriptor.
    std::vector<Change> changes;
    if (::poll(watched.data(), watched.size(), static_cast<int>(wait.count())) <= 0) { return changes; }
    alignas(inotify_event) std::array<char, 16384> buffer{};
    for (;;) {
        const ssize_t count = ::read(events_.get(), buffer.data(), buffer.size());
        if (count <= 0) { break; }
        for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
            inotify_event event{};
            std::memcpy(&event, buffer.data() + at, sizeof event);
            const std::string name = event.len == 0 ? std::string() : std::string(buffer.data() + at + sizeof event);
            take_event(event.wd, event.mask, name, changes);
            at += sizeof event + event.len;
        }
    }
    const auto order = [](const Change& one, const Change& other) {
        return std::tie(one.folder, one.task) < std::tie(other.folder, other.task);
    };
    const auto same = [](const Change& one, const Change& other) { return one.folder == other.folder && one.task == other.task; };
    std::ranges::sort(changes, order);
    const auto doubles = std::ranges::unique(changes, same);
    changes.erase(doubles.begin(), doubles.end());
    if (!changes.empty()) { watch_others(); }
    return changes;
}

}  // namespace agentforge::kernel
