// SPDX-License-Identifier: Apache-2.0
#include "task/task_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <ctime>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

FileDescriptor open_lock(const fs::path& path, int flags) {
    int descriptor = -1;
    do {
        descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
    } while (descriptor < 0 && errno == EINTR);
    return FileDescriptor(descriptor);
}

LockHolder read_holder(int descriptor) {
    char bytes[4096];
    const ssize_t count = ::pread(descriptor, bytes, sizeof bytes, 0);
    LockHolder holder;
    if (count <= 0) { return holder; }
    auto parsed = parse_json(std::string_view(bytes, static_cast<std::size_t>(count)), "lock");
    if (!parsed.ok() || !parsed->is_object()) { return holder; }
    const auto& object = parsed->get_object();
    if (const auto* pid = object.if_contains("pid"); pid != nullptr && pid->is_int64()) { holder.pid = pid->get_int64(); }
    holder.host = text_of(object, "host");
    holder.command = text_of(object, "command");
    holder.since = text_of(object, "since");
    return holder;
}

/// Retries for some milliseconds, because `TaskLock::holder` takes a shared lock for an instant.
bool lock_exclusively(int descriptor) {
    for (int attempt = 0; attempt < 8; ++attempt) {
        if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) { return true; }
        if (errno != EWOULDBLOCK && errno != EINTR) { return false; }
        const timespec pause{0, 1'000'000};
        ::nanosleep(&pause, nullptr);
        errno = EWOULDBLOCK;
    }
    return false;
}

}  // namespace

Result<TaskLock> TaskLock::acquire(const TaskPaths& paths, std::string_view command, std::string_view now) {
    const auto refused = [&](int error) {
        return Error{"AF-TASK-008", "Cannot lock the task: " + errno_text(error), paths.lock().string(),
                     "Check the folder's permissions.", ErrorKind::io};
    };
    FileDescriptor file = open_lock(paths.lock(), O_RDWR | O_CREAT);
    if (!file.valid()) {
        if (errno == ENOENT) {
            return Error{"AF-TASK-002", "There is no task here", paths.root.string(), "`agentforge status` lists the tasks.",
                         ErrorKind::not_found};
        }
        return refused(errno);
    }
    if (!lock_exclusively(file.get())) {
        if (errno != EWOULDBLOCK) { return refused(errno); }
        const LockHolder holder = read_holder(file.get());
        std::string who = holder.pid == 0 ? "another process" : "process " + std::to_string(holder.pid);
        if (!holder.command.empty()) { who += " (" + holder.command + ")"; }
        if (!holder.host.empty()) { who += " on " + holder.host; }
        if (!holder.since.empty()) { who += " since " + holder.since; }
        return Error{"AF-TASK-003", "The task is in use by " + who, paths.lock().string(),
                     "`agentforge logs TASK --follow` shows what it does, `agentforge pause TASK` stops it.",
                     ErrorKind::conflict};
    }
    // The folder may have been removed between open and lock. Then this lock protects nothing.
    struct stat held {};
    struct stat named {};
    if (::fstat(file.get(), &held) != 0) { return refused(errno); }
    if (::stat(paths.lock().c_str(), &named) != 0 || held.st_ino != named.st_ino || held.st_dev != named.st_dev) {
        return Error{"AF-TASK-002", "The task was removed in the meantime", paths.root.string(),
                     "`agentforge status` lists the tasks.", ErrorKind::not_found};
    }
    sweep_abandoned_writes(paths.root);
    char host[256] = "";
    if (::gethostname(host, sizeof host - 1) != 0) { host[0] = '\0'; }
    const std::string text = to_json_line(json::object{{"pid", static_cast<std::int64_t>(::getpid())},
                                                       {"host", host},
                                                       {"command", ellipsis(command, 1000)},
                                                       {"since", now}}) +
                             '\n';
    if (::ftruncate(file.get(), 0) != 0) { return refused(errno); }
    AF_CHECK(write_all(file.get(), text, paths.lock()));
    return TaskLock(std::move(file));
}

std::optional<LockHolder> TaskLock::holder(const TaskPaths& paths) {
    const FileDescriptor file = open_lock(paths.lock(), O_RDONLY);
    if (!file.valid()) { return std::nullopt; }
    if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) { return std::nullopt; }
    return read_holder(file.get());
}

}  // namespace agentforge::kernel
