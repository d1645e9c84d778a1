// SPDX-License-Identifier: Apache-2.0
#include "sockets.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace agentforge::exec {

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

const char* Sockets::next(size_t& at) {
    constexpr unsigned listens = 0x10000;
    constexpr unsigned datagrams = 2;
    while (at < size_) {
        char* const line = text_ + at;
        const size_t length = strcspn(line, "\n");
        line[length] = '\0';
        at += length + 1;
        unsigned flags = 0;
        unsigned kind = 0;
        int path = 0;
        if (sscanf(line, "%*s %*s %*s %x %x %*s %*s %n", &flags, &kind, &path) == 2 && path > 0 && line[path] == '/' && (kind == datagrams || (flags & listens) != 0)) {
            return line + path;
        }
    }
    return nullptr;
}

}  // namespace agentforge::exec
