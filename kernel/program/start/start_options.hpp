// SPDX-License-Identifier: Apache-2.0
// The options of the commands that start a task: how it asks, with which model it works, where it ends.
#pragma once

#include <memory>

#include "program/command_line.hpp"
#include "program/program.hpp"
#include "program/start/start_arguments.hpp"

namespace agentforge::kernel {

/// Adds the options of `start` besides the request and the pipeline.
void add_task_options(const Command& command, Program& program, const std::shared_ptr<StartArguments>& arguments);

}  // namespace agentforge::kernel
