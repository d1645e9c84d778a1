// SPDX-License-Identifier: Apache-2.0
#include "base/plain_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

/// An open file, or the kind of object in its place, or neither if nothing exists there.
struct Found {
    FileDescriptor file;
    std::optional<std::string> instead;
    int error = 0;
};

Found open_plain(const fs::path& folder, const fs::path& name) {
    FileDescriptor at(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!at.valid()) {
        return {
            {}, errno == ELOOP || errno == ENOTDIR ? std::optional<std::string>("below a symbolic link") : std::nullopt, errno};
    }
    for (const fs::path& part : name.parent_path()) {
        struct stat st {};
        if (::fstatat(at.get(), part.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) { return {{}, std::nullopt, errno}; }
        if (!S_ISDIR(st.st_mode)) {
            return {{}, "below " + std::string(file_kind(st.st_mode)) + " (" + part.string() + ")", ENOTDIR};
        }
        FileDescriptor next(::openat(at.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!next.valid()) { return {{}, std::nullopt, errno}; }
        at = std::move(next);
    }
    struct stat st {};
    if (::fstatat(at.get(), name.filename().c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) { return {{}, std::nullopt, errno}; }
    if (!S_ISREG(st.st_mode)) { return {{}, std::string(file_kind(st.st_mode)), EINVAL}; }
    FileDescriptor file(::openat(at.get(), name.filename().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.valid()) { return {{}, std::nullopt, errno}; }
    // Checks the opened object itself: the name may now refer to another.
    if (::fstat(file.get(), &st) != 0 || !S_ISREG(st.st_mode)) { return {{}, std::string(file_kind(st.st_mode)), EINVAL}; }
    if (st.st_nlink > 1) { return {{}, "a file with hard links", EINVAL}; }
    return {std::move(file), std::nullopt, 0};
}

}  // namespace

std::string_view file_kind(mode_t mode) noexcept {
    if (S_ISLNK(mode)) { return "a symbolic link"; }
    if (S_ISDIR(mode)) { return "a folder"; }
    if (S_ISREG(mode)) { return "a file"; }
    if (S_ISFIFO(mode)) { return "a pipe"; }
    if (S_ISSOCK(mode)) { return "a socket"; }
    return "a device";
}

std::optional<std::string> irregular_kind(const fs::path& folder, const fs::path& name) {
    return open_plain(folder, name).instead;
}

Result<std::string> read_plain_file(const fs::path& folder, const fs::path& name, std::uint64_t max_bytes) {
    const Found found = open_plain(folder, name);
    const std::string shown = (folder / name).string();
    if (found.instead) {
        return Error{"AF-BASE-037", "The file is " + *found.instead + ", which AgentForge does not follow", shown,
                     "Put a regular file there, or remove it.", ErrorKind::conflict};
    }
    if (!found.file.valid()) {
        if (found.error == ENOENT) {
            return Error{"AF-BASE-010", "The file does not exist", shown, "Check the path.", ErrorKind::not_found};
        }
        return Error{"AF-BASE-011", "Cannot open the file: " + errno_text(found.error), shown, "Check the permissions.",
                     ErrorKind::io};
    }
    // Reads through the descriptor: the name may now refer to another file.
    auto text = read_file("/proc/self/fd/" + std::to_string(found.file.get()), max_bytes);
    if (!text.ok()) {
        Error error = text.error();
        error.where = shown;
        return error;
    }
    return text;
}

}  // namespace agentforge::kernel
