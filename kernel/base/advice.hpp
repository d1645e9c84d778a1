// SPDX-License-Identifier: Apache-2.0
// Remedies that the command line replaces before it prints an error.
#pragma once

namespace agentforge::kernel {

/// Remedy of an error whose remedy depends on the task's status. The command line replaces it with that status and the command
/// that fits (program/terminal/next_commands.hpp).
inline constexpr const char* see_status = "`agentforge status` shows how the task stands";

}  // namespace agentforge::kernel
