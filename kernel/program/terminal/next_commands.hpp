// SPDX-License-Identifier: Apache-2.0
// The commands that fit a task as it stands: for lists, cards and errors.
#pragma once

#include <string>
#include <vector>

#include "aggregate/overview.hpp"
#include "program/program.hpp"

namespace agentforge::kernel {

/// A command to copy, and what it does.
struct NextCommand {
    std::string command;
    std::string remark;  ///< Empty if the command's name says it.
};

/// Returns the commands that fit a task, the likeliest first. A listing knows less of a task than its state, so its commands say
/// less.
[[nodiscard]] std::vector<NextCommand> next_commands(const TaskOverview& task);
[[nodiscard]] std::vector<NextCommand> next_commands(const TaskState& state, const TaskOverview& task);

/// Returns one sentence for errors: how the task stands, and the command that fits best.
[[nodiscard]] std::string status_and_command(const TaskState& state, const TaskOverview& task);
/// Returns the error with the task's standing in place of the remedy `see_status` (base/advice.hpp).
[[nodiscard]] Error with_status_and_command(Error error, const TaskStore& store, const std::string& task_id);

/// Returns a line for each command, the remarks behind them as a shell's comments, in one column. A remark that does not fit into
/// `columns` is left out. Each command has the program's -C or --repo.
[[nodiscard]] std::vector<std::string> lines_of(const Program& program, const std::vector<NextCommand>& commands,
                                                std::size_t columns);

}  // namespace agentforge::kernel
