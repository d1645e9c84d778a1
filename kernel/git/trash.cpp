// SPDX-License-Identifier: Apache-2.0
#include "git/trash.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include "git/folder.hpp"

namespace agentforge::kernel::git {

Result<void> Trash::open() {
    if (folder_.valid()) { return {}; }
    if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) { return folder_error(errno, "create a folder", path_); }
    folder_ = open_folder(AT_FDCWD, path_.c_str());
    if (!folder_.valid()) { return folder_error(errno, "open a folder", path_); }
    return {};
}

Result<void> Trash::move_in(int parent, const std::string& name) {
    AF_CHECK(open());
    grant_owner(parent, name.c_str(), S_IRWXU);  // Moving a folder writes its `..`.
    while (::renameat(parent, name.c_str(), folder_.get(), std::to_string(next_++).c_str()) != 0) {
        if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) { return folder_error(errno, "move a folder away", name); }
    }
    return {};
}

Result<void> Trash::remove(int parent, const std::string& name) {
    if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) { return {}; }
    if (errno != EISDIR && errno != EPERM) { return folder_error(errno, "remove a file", name); }
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) { return {}; }
    if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES) { return folder_error(errno, "remove a folder", name); }
    return move_in(parent, name);
}

Result<void> Trash::sync() const { return folder_.valid() ? sync_directory(path_) : Result<void>(); }

Result<void> Trash::empty() {
    struct stat st {};
    if (!folder_.valid() && ::lstat(path_.c_str(), &st) != 0) { return {}; }
    AF_CHECK(open());
    while (true) {
        AF_TRY(const std::vector<std::string> names, names_in(folder_.get(), path_));
        if (names.empty()) { break; }
        for (const std::string& name : names) {
            const FileDescriptor folder = open_folder(folder_.get(), name.c_str());
            if (folder.valid()) {
                AF_TRY(const std::vector<std::string> children, names_in(folder.get(), path_ / name));
                for (const std::string& child : children) { AF_CHECK(remove(folder.get(), child)); }
                if (::unlinkat(folder_.get(), name.c_str(), AT_REMOVEDIR) != 0) {
                    return folder_error(errno, "remove a folder", path_ / name);
                }
            } else if (::unlinkat(folder_.get(), name.c_str(), 0) != 0) {
                return folder_error(errno, "remove a file", path_ / name);
            }
        }
    }
    folder_.reset();
    if (::rmdir(path_.c_str()) != 0 && errno != ENOENT) { return folder_error(errno, "remove a folder", path_); }
    return {};
}

}  // namespace agentforge::kernel::git
