// SPDX-License-Identifier: Apache-2.0
#include "tools/workspace/opened_file.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace agentforge::kernel {

FileDescriptor open_beneath(int directory, const std::string& path, std::uint64_t flags, mode_t mode) {
    open_how how{};
    how.flags = flags | O_CLOEXEC;
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    for (int attempt = 0;; ++attempt) {
        const auto descriptor = static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how));
        if (descriptor >= 0) { return FileDescriptor(descriptor); }
        if ((errno == EINTR || errno == EAGAIN) && attempt < 100) { continue; }
        return FileDescriptor();
    }
}

bool open_regular(int directory, const std::string& name, OpenFile& file) {
    file.descriptor = open_beneath(directory, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    return file.descriptor.valid() && ::fstat(file.descriptor.get(), &file.status) == 0 && S_ISREG(file.status.st_mode);
}

ParentAndName split_path(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) { return {".", path}; }
    return {path.substr(0, slash), path.substr(slash + 1)};
}

const char* special_kind(mode_t mode) noexcept {
    if (S_ISFIFO(mode)) { return "pipe"; }
    if (S_ISSOCK(mode)) { return "socket"; }
    if (S_ISCHR(mode) || S_ISBLK(mode)) { return "device"; }
    return "special file";
}

std::string link_target(int directory, const std::string& name) {
    std::array<char, 512> buffer{};
    const auto size = ::readlinkat(directory, name.c_str(), buffer.data(), buffer.size());
    return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string();
}

bool same_file(const struct stat& a, const struct stat& b) noexcept {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
           a.st_mtim.tv_nsec == b.st_mtim.tv_nsec && a.st_ctim.tv_sec == b.st_ctim.tv_sec &&
           a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

bool looks_binary(std::string_view bytes) noexcept { return bytes.substr(0, 8192).find('\0') != std::string_view::npos; }

int rename_new(int from_directory, const std::string& from, int to_directory, const std::string& to) {
    if (::renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0) { return 0; }
    if (errno != EINVAL && errno != ENOSYS) { return errno; }
    // The file system lacks RENAME_NOREPLACE. A hard link also fails if the target exists.
    if (::linkat(from_directory, from.c_str(), to_directory, to.c_str(), 0) != 0) { return errno; }
    return ::unlinkat(from_directory, from.c_str(), 0) == 0 ? 0 : errno;
}

}  // namespace agentforge::kernel
