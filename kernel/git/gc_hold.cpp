// SPDX-License-Identifier: Apache-2.0
#include "git/gc_hold.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>

#include "base/files.hpp"

namespace agentforge::kernel {

namespace {

/// At this age git ignores the file, so it is renewed well before.
constexpr std::time_t ignored_by_git_after_seconds = 12 * 3600;
constexpr std::time_t renewed_after_seconds = 3600;
/// A younger lock file may belong to git on another machine.
constexpr std::time_t lock_is_dead_after_seconds = 5;
constexpr auto longest_wait = std::chrono::minutes(1);
constexpr auto poll_interval = std::chrono::milliseconds(20);

std::string own_host() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "unknown";
}

/// True if a process has the file open. Git keeps its lock file open as long as it holds the lock. Processes of other users are
/// invisible.
bool is_open_somewhere(const struct stat& file) {
    std::error_code error;
    for (std::filesystem::directory_iterator process("/proc", error), end; !error && process != end; process.increment(error)) {
        const std::string name = process->path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) { continue; }
        std::error_code hidden;
        for (std::filesystem::directory_iterator open_file(process->path() / "fd", hidden), none; !hidden && open_file != none;
             open_file.increment(hidden)) {
            struct stat found {};
            if (::stat(open_file->path().c_str(), &found) == 0 && found.st_dev == file.st_dev && found.st_ino == file.st_ino) {
                return true;
            }
        }
    }
    return static_cast<bool>(error);
}

/// Returns a name that no other process or thread uses. `git prune` removes such a file after a kill.
std::filesystem::path temporary_beside(const std::filesystem::path& pid_file) {
    static std::atomic<unsigned> number{0};
    return pid_file.parent_path() / "objects" / ("tmp_gc_pid_" + std::to_string(::getpid()) + "_" + std::to_string(number++));
}

/// Removes the lock file of a dead process. Git holds its lock for milliseconds and keeps the file open meanwhile. Returns false
/// if there is none, or if it may be in use.
bool clear_dead_lock(const std::filesystem::path& lock, const std::filesystem::path& moved_to) {
    struct stat found {};
    if (::lstat(lock.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) { return false; }
    if (::time(nullptr) - found.st_mtime < lock_is_dead_after_seconds || is_open_somewhere(found)) { return false; }
    // Renames the file, checks it again, and puts it back if it was replaced meanwhile.
    if (::rename(lock.c_str(), moved_to.c_str()) != 0) { return false; }
    struct stat moved {};
    const bool is_it = ::lstat(moved_to.c_str(), &moved) == 0 && moved.st_ino == found.st_ino && moved.st_mtime == found.st_mtime;
    if (!is_it) { static_cast<void>(::link(moved_to.c_str(), lock.c_str())); }
    ::unlink(moved_to.c_str());
    return is_it;
}

bool is_there(const std::filesystem::path& file) {
    struct stat found {};
    return ::lstat(file.c_str(), &found) == 0;
}

}  // namespace

GcHold::GcHold(std::filesystem::path git_directory) : file_(std::move(git_directory) / "gc.pid") {
    const std::filesystem::path lock = file_.string() + ".lock";
    const auto until = std::chrono::steady_clock::now() + longest_wait;
    while (std::chrono::steady_clock::now() < until) {
        static_cast<void>(clear_dead_lock(lock, temporary_beside(file_)));
        const Holder holds = holder(file_);
        if (holds == Holder::another) {
            // If another agentforge holds it, this repository is already protected. Waits only for a gc, which removes its lock
            // file when it ends.
            std::array<char, 4096> path{};
            const auto text = read_file(file_, 4096);
            const std::string link = "/proc/" + (text.ok() ? text->substr(0, text->find(' ')) : std::string("0")) + "/exe";
            const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
            const std::string program(path.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
            if (program.find("agentforge") != std::string::npos) { return; }
        } else if (holds == Holder::nobody) {
            if (take()) { continue; }
            if (errno != EEXIST) { return; }
        } else if (!is_there(lock)) {
            return;  // A gc that checked before this process was named keeps its lock file here until it has named itself.
        }
        std::this_thread::sleep_for(poll_interval);
    }
}

GcHold::~GcHold() {
    if (holder(file_) == Holder::this_process) { ::unlink(file_.c_str()); }
}

void GcHold::renew() {
    if (holder(file_) == Holder::nobody) { static_cast<void>(take()); }
}

GcHold::Holder GcHold::holder(const std::filesystem::path& file) {
    struct stat found {};
    const auto text = read_file(file, 4096);
    if (!text.ok() || ::stat(file.c_str(), &found) != 0) { return Holder::nobody; }
    pid_t process = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), process);
    if (error != std::errc() || process <= 0) { return Holder::nobody; }
    const auto age = ::time(nullptr) - found.st_mtime;
    std::string host(end, static_cast<std::size_t>(text->data() + text->size() - end));
    host = host.substr(std::min<std::size_t>(1, host.size()));
    host = host.substr(0, host.find_first_of(std::string("\0\n", 2)));
    const bool here = host == own_host();
    if (process == ::getpid() && here) { return age > renewed_after_seconds ? Holder::nobody : Holder::this_process; }
    if (age > ignored_by_git_after_seconds) { return Holder::nobody; }
    const bool lives = !here || ::kill(process, 0) == 0 || errno == EPERM;
    return lives ? Holder::another : Holder::nobody;
}

/// Takes the hold in one step. Does not use git's lock file, which would survive a kill and stop every `git gc`. Returns false
/// and sets errno if that fails; EEXIST: another process took it at this moment.
bool GcHold::take() const {
    const std::filesystem::path own = temporary_beside(file_);
    const auto failed = [&](int why) {
        ::unlink(own.c_str());
        errno = why;
        return false;
    };
    const FileDescriptor file(::open(own.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file.valid()) { return failed(EIO); }
    if (!write_all(file.get(), std::to_string(::getpid()) + " " + own_host(), own).ok()) { return failed(EIO); }
    if (::link(own.c_str(), file_.c_str()) == 0) {
        ::unlink(own.c_str());
        return true;
    }
    if (errno == EEXIST && ::renameat2(AT_FDCWD, own.c_str(), AT_FDCWD, file_.c_str(), RENAME_EXCHANGE) == 0) {
        // The previous file now has our temporary name. If a gc named itself since the check, the file is put back.
        const bool replaced = holder(own) != Holder::another;
        if (!replaced) { static_cast<void>(::renameat2(AT_FDCWD, own.c_str(), AT_FDCWD, file_.c_str(), RENAME_EXCHANGE)); }
        ::unlink(own.c_str());
        errno = EEXIST;
        return replaced;
    }
    if (errno == ENOENT) { return failed(EEXIST); }
    if (errno != EINVAL && errno != ENOSYS && errno != EPERM && errno != ENOTSUP) { return failed(errno); }
    // The file system supports neither.
    if (holder(file_) == Holder::another) { return failed(EEXIST); }
    return ::rename(own.c_str(), file_.c_str()) == 0 || failed(errno);
}

}  // namespace agentforge::kernel
