// SPDX-License-Identifier: Apache-2.0
// A set: the tasks of one request for several repositories (`start --repos A,B`). Delivers branches in all of the repositories or
// in none.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "program/commands/start.hpp"
#include "task/task_set.hpp"

namespace agentforge::kernel {

/// True if this names a set, not a task.
[[nodiscard]] bool is_set_id(std::string_view id);

/// Finds a set by its id or a unique part of it. Errors: AF-SET-007; those of load_set.
[[nodiscard]] Result<TaskSet> find_set(const Program& program, const std::string& id);

/// Returns one line for each unfinished set, with the command that continues it. `place`: only sets with a part there, if given.
[[nodiscard]] std::vector<std::string> unfinished_sets(const Program& program, const std::filesystem::path& place);

/// Begins a set and runs it until it ends or has to wait. Returns the exit code.
int start_set(Program& program, const StartArguments& arguments, const std::string& request);
/// Continues a set: its specification, its tasks, its branches. Deletes its branches if it cannot complete them. Returns the exit
/// code.
int resume_set(Program& program, const std::string& id);
/// Ends a set for good: aborts its tasks, and removes its branches if it was about to create them. Returns the exit code.
int abort_set(Program& program, const std::string& id, const std::string& reason);

}  // namespace agentforge::kernel
