// SPDX-License-Identifier: Apache-2.0
// Who is who in a new user namespace: everybody stays who they are. Root maps every id, as what it works on may belong to anybody;
// only who stands outside may do that, so the first process of the namespace waits for it.
#pragma once

#include <sys/types.h>

namespace agentforge::exec {

class Ids {
public:
    Ids();      ///< In the process that makes the namespace, before it does.

    /// In the first process of the namespace. Returns null, or what could not be done.
    const char* map_own();
    /// In the process that made it.
    void map_of(pid_t first);

private:
    uid_t user_;
    gid_t group_;
    int ready_[2] = {-1, -1};       // Closed without a word where the maps cannot be written.
};

}  // namespace agentforge::exec
