// SPDX-License-Identifier: Apache-2.0
// What the helper tells its host on descriptor 4, and how it gives up.
#pragma once

namespace agentforge::exec {

constexpr int policy_descriptor = 3;
constexpr int report_descriptor = 4;
constexpr int exit_not_started = 125;

/// One record of what is in force. Kept until flush_report: each write wakes the host.
__attribute__((format(printf, 1, 2))) void report(const char* format, ...);

/// Writes what was kept, at once.
void flush_report();

/// fork; what was kept goes with the child.
int fork_with_report();

/// Reports `refused …`: the confinement that was asked for is not available, or must not be had. Does not return.
[[noreturn]] __attribute__((format(printf, 1, 2))) void refuse(const char* format, ...);

/// Reports `failed WHAT: ` and what errno says. Does not return.
[[noreturn]] void fail(const char* what);

}  // namespace agentforge::exec
