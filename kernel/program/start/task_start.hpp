// SPDX-License-Identifier: Apache-2.0
// Starts one task: reads its arguments, makes every check that needs no task, creates the task and runs it.
#pragma once

#include <string>

#include "program/program.hpp"
#include "program/start/start_arguments.hpp"

namespace agentforge::kernel {

/// Checks everything that can be checked before a task exists, starts the task, and reports its result. Returns the exit code.
int start_task(Program& program, StartArguments arguments, std::string request);

}  // namespace agentforge::kernel
