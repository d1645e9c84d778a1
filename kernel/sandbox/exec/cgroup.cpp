// SPDX-License-Identifier: Apache-2.0
#include "cgroup.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>

#include "write_text.hpp"

namespace agentforge::exec {
namespace {

constexpr long kind_of_cgroup2 = 0x63677270;
constexpr const char* mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

struct Name {
    char text[640];
    Name(const char* folder, const char* file) { snprintf(text, sizeof text, "%.480s/%.150s", folder, file); }
};

template <size_t room>
bool read_text(int file, char (&text)[room]) {
    const ssize_t size = pread(file, text, room - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    return size >= 0;
}

template <size_t room>
bool read_text(const char* path, char (&text)[room]) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const bool done = file >= 0 && read_text(file, text);
    if (file >= 0) { close(file); }
    return done;
}

bool is_delegated(const char* folder) {
    for (const char* attribute : {"user.delegate", "trusted.delegate"}) {
        char value = 0;
        if (getxattr(folder, attribute, &value, 1) == 1 && value == '1') { return true; }
    }
    return false;
}

/// True if `name` is one of the words in the file.
bool lists(const char* path, const char* name) {
    char text[512];
    if (!read_text(path, text)) { return false; }
    char* rest = nullptr;
    for (const char* word = strtok_r(text, " \n", &rest); word != nullptr; word = strtok_r(nullptr, " \n", &rest)) {
        if (strcmp(word, name) == 0) { return true; }
    }
    return false;
}

bool limits_children(const char* folder) {
    const Name control(folder, "cgroup.subtree_control");
    return lists(control.text, "memory") && lists(control.text, "pids");
}

void move_processes_down(const char* folder) {
    const Name host(folder, "agentforge-host");
    const Name to(host.text, "cgroup.procs");
    mkdir(host.text, 0755);
    FILE* const processes = fopen(Name(folder, "cgroup.procs").text, "re");
    if (processes == nullptr) { return; }
    char process[32];
    while (fgets(process, sizeof process, processes) != nullptr) { write_text(to.text, process); }
    fclose(processes);
}

bool limit_children(const char* folder, bool holds_processes) {
    if (limits_children(folder)) { return true; }
    if (holds_processes) { move_processes_down(folder); }
    write_text(Name(folder, "cgroup.subtree_control").text, "+memory +pids");
    return limits_children(folder);
}

bool set_limit(const char* folder, const char* file, std::uint64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return value == 0 || write_text(Name(folder, file).text, text);
}

/// Returns the number after `key` at the start of a line of an events file.
std::uint64_t count_of(int events, const char* key) {
    char text[512];
    if (events < 0 || !read_text(events, text)) { return 0; }
    char* rest = nullptr;
    const size_t length = strlen(key);
    for (const char* line = strtok_r(text, "\n", &rest); line != nullptr; line = strtok_r(nullptr, "\n", &rest)) {
        if (strncmp(line, key, length) == 0 && line[length] == ' ') { return number(line + length + 1); }
    }
    return 0;
}

}  // namespace

bool Cgroup::make(const Policy& policy) {
    char text[512];
    if (!read_text("/proc/self/cgroup", text)) { return false; }
    char* const own = strstr(text, "0::/");
    if (own == nullptr) { return false; }
    own[strcspn(own, "\n")] = '\0';
    for (const char* mount : mounts) {
        struct statfs about {};
        if (statfs(mount, &about) == 0 && about.f_type == kind_of_cgroup2) { return make(mount, own + strlen("0::"), policy); }
    }
    return false;
}

bool Cgroup::make(const char* mount, const char* own, const Policy& policy) {
    char above[400];
    const int size = snprintf(above, sizeof above, "%s%s", mount, own);
    if (size < 0 || size >= static_cast<int>(sizeof above)) { return false; }
    const bool holds_processes = is_delegated(above);
    if (!holds_processes) { *strrchr(above, '/') = '\0'; }
    if (strlen(above) < strlen(mount) || !is_delegated(above) || !limit_children(above, holds_processes)) { return false; }
    snprintf(folder_, sizeof folder_, "%s/agentforge-%d", above, static_cast<int>(getpid()));
    if (mkdir(folder_, 0755) != 0 && errno != EEXIST) { return false; }  // An earlier process with this id may have left it.
    if (set_limit(folder_, "memory.max", policy.memory) && set_limit(folder_, "pids.max", policy.processes)) {
        write_text(Name(folder_, "memory.swap.max").text, "0");
        write_text(Name(folder_, "memory.oom.group").text, "1");
        memory_events_ = open(Name(folder_, "memory.events").text, O_RDONLY | O_CLOEXEC);
        process_events_ = open(Name(folder_, "pids.events").text, O_RDONLY | O_CLOEXEC);
        processes_ = open(Name(folder_, "cgroup.procs").text, O_WRONLY | O_CLOEXEC);
    }
    if (!made()) { rmdir(folder_); }
    return made();
}

bool Cgroup::join() const { return !made() || write(processes_, "0", 1) == 1; }

const char* Cgroup::exceeded() const {
    if (count_of(memory_events_, "oom_kill") != 0) { return "memory"; }
    return count_of(process_events_, "max") != 0 ? "processes" : nullptr;
}

void Cgroup::remove() {
    if (!made()) { return; }
    for (int* file : {&processes_, &memory_events_, &process_events_}) {
        if (*file >= 0) { close(*file); }
        *file = -1;
    }
    write_text(Name(folder_, "cgroup.kill").text, "1");
    const timespec interval{0, 10'000'000};
    for (int round = 0; round < 100 && rmdir(folder_) != 0 && errno == EBUSY; ++round) { nanosleep(&interval, nullptr); }
}

}  // namespace agentforge::exec
