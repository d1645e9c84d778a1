// SPDX-License-Identifier: Apache-2.0
// The UNIX sockets of this machine that are bound to an absolute path, as /proc/net/unix lists them: those of the network
// namespace in which `read` is called.
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

    /// Leaves the list empty where there is none.
    void read();

    /// Calls `use(path)` for each socket that can be connected or sent to and whose path, as it was bound, lies below one that
    /// the policy grants.
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
