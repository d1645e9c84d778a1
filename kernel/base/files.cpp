// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <re2/re2.h>

namespace agentforge::kernel {

namespace fs = std::filesystem;

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
        reset();
        descriptor_ = other.release();
    }
    return *this;
}

FileDescriptor::~FileDescriptor() { reset(); }

int FileDescriptor::release() noexcept {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    return descriptor;
}

void FileDescriptor::reset() noexcept {
    // Linux frees the descriptor even if close returns EINTR.
    if (descriptor_ >= 0) { ::close(release()); }
}

std::string errno_text(int error) { return std::error_code(error, std::generic_category()).message(); }

namespace {

std::string remedy_for(int error) {
    switch (error) {
        case EACCES:
        case EPERM:
            return "Check the permissions of the file and of the folders above it.";
        case EROFS:
            return "The file system is read-only; choose another place or remount it.";
        case ENOSPC:
        case EDQUOT:
            return "Free some space, then try again.";
        case EFBIG:
            return "Raise the limit on the size of files (ulimit -f).";
        case ENOENT:
        case ENOTDIR:
            return "Make the folder first, or correct the path.";
        case EISDIR:
            return "Name a file; this is a folder.";
        case EMFILE:
        case ENFILE:
            return "Too many files are open; raise the limit (ulimit -n).";
        default:
            return "Check the path and the file system.";
    }
}

Error failure(const char* code, const std::string& what, const fs::path& path, int error) {
    return Error{code, what + ": " + errno_text(error), path.string(), remedy_for(error), ErrorKind::io};
}

FileDescriptor open_retrying(const fs::path& path, int flags, unsigned mode = 0) {
    int descriptor = -1;
    do { descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode); } while (descriptor < 0 && errno == EINTR);
    return FileDescriptor(descriptor);
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

constexpr std::string_view unfinished_prefix = ".agentforge-new-";

/// Removes files that killed processes left unfinished in this folder, at the first synced write to it.
void sweep_once(const fs::path& folder) {
    static std::mutex& mutex = *new std::mutex();
    static std::set<std::string>& swept = *new std::set<std::string>();  // Never destroyed: other threads may outlive main.
    {
        const std::scoped_lock lock(mutex);
        if (!swept.insert(folder.string()).second) { return; }
    }
    sweep_abandoned_writes_in(folder);
}

/// Writes `bytes` to a new file next to `path` and returns its name. Leaves nothing behind on failure.
Result<fs::path> write_sibling(const fs::path& path, std::string_view bytes, Durability durability, unsigned mode) {
    if (durability == Durability::synced) { sweep_once(folder_of(path)); }
    FileDescriptor file;
    fs::path temporary;
    for (int attempt = 0; attempt < 100; ++attempt) {
        temporary = unfinished_name(path);
        file = open_retrying(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
        if (file.valid() || errno != EEXIST) { break; }
    }
    if (!file.valid()) { return failure("AF-BASE-013", "Cannot create the file", path, errno); }
    Result<void> written = write_all(file.get(), bytes, path);
    if (written.ok() && durability == Durability::synced && ::fsync(file.get()) != 0) {
        written = failure("AF-BASE-013", "Cannot sync the file to disk", path, errno);
    }
    if (written.ok() && ::close(file.release()) != 0 && errno != EINTR) {
        written = failure("AF-BASE-013", "Cannot close the file", path, errno);
    }
    if (!written.ok()) {
        ::unlink(temporary.c_str());
        return std::move(written).error();
    }
    return temporary;
}

}  // namespace

Result<std::string> read_file(const fs::path& path, std::uint64_t max_bytes) {
    // O_NONBLOCK: a FIFO without a writer must not block the program.
    FileDescriptor file = open_retrying(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!file.valid()) {
        const int error = errno;
        if (error == ENOENT || error == ENOTDIR) {
            return Error{"AF-BASE-010", "The file does not exist", path.string(), "Check the path.", ErrorKind::not_found};
        }
        return failure("AF-BASE-011", "Cannot open the file", path, error);
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) { return failure("AF-BASE-011", "Cannot read the file", path, errno); }
    if (S_ISDIR(status.st_mode)) { return failure("AF-BASE-011", "Cannot read the file", path, EISDIR); }
    if (!S_ISREG(status.st_mode)) {
        return Error{"AF-BASE-011", "This is not a regular file", path.string(),
                     "Name a regular file, not a pipe, socket or device.", ErrorKind::io};
    }
    const auto too_large = [&] {
        return Error{"AF-BASE-012", "The file is larger than the " + std::to_string(max_bytes) + " bytes allowed here",
                     path.string(), "Make it smaller or split it.", ErrorKind::invalid};
    };
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > max_bytes) { return too_large(); }
    std::string bytes;
    bytes.resize(size + 1);  // One byte more, to see the end of the file without growing the buffer.
    std::size_t length = 0;
    for (;;) {
        if (length == bytes.size()) { bytes.resize(bytes.size() + 65'536); }
        const ssize_t count = ::read(file.get(), bytes.data() + length, bytes.size() - length);
        if (count < 0) {
            if (errno == EINTR) { continue; }
            return failure("AF-BASE-011", "Cannot read the file", path, errno);
        }
        if (count == 0) { break; }
        length += static_cast<std::size_t>(count);
        if (length > max_bytes) { return too_large(); }
    }
    bytes.resize(length);
    return bytes;
}

Result<void> write_all(int descriptor, std::string_view bytes, const fs::path& name) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
        if (count < 0) {
            if (errno == EINTR) { continue; }
            return failure("AF-BASE-013", "Cannot write the file", name, errno);
        }
        if (count == 0) { return failure("AF-BASE-013", "Cannot write the file", name, EIO); }
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

namespace {

/// Swaps the new file with the old one. For readers this is as atomic as rename(2). But after a rename ext4 starts to write the
/// new bytes to disk (auto_da_alloc), which costs a millisecond and which a projection does not need. Returns false if a swap is
/// not possible: no such file yet, not a regular file, or a file system without swaps.
bool swapped_in(const fs::path& temporary, const fs::path& path) {
    struct stat old {};
    if (::lstat(path.c_str(), &old) != 0 || !S_ISREG(old.st_mode)) { return false; }
    if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0) { return false; }
    ::unlink(temporary.c_str());
    return true;
}

}  // namespace

Result<void> write_file_atomic(const fs::path& path, std::string_view bytes, Durability durability, unsigned mode) {
    AF_TRY(const fs::path temporary, write_sibling(path, bytes, durability, mode));
    if (durability == Durability::cached && swapped_in(temporary, path)) { return {}; }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        const int error = errno;
        ::unlink(temporary.c_str());
        return failure("AF-BASE-013", "Cannot replace the file", path, error);
    }
    if (durability == Durability::synced) { AF_CHECK(sync_directory(folder_of(path))); }
    return {};
}

Result<void> replace_users_file(const fs::path& path, std::string_view bytes) {
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) {
        const FileDescriptor special = open_retrying(path, O_WRONLY | O_NOCTTY);
        if (!special.valid()) { return failure("AF-BASE-013", "Cannot open the file", path, errno); }
        return write_all(special.get(), bytes, path);
    }
    std::error_code error;
    const fs::path target = fs::canonical(path, error);
    const unsigned mode = exists ? status.st_mode & 07777U : 0644U;
    AF_CHECK(write_file_atomic(error ? path : target, bytes, Durability::synced, mode));
    // The umask may have removed permissions. If this fails, the file has fewer permissions, never more.
    if (exists && !error) { ::chmod(target.c_str(), mode); }
    return {};
}

Result<void> create_file_exclusive(const fs::path& path, std::string_view bytes, Durability durability, unsigned mode) {
    AF_TRY(const fs::path temporary, write_sibling(path, bytes, durability, mode));
    // The complete file appears under its name at once, and only if no file has that name.
    int error = 0;
    if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
        error = errno;
        if (error == EINVAL || error == ENOSYS) {  // The file system lacks RENAME_NOREPLACE.
            error = ::link(temporary.c_str(), path.c_str()) == 0 ? 0 : errno;
        }
        ::unlink(temporary.c_str());
    }
    if (error == EEXIST) {
        return Error{"AF-BASE-014", "The file already exists", path.string(),
                     "Another process created it first; read that file, or choose another name.", ErrorKind::conflict};
    }
    if (error != 0) { return failure("AF-BASE-013", "Cannot create the file", path, error); }
    if (durability == Durability::synced) { AF_CHECK(sync_directory(folder_of(path))); }
    return {};
}

fs::path unfinished_name(const fs::path& path) {
    static std::atomic<unsigned> counter{0};
    // Not derived from the target's name, which may already have the maximum length.
    return folder_of(path) /
           (std::string(unfinished_prefix) + std::to_string(::getpid()) + "-" + std::to_string(counter.fetch_add(1)));
}

bool is_unfinished(const fs::path& path) {
    static const RE2 name(std::string(unfinished_prefix) + "[0-9]+-[0-9]+");
    return std::ranges::any_of(path, [](const fs::path& part) { return RE2::FullMatch(part.string(), name); });
}

bool is_abandoned(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix)) { return false; }
    name.remove_prefix(prefix.size());
    pid_t process = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (failed != std::errc{} || end == name.data() + name.size() || *end != '-' || process <= 0) { return false; }
    return ::kill(process, 0) != 0 && errno == ESRCH;
}

void sweep_abandoned_writes_in(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> found;
    for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end; !error && at != end;
         at.increment(error)) {
        if (is_abandoned(at->path().filename().string(), unfinished_prefix)) { found.push_back(at->path()); }
    }
    for (const fs::path& each : found) { fs::remove_all(each, error); }
}

void sweep_abandoned_writes(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> found;
    for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
         !error && at != end; at.increment(error)) {
        if (is_abandoned(at->path().filename().string(), unfinished_prefix)) { found.push_back(at->path()); }
    }
    for (const fs::path& each : found) { fs::remove_all(each, error); }
}

namespace {

/// Folders that this process created whose names are perhaps not on disk yet. Shared by all threads.
class NewFolders {
public:
    void add(const fs::path& folder) {
        const std::scoped_lock lock(mutex_);
        folders_.insert(folder.string());
    }
    bool contains(const fs::path& folder) {
        const std::scoped_lock lock(mutex_);
        return folders_.contains(folder.string());
    }
    void remove(const fs::path& folder) {
        const std::scoped_lock lock(mutex_);
        folders_.erase(folder.string());
    }

private:
    std::mutex mutex_;
    std::set<std::string> folders_;
};

NewFolders& new_folders() {
    static NewFolders& folders = *new NewFolders();  // Never destroyed: other threads may outlive main.
    return folders;
}

Result<void> sync_one_directory(const fs::path& path) {
    FileDescriptor folder = open_retrying(path, O_RDONLY | O_DIRECTORY);
    if (!folder.valid()) { return failure("AF-BASE-016", "Cannot open the folder to sync it to disk", path, errno); }
    // EINVAL: the file system does not sync folders.
    if (::fsync(folder.get()) != 0 && errno != EINVAL) {
        return failure("AF-BASE-016", "Cannot sync the folder to disk", path, errno);
    }
    return {};
}

/// `path` without a trailing slash, so that it has a file name and a parent.
fs::path plain(const fs::path& path) {
    fs::path normal = path.lexically_normal();
    return normal.has_filename() || !normal.has_relative_path() ? normal : normal.parent_path();
}

}  // namespace

Result<void> sync_file(const fs::path& path) {
    const FileDescriptor file = open_retrying(path, O_RDONLY | O_NOFOLLOW);
    if (!file.valid()) {
        return errno == ELOOP ? Result<void>() : failure("AF-BASE-013", "Cannot open the file to sync it to disk", path, errno);
    }
    if (::fsync(file.get()) != 0) { return failure("AF-BASE-013", "Cannot sync the file to disk", path, errno); }
    return {};
}

Result<void> make_directories(const fs::path& path) {
    std::error_code error;
    std::vector<fs::path> missing;
    for (fs::path at = plain(path); !at.empty() && !fs::exists(fs::status(at, error)); at = at.parent_path()) {
        missing.push_back(at);
        if (!at.has_relative_path()) { break; }
    }
    error.clear();
    fs::create_directories(path, error);
    if (!error && !fs::is_directory(path, error) && !error) { error = std::make_error_code(std::errc::not_a_directory); }
    for (const fs::path& folder : missing) { new_folders().add(folder); }
    if (error) { return failure("AF-BASE-015", "Cannot create the folder", path, error.value()); }
    return {};
}

Result<void> sync_directory(const fs::path& path) {
    AF_CHECK(sync_one_directory(path.empty() ? fs::path(".") : path));
    for (fs::path at = plain(path); new_folders().contains(at); at = at.parent_path()) {
        AF_CHECK(sync_one_directory(folder_of(at)));
        new_folders().remove(at);
    }
    return {};
}

namespace {

fs::path folder_for_temporaries() {
    const char* base = std::getenv("TMPDIR");
    return base != nullptr && *base != '\0' ? base : "/tmp";
}

/// True for `agentforge-<prefix>-p<pid>-XXXXXX`. Other programs, and earlier versions, leave the process out.
bool is_temporary(std::string_view name) {
    constexpr std::size_t random_letters = 6;
    if (!name.starts_with("agentforge-") || name.starts_with("agentforge-edit-") || name.size() < random_letters + 2) {
        return false;
    }
    name.remove_suffix(random_letters);
    if (name.back() != '-') { return false; }
    name.remove_suffix(1);
    const std::string_view process = name.substr(name.rfind('-') + 1);
    return process.size() > 1 && process.front() == 'p' && process.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

void remove_whole(const fs::path& folder) {
    std::error_code error;
    fs::remove_all(folder, error);
    if (!error) { return; }
    // For folders without write permission: adds it, then tries once more.
    error.clear();
    for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
         !error && it != end; it.increment(error)) {
        std::error_code ignored;
        if (!it->is_symlink(ignored) && it->is_directory(ignored)) {
            fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
        }
    }
    fs::remove_all(folder, error);
}

}  // namespace

FileDescriptor lock_folder(const fs::path& folder) {
    FileDescriptor opened = open_retrying(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    struct stat held {};
    struct stat named {};
    if (!opened.valid() || ::flock(opened.get(), LOCK_EX | LOCK_NB) != 0 || ::fstat(opened.get(), &held) != 0 ||
        ::lstat(folder.c_str(), &named) != 0 || held.st_ino != named.st_ino || held.st_dev != named.st_dev ||
        held.st_uid != ::geteuid()) {
        return {};
    }
    return opened;
}

Result<std::unique_ptr<TemporaryDirectory>> TemporaryDirectory::make(std::string_view prefix) {
    const std::string pattern =
        (folder_for_temporaries() / ("agentforge-" + std::string(prefix) + "-p" + std::to_string(::getpid()) + "-XXXXXX"))
            .string();
    std::unique_ptr<TemporaryDirectory> made(new TemporaryDirectory());
    for (int attempt = 0; attempt < 8; ++attempt) {
        std::string name = pattern;
        if (::mkdtemp(name.data()) == nullptr) { break; }
        made->lock_ = lock_folder(name);
        if (made->lock_.valid()) {
            made->path_ = name;
            return made;
        }
        const int error = errno;  // Or `remove_abandoned` of another process was faster.
        ::rmdir(name.c_str());
        errno = error;
    }
    return Error{"AF-BASE-015", "Cannot create a temporary folder: " + errno_text(errno), pattern,
                 "Set TMPDIR to a writable folder with free space.", ErrorKind::io};
}

void TemporaryDirectory::remove_abandoned(const std::function<void(const fs::path& folder)>& before) {
    std::error_code error;
    std::vector<fs::path> found;
    for (fs::directory_iterator at(folder_for_temporaries(), fs::directory_options::skip_permission_denied, error), end;
         !error && at != end; at.increment(error)) {
        if (is_temporary(at->path().filename().string())) { found.push_back(at->path()); }
    }
    for (const fs::path& folder : found) {
        const FileDescriptor lock = lock_folder(folder);
        if (!lock.valid()) { continue; }
        if (before) { before(folder); }
        remove_whole(folder);
    }
}

TemporaryDirectory::TemporaryDirectory(std::string_view prefix) {
    auto made = make(prefix);
    if (!made.ok()) {
        std::fprintf(stderr, "agentforge: %s\n", made.error().to_string().c_str());
        std::abort();
    }
    path_ = std::exchange((*made)->path_, {});
    lock_ = std::move((*made)->lock_);
}

TemporaryDirectory::~TemporaryDirectory() {
    if (!path_.empty()) { remove_whole(path_); }
}

}  // namespace agentforge::kernel
