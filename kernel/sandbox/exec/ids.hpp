// SPDX-License-Identifier: Apache-2.0
// Maps user and group ids into a new user namespace, each to itself. For root it maps every id, because root's files may belong
// to anyone. Only a process outside the namespace may do that, so the namespace's first process waits for it.
#pragma once

#include <sys/types.h>

namespace agentforge::exec {

class Ids {
public:
    Ids();  ///< Call it in the process that makes the namespace, before the namespace exists.

    /// Call it in the first process of the namespace. Returns null, or what failed.
    const char* map_own();
    /// Call it in the process that made the namespace.
    void map_of(pid_t first);

private:
    uid_t user_;
    gid_t group_;
    int ready_[2] = {-1, -1};  // Closed without a message if the maps cannot be written.
};

}  // namespace agentforge::exec
