// SPDX-License-Identifier: Apache-2.0
// Reports to the host on descriptor 4, and ends the helper on failure.
#pragma once

namespace agentforge::exec {

constexpr int policy_descriptor = 3;
constexpr int report_descriptor = 4;
constexpr int exit_not_started = 125;

/// Adds one record of the confinement in force. Buffered until flush_report, because each write wakes the host.
__attribute__((format(printf, 1, 2))) void report(const char* format, ...);

/// Writes the buffered records in one call.
void flush_report();

/// Forks. The child inherits the buffered records.
int fork_with_report();

/// Reports `refused …`: the requested confinement is unavailable or not allowed. Does not return.
[[noreturn]] __attribute__((format(printf, 1, 2))) void refuse(const char* format, ...);

/// Reports `failed WHAT: ` and the text of errno. Does not return.
[[noreturn]] void fail(const char* what);

}  // namespace agentforge::exec
