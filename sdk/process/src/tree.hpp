// SPDX-License-Identifier: Apache-2.0
// Finds the descendants of a process and signals all of them. Uses libc only, because agentforge-exec includes it.
//
// Linux has no call for a process and its descendants, so this reads the process table from /proc. A process may fork between
// reading and signalling. A kill therefore first stops everything it sees, and repeats until it sees nothing more.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace agentforge::process::tree {

struct Entry {
    pid_t pid;
    pid_t parent;
    bool zombie;  ///< All its threads have ended. The first may have ended before the others.
    bool member;
    size_t threads;
};

/// A growing array without exceptions. It stops growing if an allocation fails.
struct Table {
    Entry* entries = nullptr;
    size_t count = 0;
    size_t room = 0;

    Table() = default;
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;
    ~Table() { std::free(entries); }

    bool add(const Entry& entry) {
        if (count == room) {
            const size_t wanted = room == 0 ? 256 : room * 2;
            void* const grown = std::realloc(entries, wanted * sizeof(Entry));
            if (grown == nullptr) { return false; }
            entries = static_cast<Entry*>(grown);
            room = wanted;
        }
        entries[count++] = entry;
        return true;
    }
};

/// Reads `/proc/<pid>/stat`. The name in it may contain blanks and brackets, so the name ends at the last `)`.
inline bool read_entry(int proc, const char* name, Entry& entry) {
    char path[64];
    std::snprintf(path, sizeof path, "%.40s/stat", name);
    const int file = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) { return false; }
    char text[512];
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0) { return false; }
    text[size] = '\0';
    const char* const end = std::strrchr(text, ')');
    if (end == nullptr) { return false; }
    char state = 0;
    int parent = 0;
    unsigned long threads = 1;
    if (std::sscanf(end + 1, " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu", &state, &parent,
                    &threads) < 2) {
        return false;
    }
    entry.pid = static_cast<pid_t>(std::atol(name));
    entry.parent = static_cast<pid_t>(parent);
    entry.zombie = (state == 'Z' || state == 'X') && threads <= 1;
    entry.member = false;
    entry.threads = threads;
    return true;
}

inline void read_table(Table& table) {
    DIR* const directory = opendir("/proc");
    if (directory == nullptr) { return; }
    while (const dirent* const item = readdir(directory)) {
        if (item->d_name[0] < '1' || item->d_name[0] > '9') { continue; }
        Entry entry{};
        if (read_entry(dirfd(directory), item->d_name, entry) && !table.add(entry)) { break; }
    }
    closedir(directory);
}

/// Marks the descendants of `root`, without `root` itself, and returns how many are alive.
inline size_t mark_descendants(Table& table, pid_t root) {
    size_t living = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < table.count; ++i) {
            Entry& entry = table.entries[i];
            if (entry.member) { continue; }
            bool below = entry.parent == root;
            for (size_t k = 0; !below && k < table.count; ++k) {
                below = table.entries[k].member && table.entries[k].pid == entry.parent;
            }
            if (!below) { continue; }
            entry.member = true;
            changed = true;
            if (!entry.zombie) { ++living; }
        }
    }
    return living;
}

/// Counts the threads of the living descendants of `root`.
inline size_t count_threads_below(pid_t root) {
    Table table;
    read_table(table);
    mark_descendants(table, root);
    size_t threads = 0;
    for (size_t i = 0; i < table.count; ++i) {
        if (table.entries[i].member && !table.entries[i].zombie) { threads += table.entries[i].threads; }
    }
    return threads;
}

/// Sends a signal to every living descendant of `root`. Returns how many there were.
inline size_t signal_descendants(pid_t root, int signal) {
    Table table;
    read_table(table);
    const size_t living = mark_descendants(table, root);
    for (size_t i = 0; i < table.count; ++i) {
        if (table.entries[i].member && !table.entries[i].zombie) { kill(table.entries[i].pid, signal); }
    }
    return living;
}

/// Stops, then kills every descendant of `root`, until it sees none or has made `passes` passes.
inline void kill_descendants(pid_t root, int passes = 8) {
    for (int pass = 0; pass < passes; ++pass) {
        if (signal_descendants(root, SIGSTOP) == 0) { return; }
        signal_descendants(root, SIGKILL);
    }
}

}  // namespace agentforge::process::tree
