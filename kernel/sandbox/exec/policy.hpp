// SPDX-License-Identifier: Apache-2.0
// The host's request: records `key value` on descriptor 3, each ended by NUL.
//
//   host PID · program PATH · directory PATH · confine 0|1 · network none|full · namespaces 0|1 (0: use none)
//   landlock_at_most ABI (an older kernel, for tests) · accept GAP (gaps.hpp), any number
//   memory, file_bytes, shared_bytes (bytes) · processes · cpu_seconds · open_files
//   system PATH, device PATH, read PATH, write PATH, hide PATH, any number of each
#pragma once

#include <sys/types.h>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace agentforge::exec {

struct Policy {
    pid_t host = 0;
    const char* program = nullptr;
    const char* directory = "/";
    bool confine = true;
    bool network = false;
    bool namespaces = true;
    int landlock_at_most = 1'000;
    std::uint64_t memory = 0, processes = 0, file_bytes = 0, shared_bytes = 0, cpu_seconds = 0, open_files = 0;
    char* text = nullptr;
    size_t size = 0;
};

enum class Step : unsigned char { next = 1, stop };

/// Calls `use(value)` for every record `key value`.
template <class Use>
void for_each(const Policy& policy, const char* key, Use&& use) {
    const size_t length = strlen(key);
    for (const char* at = policy.text; at < policy.text + policy.size; at += strlen(at) + 1) {
        if (strncmp(at, key, length) == 0 && at[length] == ' ' && use(at + length + 1) == Step::stop) { return; }
    }
}

/// Reads descriptor 3 and closes it. Refuses unreadable and unknown records.
Policy read_policy();

/// True if `path` is strictly below `folder`.
bool below(const char* path, const char* folder);

std::uint64_t number(const char* text);

}  // namespace agentforge::exec
