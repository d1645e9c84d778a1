// SPDX-License-Identifier: Apache-2.0
// Landlock mode: the confinement used when namespaces are unavailable.
#pragma once

#include "policy.hpp"

namespace agentforge::exec {

/// The ABI of the running kernel, 0 without Landlock; `policy` may ask for an older one.
int landlock_abi(const Policy& policy);

/// Restricts this process to the granted paths, with every right that the ABI knows. Ends the process on failure.
void restrict_files(const Policy& policy, int abi);

/// Puts other processes' abstract UNIX sockets out of reach and restricts nothing else. Returns true if it is in force (ABI 6).
bool restrict_abstract_sockets(int abi);

}  // namespace agentforge::exec
