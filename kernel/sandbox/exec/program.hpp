// SPDX-License-Identifier: Apache-2.0
// The last steps of the child that becomes the program: limits, privileges, and the call that starts it.
#pragma once

#include <cstdint>

#include "cgroup.hpp"
#include "policy.hpp"

namespace agentforge::exec {

enum class Mode : unsigned char { unconfined = 1, landlock, full };

/// Disables core files and sets the limits of one process; supervise.hpp watches those of the whole tree.
void set_limits(const Policy& policy, Mode mode);

/// Drops all of root's capabilities except overriding file permissions, because a checkout may belong to another user. That
/// capability reaches only the granted paths.
void drop_capabilities();

/// Joins the cgroup and becomes the program. Dies with its current parent.
[[noreturn]] void become_program(const Policy& policy, const Cgroup& cgroup, char** argv, Mode mode);

}  // namespace agentforge::exec
