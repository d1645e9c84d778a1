// SPDX-License-Identifier: Apache-2.0
#include "git/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace agentforge::kernel::git {

Error folder_error(int error, std::string_view doing, const std::filesystem::path& path) {
    return Error{"AF-GIT-030", "The task's worktree: could not " + std::string(doing) + ": " + errno_text(error), path.string(),
                 "Check for free disk space, and whether another user owns the folder", ErrorKind::io};
}

namespace {

/// Gives the owner `rights` on an entry that is not a link.
void grant(int parent, const char* name, mode_t rights) {
    const FileDescriptor entry(::openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat st {};
    if (!entry.valid() || ::fstat(entry.get(), &st) != 0 || S_ISLNK(st.st_mode) || (st.st_mode & rights) == rights) { return; }
    const std::string path = "/proc/self/fd/" + std::to_string(entry.get());
    (void)::chmod(path.c_str(), (st.st_mode & 07777U) | rights);
}

}  // namespace

FileDescriptor open_folder(int parent, const char* name) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    FileDescriptor folder(::openat(parent, name, flags));
    if (!folder.valid() && errno == EACCES) {
        grant(parent, name, S_IRWXU);
        folder = FileDescriptor(::openat(parent, name, flags));
    }
    if (folder.valid()) {
        struct stat st {};
        if (::fstat(folder.get(), &st) == 0 && (st.st_mode & S_IRWXU) != S_IRWXU) {
            (void)::fchmod(folder.get(), (st.st_mode & 07777U) | S_IRWXU);
        }
    }
    return folder;
}

FileDescriptor open_file(int parent, const char* name) {
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    FileDescriptor file(::openat(parent, name, flags));
    if (!file.valid() && errno == EACCES) {
        grant(parent, name, S_IRUSR);
        file = FileDescriptor(::openat(parent, name, flags));
    }
    return file;
}

Result<std::vector<std::string>> names_in(int folder, const std::filesystem::path& shown) {
    const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* stream = copy < 0 ? nullptr : ::fdopendir(copy);
    if (stream == nullptr) {
        const int error = errno;
        if (copy >= 0) { ::close(copy); }
        return folder_error(error, "list a folder", shown);
    }
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(stream)) {
        const std::string_view name(entry->d_name);
        if (name != "." && name != "..") { names.emplace_back(name); }
    }
    const int error = errno;
    ::closedir(stream);
    if (error != 0) { return folder_error(error, "list a folder", shown); }
    std::sort(names.begin(), names.end());
    return names;
}

Result<std::string> read_link(int parent, const char* name, const std::filesystem::path& shown) {
    std::string target(4096, '\0');
    const ssize_t length = ::readlinkat(parent, name, target.data(), target.size());
    if (length < 0) { return folder_error(errno, "read a link", shown); }
    target.resize(static_cast<std::size_t>(length));
    return target;
}

Result<void> Trash::open() {
    if (folder_.valid()) { return {}; }
    if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) { return folder_error(errno, "make a folder", path_); }
    folder_ = open_folder(AT_FDCWD, path_.c_str());
    if (!folder_.valid()) { return folder_error(errno, "open a folder", path_); }
    return {};
}

Result<void> Trash::move_in(int parent, const std::string& name) {
    AF_CHECK(open());
    grant(parent, name.c_str(), S_IRWXU);  // Moving a folder writes its `..`.
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
