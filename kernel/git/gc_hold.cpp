// SPDX-License-Identifier: Apache-2.0
#include "git/gc_hold.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <ctime>
#include <string>
#include <thread>

#include "base/files.hpp"

namespace agentforge::kernel {

namespace {

/// As old as that, git does not believe the file: it is renewed well before.
constexpr std::time_t believed_seconds = 12 * 3600;
constexpr std::time_t renewed_after_seconds = 3600;
constexpr auto longest_wait = std::chrono::minutes(1);
constexpr auto between_looks = std::chrono::milliseconds(20);

std::string own_host() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "unknown";
}

}  // namespace

GcHold::GcHold(std::filesystem::path git_directory) : file_(std::move(git_directory) / "gc.pid") {
    const auto until = std::chrono::steady_clock::now() + longest_wait;
    while (std::chrono::steady_clock::now() < until) {
        if (holder() == Holder::another) {
            // Another agentforge holds it as this one would; only a gc is waited for, and it takes its lock file away when it ends.
            std::array<char, 4096> path{};
            const auto text = read_file(file_, 4096);
            const std::string link = "/proc/" + (text.ok() ? text->substr(0, text->find(' ')) : std::string("0")) + "/exe";
            const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
            const std::string program(path.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
            if (program.find("agentforge") != std::string::npos) { return; }
        } else if (holder() == Holder::this_process || take()) {
            return;
        } else if (errno != EEXIST) {
            return;
        }
        std::this_thread::sleep_for(between_looks);
    }
}

GcHold::~GcHold() {
    if (holder() == Holder::this_process) { ::unlink(file_.c_str()); }
}

void GcHold::renew() {
    if (holder() == Holder::nobody) { (void)take(); }
}

GcHold::Holder GcHold::holder() const {
    struct stat found {};
    const auto text = read_file(file_, 4096);
    if (!text.ok() || ::stat(file_.c_str(), &found) != 0) { return Holder::nobody; }
    pid_t process = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), process);
    if (error != std::errc() || process <= 0) { return Holder::nobody; }
    const auto age = ::time(nullptr) - found.st_mtime;
    std::string host(end, static_cast<std::size_t>(text->data() + text->size() - end));
    host = host.substr(std::min<std::size_t>(1, host.size()));
    host = host.substr(0, host.find_first_of(std::string("\0\n", 2)));
    const bool here = host == own_host();
    if (process == ::getpid() && here) { return age > renewed_after_seconds ? Holder::nobody : Holder::this_process; }
    if (age > believed_seconds) { return Holder::nobody; }
    const bool lives = !here || ::kill(process, 0) == 0 || errno == EPERM;
    return lives ? Holder::another : Holder::nobody;
}

/// False, and errno, where it cannot be taken now; EEXIST: another takes it at this moment.
bool GcHold::take() const {
    const std::string lock = file_.string() + ".lock";
    {
        const FileDescriptor made(::open(lock.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
        if (!made.valid()) { return false; }
        if (holder() == Holder::another) {
            ::unlink(lock.c_str());
            errno = EEXIST;
            return false;
        }
        if (!write_all(made.get(), std::to_string(::getpid()) + " " + own_host(), lock).ok()) {
            ::unlink(lock.c_str());
            errno = EIO;
            return false;
        }
    }
    return ::rename(lock.c_str(), file_.c_str()) == 0;
}

}  // namespace agentforge::kernel
