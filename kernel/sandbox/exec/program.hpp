// SPDX-License-Identifier: Apache-2.0
// The last steps of the child that becomes the program: limits, privileges, and the call that starts it.
#pragma once

#include <cstdint>

#include "policy.hpp"

namespace agentforge::exec {

enum class Mode : unsigned char { unconfined = 1, landlock, full };

/// No core files, and the limits of one process; those of the whole tree are watched (shares.hpp).
void set_limits(const Policy& policy, Mode mode);

/// Root keeps nothing but passing over file permissions, as a checkout may belong to somebody else: that reaches no further than
/// what was granted.
void drop_capabilities();

/// Becomes the program. Dies with the process that is its parent now.
[[noreturn]] void become_program(const Policy& policy, char** argv, Mode mode);

}  // namespace agentforge::exec
