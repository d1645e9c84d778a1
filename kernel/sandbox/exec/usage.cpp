// SPDX-License-Identifier: Apache-2.0
#include "usage.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace agentforge::exec {
namespace {

constexpr std::uint64_t page_bytes = 4096;

/// Reads the start of a /proc file as text. Returns false if it cannot be read.
template <size_t room>
bool read_text(const char* path, char (&text)[room]) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) { return false; }
    const ssize_t size = read(file, text, room - 1);
    close(file);
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

template <size_t room>
bool read_of_process(pid_t process, const char* name, char (&text)[room]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", static_cast<int>(process), name);
    return read_text(path, text);
}

/// Returns the number after `key` at the start of a line.
std::uint64_t field(const char* text, const char* key) {
    const size_t length = strlen(key);
    for (const char* line = text; line != nullptr; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        if (strncmp(line, key, length) == 0) { return strtoull(line + length, nullptr, 10); }
    }
    return 0;
}

std::uint64_t written(const char* io) {
    const std::uint64_t all = field(io, "write_bytes:");
    const std::uint64_t taken_back = field(io, "cancelled_write_bytes:");
    return all > taken_back ? all - taken_back : 0;
}

/// If the first thread has ended and others live, /proc shows the memory only under the ids of the other threads.
pid_t thread_with_memory(pid_t process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", static_cast<int>(process));
    DIR* const tasks = opendir(path);
    pid_t found = process;
    while (const dirent* const item = tasks == nullptr ? nullptr : readdir(tasks)) {
        char text[128];
        unsigned long long size = 0;
        const pid_t thread = static_cast<pid_t>(atol(item->d_name));
        if (thread > 0 && read_of_process(thread, "statm", text) && sscanf(text, "%llu", &size) == 1 && size > 0) {
            found = thread;
            break;
        }
    }
    if (tasks != nullptr) { closedir(tasks); }
    return found;
}

bool share_table_of_files(pid_t one, pid_t other) {
    constexpr int files = 2;  // KCMP_FILES
    return syscall(SYS_kcmp, one, other, files, 0, 0) == 0;
}

}  // namespace

Usage usage_of(pid_t process) {
    Usage usage;
    char text[1024];
    if (!read_of_process(process, "stat", text)) { return usage; }
    const char* const end = strrchr(text, ')');
    char state = 0;
    unsigned long long user = 0, system = 0, ended_user = 0, ended_system = 0, threads = 0, started = 0;
    if (end == nullptr || sscanf(end + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %llu %llu %*s %*s %llu %*s %llu",
                                 &state, &user, &system, &ended_user, &ended_system, &threads, &started) != 7) {
        return usage;
    }
    usage.cpu_ticks = user + system + ended_user + ended_system;
    usage.children_ticks = ended_user + ended_system;
    usage.started = started;
    usage.runs = state == 'R';
    usage.threads = threads == 0 ? 1 : threads;  // A zombie has no threads but takes up a process.
    unsigned long long resident = 0, of_files = 0;
    const pid_t with_memory = state == 'Z' && threads > 1 ? thread_with_memory(process) : process;
    if (read_of_process(with_memory, "statm", text) && sscanf(text, "%*s %llu %llu", &resident, &of_files) == 2 &&
        resident > of_files) {
        usage.anonymous_bytes = (resident - of_files) * page_bytes;
    }
    if (read_of_process(process, "io", text)) { usage.written_bytes = written(text); }
    return usage;
}

Mapped mapped_by(pid_t process) {
    char text[2048];
    if (!read_of_process(process, "smaps_rollup", text) && !read_of_process(thread_with_memory(process), "smaps_rollup", text)) {
        return {usage_of(process).anonymous_bytes, 0};
    }
    return {field(text, "Pss_Anon:") * 1024, field(text, "Pss_Shmem:") * 1024};
}

std::uint64_t written_by_self_and_children() {
    char text[512];
    return read_text("/proc/self/io", text) ? written(text) : 0;
}

SystemUsage usage_of_system() {
    SystemUsage usage;
    char text[2048];
    if (read_text("/proc/loadavg", text)) {
        const char* const slash = strchr(text, '/');
        usage.tasks = slash == nullptr ? 0 : strtoull(slash + 1, nullptr, 10);
    }
    if (read_text("/proc/meminfo", text)) {
        usage.available_bytes = field(text, "MemAvailable:") * 1024;
        usage.shared_bytes = field(text, "Shmem:") * 1024;
    }
    return usage;
}

std::uint64_t segment_bytes() {
    FILE* const table = fopen("/proc/sysvipc/shm", "re");
    if (table == nullptr) { return 0; }
    char line[512];
    std::uint64_t bytes = 0;
    while (fgets(line, sizeof line, table) != nullptr) {
        unsigned long long resident = 0;
        if (sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &resident) == 1) { bytes += resident; }
    }
    fclose(table);
    return bytes;
}

bool NamelessFiles::is_new(ino_t inode) {
    if (count_ > room / 2) { return true; }
    unsigned at = static_cast<unsigned>(inode * 2654435761U) % room;
    while (seen_[at] != 0 && seen_[at] != inode) { at = (at + 1) % room; }
    if (seen_[at] == inode) { return false; }
    seen_[at] = inode;
    ++count_;
    return true;
}

void NamelessFiles::add_table(const char* folder) {
    char path[80];
    snprintf(path, sizeof path, "/proc/%s/fd", folder);
    DIR* const open_files = opendir(path);
    if (open_files == nullptr) { return; }
    while (const dirent* const item = readdir(open_files)) {
        char target[32] = {};
        struct stat about {};
        if (readlinkat(dirfd(open_files), item->d_name, target, sizeof target - 1) < 1) { continue; }
        if (!in_flight_ && strncmp(target, "socket:", 7) == 0) {
            char text[512];
            snprintf(path, sizeof path, "/proc/%.40s/fdinfo/%.20s", folder, item->d_name);
            in_flight_ = read_text(path, text) && field(text, "scm_fds:") > 0;
        }
        if (target[0] != '/' || fstatat(dirfd(open_files), item->d_name, &about, 0) != 0 || !S_ISREG(about.st_mode) ||
            about.st_nlink != 0 || !is_new(about.st_ino)) {
            continue;
        }
        (strncmp(target, "/memfd:", 7) == 0 ? memory_bytes_ : disk_bytes_) += static_cast<std::uint64_t>(about.st_blocks) * 512;
    }
    closedir(open_files);
}

void NamelessFiles::add(pid_t process) {
    char path[64];
    snprintf(path, sizeof path, "%d", static_cast<int>(process));
    add_table(path);
    snprintf(path, sizeof path, "/proc/%d/task", static_cast<int>(process));
    DIR* const tasks = opendir(path);
    pid_t last = process;
    while (const dirent* const item = tasks == nullptr ? nullptr : readdir(tasks)) {
        const pid_t thread = static_cast<pid_t>(atol(item->d_name));
        if (thread <= 0 || thread == process || share_table_of_files(process, thread) || share_table_of_files(last, thread)) {
            continue;
        }
        snprintf(path, sizeof path, "%d/task/%d", static_cast<int>(process), static_cast<int>(thread));
        add_table(path);
        last = thread;
    }
    if (tasks != nullptr) { closedir(tasks); }
}

}  // namespace agentforge::exec
