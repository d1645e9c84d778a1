// SPDX-License-Identifier: Apache-2.0
// What `start --repos A,B`, `resume` and `abort` do with a set: the tasks of one request for several repositories.
#pragma once

#include <string>

#include "program/program.hpp"
#include "program/start/start_arguments.hpp"

namespace agentforge::kernel {

/// Begins a set and runs it until it ends or has to wait. Returns the exit code.
int start_set(Program& program, const StartArguments& arguments, const std::string& request);
/// Continues a set: its specification, its tasks, its branches. Deletes its branches if it cannot complete them. Returns the exit
/// code.
int resume_set(Program& program, const std::string& id);
/// Ends a set for good: aborts its tasks, and removes its branches if it was about to create them. Returns the exit code.
int abort_set(Program& program, const std::string& id, const std::string& reason);

}  // namespace agentforge::kernel
