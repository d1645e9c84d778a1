// SPDX-License-Identifier: Apache-2.0
#include "ids.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cstdio>
#include <cstring>

#include "write_text.hpp"

namespace agentforge::exec {
namespace {

constexpr const char* every_id = "0 0 4294967295";

bool write_text_of(const char* process, const char* name, const char* text) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/%s", process, name);
    return write_text(path, text);
}

}  // namespace

Ids::Ids() : user_(geteuid()), group_(getegid()) {
    if (user_ == 0 && pipe2(ready_, O_CLOEXEC) != 0) { ready_[0] = -1; }
}

const char* Ids::map_own() {
    char text[64];
    if (user_ == 0) {
        close(ready_[1]);
        const bool mapped = read(ready_[0], text, 1) == 1;
        close(ready_[0]);
        return mapped ? nullptr : "ids cannot be mapped";
    }
    snprintf(text, sizeof text, "%u %u 1", user_, user_);
    if (!write_text_of("self", "setgroups", "deny") || !write_text_of("self", "uid_map", text)) {
        return "the user's id cannot be mapped";
    }
    snprintf(text, sizeof text, "%u %u 1", group_, group_);
    return write_text_of("self", "gid_map", text) ? nullptr : "the group's id cannot be mapped";
}

void Ids::map_of(pid_t first) {
    if (user_ != 0) { return; }
    char process[16];
    snprintf(process, sizeof process, "%d", static_cast<int>(first));
    const bool mapped = write_text_of(process, "uid_map", every_id) && write_text_of(process, "gid_map", every_id);
    if (mapped) { static_cast<void>(!write(ready_[1], "1", 1)); }
    close(ready_[0]);
    close(ready_[1]);
}

}  // namespace agentforge::exec
