// SPDX-License-Identifier: Apache-2.0
// The UNIX sockets of this machine that are bound to an absolute path, as /proc/net/unix lists them: those of the network namespace in which `read` is called.
#pragma once

#include <cstddef>

namespace agentforge::exec {

class Sockets {
public:
    Sockets() = default;
    Sockets(const Sockets&) = delete;
    Sockets& operator=(const Sockets&) = delete;
    ~Sockets();

    /// Leaves the list empty where there is none.
    void read();

    /// Calls `use(path)` for each socket that can be connected or sent to.
    template <class Use>
    void for_each(Use&& use) {
        size_t at = 0;
        while (const char* const path = next(at)) { use(path); }
    }

private:
    const char* next(size_t& at);

    char* text_ = nullptr;
    size_t size_ = 0;
};

}  // namespace agentforge::exec
