// SPDX-License-Identifier: Apache-2.0
// Finds a set by its id, and lists the sets that have not ended.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.hpp"
#include "task/task_set.hpp"

namespace agentforge::kernel {

/// The id of every set begins with this.
inline constexpr std::string_view set_prefix = "set-";

/// True if this names a set, not a task.
[[nodiscard]] bool is_set_id(std::string_view id);

/// Returns the folder of the set with this id, or with a unique part of it. Errors: AF-SET-007.
[[nodiscard]] Result<std::filesystem::path> find_set_folder(const Program& program, const std::string& id);

/// Finds a set by its id or a unique part of it. Errors: AF-SET-007; those of load_set.
[[nodiscard]] Result<TaskSet> find_set(const Program& program, const std::string& id);

/// Returns one line for each unfinished set, with the command that continues it. `place`: only sets with a part there, if given.
[[nodiscard]] std::vector<std::string> unfinished_sets(const Program& program, const std::filesystem::path& place);

}  // namespace agentforge::kernel
