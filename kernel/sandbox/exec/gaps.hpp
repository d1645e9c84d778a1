// SPDX-License-Identifier: Apache-2.0
// What Landlock mode cannot hold on an older kernel, by the name with which the user's settings may accept it.
#pragma once

#include "policy.hpp"

namespace agentforge::exec {

/// Reports Landlock mode, why there is no full mode (`missing`), and the accepted gaps that are open. Ends the process with
/// `refused` where the kernel has no Landlock, or leaves a gap open that the policy does not accept.
void report_gaps(const Policy& policy, const char* missing);

}  // namespace agentforge::exec
