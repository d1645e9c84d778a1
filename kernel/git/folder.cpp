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

void grant_owner(int parent, const char* name, mode_t rights) {
    const FileDescriptor entry(::openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat st {};
    if (!entry.valid() || ::fstat(entry.get(), &st) != 0 || S_ISLNK(st.st_mode) || (st.st_mode & rights) == rights) { return; }
    const std::string path = "/proc/self/fd/" + std::to_string(entry.get());
    (void)::chmod(path.c_str(), (st.st_mode & 07777U) | rights);
}

FileDescriptor open_folder(int parent, const char* name) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    FileDescriptor folder(::openat(parent, name, flags));
    if (!folder.valid() && errno == EACCES) {
        grant_owner(parent, name, S_IRWXU);
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
        grant_owner(parent, name, S_IRUSR);
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

}  // namespace agentforge::kernel::git
