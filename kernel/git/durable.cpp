// SPDX-License-Identifier: Apache-2.0
#include "git/durable.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <tuple>

#include "base/files.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

/// Identifies a folder and the last change of its names.
using Seen = std::tuple<dev_t, ino_t, time_t, long>;

/// Before Linux 6.13, two changes within one tick of the kernel's clock, at most 10 ms, give a folder the same time. So its time
/// identifies its names only once the last change is older than that.
bool is_settled(const struct stat& folder) {
    using namespace std::chrono;
    const system_clock::time_point changed(
        duration_cast<system_clock::duration>(seconds(folder.st_mtim.tv_sec) + nanoseconds(folder.st_mtim.tv_nsec)));
    return system_clock::now() - changed > milliseconds(100);
}

class SyncedFolders {
public:
    Result<void> sync(const fs::path& folder) {
        struct stat now {};
        if (::stat(folder.c_str(), &now) != 0) { return {}; }  // The folder does not exist.
        const Seen seen{now.st_dev, now.st_ino, now.st_mtim.tv_sec, now.st_mtim.tv_nsec};
        {
            const std::scoped_lock lock(mutex_);
            if (const auto found = folders_.find(folder.string()); found != folders_.end() && found->second == seen) {
                return {};
            }
        }
        AF_CHECK(sync_directory(folder));
        if (!is_settled(now)) { return {}; }
        const std::scoped_lock lock(mutex_);
        folders_[folder.string()] = seen;  // Its state before the sync: names added meanwhile are synced by the next call.
        return {};
    }

private:
    std::mutex mutex_;
    std::map<std::string, Seen> folders_;
};

SyncedFolders& synced_folders() {
    static SyncedFolders& folders = *new SyncedFolders();  // Never destroyed: other threads may outlive main.
    return folders;
}

}  // namespace

Result<void> sync_object_folders(git_repository* repository) {
    return synced_folders().sync(fs::path(git_repository_commondir(repository)) / "objects");
}

Result<void> sync_objects_since(git_repository* repository, std::chrono::system_clock::time_point since) {
    const time_t first = std::chrono::system_clock::to_time_t(since) - 1;  // The clock of files may be a tick behind.
    const auto is_new = [&](const fs::path& path) {
        struct stat status {};
        return ::stat(path.c_str(), &status) == 0 && std::max(status.st_mtim.tv_sec, status.st_ctim.tv_sec) >= first;
    };
    std::error_code error;
    for (const auto& folder : fs::directory_iterator(fs::path(git_repository_commondir(repository)) / "objects", error)) {
        std::error_code none;
        if (!folder.is_directory(none) || !is_new(folder.path())) { continue; }
        for (const auto& object : fs::directory_iterator(folder.path(), none)) {
            if (!is_new(object.path())) { continue; }
            const Result<void> synced = sync_file(object.path());
            if (!synced.ok() && fs::exists(object.path(), none)) { return synced; }  // Else `git gc` removed it.
        }
        AF_CHECK(sync_directory(folder.path()));
    }
    return sync_object_folders(repository);
}

Result<void> sync_ref_folders(git_repository* repository, const std::string& ref) {
    const fs::path top = git_repository_commondir(repository);
    for (const fs::path& below : {fs::path(ref), fs::path("logs") / ref}) {
        // libgit2 syncs the ref's own folder with the file. A folder's name is stored in the one above.
        for (fs::path folder = below.parent_path().parent_path(); !folder.empty(); folder = folder.parent_path()) {
            AF_CHECK(synced_folders().sync(top / folder));
        }
    }
    return {};
}

}  // namespace agentforge::kernel
