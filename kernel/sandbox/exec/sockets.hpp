// SPDX-License-Identifier: Apache-2.0
// The UNIX sockets of this machine that are bound to an absolute path, from /proc/net/unix: those in the network namespace in
// which `read` is called.
#pragma once

#include <cstddef>

#include "policy.hpp"

namespace agentforge::exec {

class Sockets {
public:
    Sockets() = default;
    Sockets(const Sockets&) = delete;
    Sockets& operator=(const Sockets&) = delete;
    ~Sockets();

    /// Leaves the list empty if that file does not exist.
    void read();

    /// Calls `use(path)` for each socket that accepts connections or datagrams and whose path, as bound, is below a granted one.
    template <class Use>
    void for_each(const Policy& policy, Use&& use) {
        size_t at = 0;
        while (const char* const path = next(policy, at)) { use(path); }
    }

private:
    const char* next(const Policy& policy, size_t& at);

    char* text_ = nullptr;
    size_t size_ = 0;
};

}  // namespace agentforge::exec
