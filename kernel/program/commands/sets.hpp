// SPDX-License-Identifier: Apache-2.0
// One request over several repositories (`start --repos A,B`): the set of its tasks, and what brings it to branches in all of
// them or in none.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "program/commands/start.hpp"

namespace agentforge::kernel {

/// Whether this names a set, not a task.
[[nodiscard]] bool is_set_id(std::string_view id);

/// One line for each unfinished set, with the command that continues it. If `place` is given, only sets with a part there.
[[nodiscard]] std::vector<std::string> unfinished_sets(const Program& program, const std::filesystem::path& place);

/// Begins a set and takes it as far as it goes. Returns the exit code.
int start_set(Program& program, const StartArguments& arguments, const std::string& request);
/// Goes on with a set: with its specification, its tasks, its branches; or takes back the branches that it cannot complete.
/// Returns the exit code.
int resume_set(Program& program, const std::string& id);
/// Ends a set for good: its tasks are aborted, and its branches, if it was about to make them, are removed. Returns the exit
/// code.
int abort_set(Program& program, const std::string& id, const std::string& reason);

}  // namespace agentforge::kernel
