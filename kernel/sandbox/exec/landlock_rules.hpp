// SPDX-License-Identifier: Apache-2.0
// Landlock mode: what holds where no namespaces are to be had.
#pragma once

#include "policy.hpp"

namespace agentforge::exec {

/// The ABI of the running kernel, 0 without Landlock; `policy` may ask for an older one.
int landlock_abi(const Policy& policy);

/// Restricts this process to the granted paths, with every right that the ABI knows. Ends the process where that fails.
void restrict_files(const Policy& policy, int abi);

/// Keeps abstract UNIX sockets of others out of reach, with nothing else restricted; true where it holds (ABI 6).
bool restrict_abstract_sockets(int abi);

}  // namespace agentforge::exec
