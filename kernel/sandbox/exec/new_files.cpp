// SPDX-License-Identifier: Apache-2.0
#include "new_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>

namespace agentforge::exec {
namespace {

constexpr int deepest = 400;
constexpr std::uint64_t without_end = 1ULL << 62U;

bool is_new(const struct stat& about, const timespec& start) {
    return about.st_ctim.tv_sec > start.tv_sec ||
           (about.st_ctim.tv_sec == start.tv_sec && about.st_ctim.tv_nsec >= start.tv_nsec);
}

int open_folder(int above, const char* name, const struct stat& about) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const int folder = openat(above, name, flags);
    if (folder >= 0 || errno != EACCES || about.st_uid != geteuid() ||
        fchmodat(above, name, (about.st_mode & 07777U) | S_IRWXU, 0) != 0) {
        return folder;
    }
    const int opened = openat(above, name, flags);
    fchmodat(above, name, about.st_mode & 07777U, 0);
    return opened;
}

/// Closes `folder`.
std::uint64_t bytes_in(int folder, const timespec& start, int depth) {
    if (depth > deepest) {
        close(folder);
        return without_end;
    }
    DIR* const entries = fdopendir(folder);
    if (entries == nullptr) {
        close(folder);
        return 0;
    }
    std::uint64_t bytes = 0;
    while (const dirent* const item = readdir(entries)) {
        struct stat about {};
        const bool itself =
            item->d_name[0] == '.' && (item->d_name[1] == '\0' || (item->d_name[1] == '.' && item->d_name[2] == '\0'));
        if (itself || fstatat(folder, item->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) { continue; }
        if (is_new(about, start)) {
            bytes += std::max(static_cast<std::uint64_t>(about.st_blocks) * 512 / (S_ISDIR(about.st_mode) ? 1 : about.st_nlink),
                              bytes_of_a_name);
        }
        const int below = S_ISDIR(about.st_mode) ? open_folder(folder, item->d_name, about) : -1;
        if (below >= 0) { bytes += bytes_in(below, start, depth + 1); }
        if (bytes >= without_end) { break; }
    }
    closedir(entries);
    return bytes;
}

}  // namespace

std::uint64_t bytes_below(const char* path, const timespec& start) {
    struct stat about {};
    if (lstat(path, &about) != 0) { return 0; }
    const int folder = S_ISDIR(about.st_mode) ? open_folder(AT_FDCWD, path, about) : -1;
    if (folder >= 0) { return bytes_in(folder, start, 0); }
    return S_ISREG(about.st_mode) && is_new(about, start) ? static_cast<std::uint64_t>(about.st_blocks) * 512 : 0;
}

}  // namespace agentforge::exec
