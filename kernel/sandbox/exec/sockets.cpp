// SPDX-License-Identifier: Apache-2.0
#include "sockets.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace agentforge::exec {
namespace {

bool is_granted(const Policy& policy, const char* path) {
    bool granted = false;
    for (const char* list : {"write", "read", "system"}) {
        agentforge::exec::for_each(policy, list, [&](const char* folder) {
            granted = granted || below(path, folder);
            return granted ? Step::stop : Step::next;
        });
    }
    return granted;
}

}  // namespace

Sockets::~Sockets() { free(text_); }

void Sockets::read() {
    const int table = open("/proc/net/unix", O_RDONLY | O_CLOEXEC);
    if (table < 0) { return; }
    size_t room = 0;
    for (;;) {
        if (size_ + 1 >= room) {
            room = room == 0 ? 64UL << 10U : room * 2;
            char* const grown = static_cast<char*>(realloc(text_, room));
            if (grown == nullptr) { break; }
            text_ = grown;
        }
        const ssize_t part = ::read(table, text_ + size_, room - size_ - 1);
        if (part <= 0) { break; }
        size_ += static_cast<size_t>(part);
    }
    close(table);
    if (text_ != nullptr) { text_[size_] = '\0'; }
}

const char* Sockets::next(const Policy& policy, size_t& at) {
    constexpr unsigned listens = 0x10000;
    constexpr unsigned datagrams = 2;
    while (at < size_) {
        char* const line = text_ + at;
        const size_t length = strcspn(line, "\n");
        line[length] = '\0';
        at += length + 1;
        const char* const path = strchr(line, '/');
        if (path == nullptr || path[-1] != ' ' || !is_granted(policy, path)) { continue; }
        unsigned flags = 0;
        unsigned kind = 0;
        if (sscanf(line, "%*s %*s %*s %x %x", &flags, &kind) == 2 && (kind == datagrams || (flags & listens) != 0)) {
            return path;
        }
    }
    return nullptr;
}

}  // namespace agentforge::exec
