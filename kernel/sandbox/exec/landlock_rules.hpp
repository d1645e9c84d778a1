// SPDX-License-Identifier: Apache-2.0
// Landlock mode: the confinement used when namespaces are unavailable.
#pragma once

#include "policy.hpp"

namespace agentforge::exec {

/// Returns the ABI of the running kernel, or 0 without Landlock. `policy` may request an older one.
int landlock_abi(const Policy& policy);

/// Restricts this process to the granted paths, for every right that the ABI knows. Ends the process on failure.
void restrict_files(const Policy& policy, int abi);

/// Cuts access to other processes' abstract UNIX sockets and restricts nothing else. Returns true if this is in force (ABI 6).
bool restrict_abstract_sockets(int abi);

}  // namespace agentforge::exec
