// SPDX-License-Identifier: Apache-2.0
// The commands that fit a task's current status: for lists, cards and errors.
#pragma once

#include <string>
#include <vector>

#include "aggregate/overview.hpp"
#include "program/program.hpp"

namespace agentforge::kernel {

/// A command to copy, and what it does.
struct NextCommand {
    std::string command;
    std::string remark;  ///< Empty if the command's name is enough.
};

/// Returns the commands that fit a task, the likeliest first. An overview has less information than a task's state, so its
/// commands are less specific.
[[nodiscard]] std::vector<NextCommand> next_commands(const TaskOverview& task);
[[nodiscard]] std::vector<NextCommand> next_commands(const TaskState& state, const TaskOverview& task);

/// Returns one sentence for errors: the task's status, and the command that fits best.
[[nodiscard]] std::string status_and_command(const TaskState& state, const TaskOverview& task);
/// Returns the error with the task's status in place of the remedy `see_status` (base/advice.hpp).
[[nodiscard]] Error with_status_and_command(Error error, const TaskStore& store, const std::string& task_id);

/// Returns a line for each command, with the remarks as shell comments in one column. Leaves out remarks that do not fit into
/// `columns`. Each command has the program's -C or --repo.
[[nodiscard]] std::vector<std::string> lines_of(const Program& program, const std::vector<NextCommand>& commands,
                                                std::size_t columns);

}  // namespace agentforge::kernel
