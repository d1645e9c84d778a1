// SPDX-License-Identifier: Apache-2.0
// The system call filter; filter_rules.cpp defines its rules.
#pragma once

#include "program.hpp"

namespace agentforge::exec {

/// Loads the mode's filter for this process and everything it starts. `abstract_sockets_kept_apart`: UNIX sockets may be allowed
/// together with the machine's network. Needs no_new_privs. Ends the process if the kernel rejects the filter.
void filter_system_calls(Mode mode, bool network, bool abstract_sockets_kept_apart);

}  // namespace agentforge::exec
