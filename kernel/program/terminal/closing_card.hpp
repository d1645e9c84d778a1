// SPDX-License-Identifier: Apache-2.0
// The last lines of a command that ran a task: its result, and the commands that come next.
#pragma once

#include "program/terminal/closing.hpp"

namespace agentforge::kernel {

/// Prints the card of a task that is done, waits, is paused or failed. Commands name the task by its short id. Errors go to
/// `err`.
void print_card(Program& program, Project& project, const PipelineResult& result, const Closing& closing);

}  // namespace agentforge::kernel
