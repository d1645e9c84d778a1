// SPDX-License-Identifier: Apache-2.0
// The filter of system calls; filter_rules.cpp says what it holds.
#pragma once

#include "program.hpp"

namespace agentforge::exec {

/// Loads the filter of the mode, for this process and all it starts; `abstract_sockets_kept_apart`: UNIX sockets may be allowed with the
/// machine's network. Needs no_new_privs. Ends the process where the kernel does not take it.
void filter_system_calls(Mode mode, bool network, bool abstract_sockets_kept_apart);

}  // namespace agentforge::exec
