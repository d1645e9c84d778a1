// SPDX-License-Identifier: Apache-2.0
// The gaps of Landlock mode on older kernels, by the names under which the user's settings may accept them.
#pragma once

#include "policy.hpp"

namespace agentforge::exec {

/// Reports Landlock mode, why full mode is unavailable (`missing`), and the accepted gaps that are open. Ends the process with
/// `refused` if the kernel has no Landlock or leaves a gap open that the policy does not accept.
void report_gaps(const Policy& policy, const char* missing);

}  // namespace agentforge::exec
