// SPDX-License-Identifier: Apache-2.0
// Reads `state.yaml`, the projection of a task's journal. Private to kernel/task.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "task/task_store.hpp"

namespace agentforge::kernel {

/// Errors: those of read_file; `corrupt` AF-TASK-004.
[[nodiscard]] Result<json::object> read_state(const std::filesystem::path& path);

struct ProjectedSummary {
    TaskSummary summary;
    Sequence seq = 0;  ///< The last record in the projection. 0: it was written before the first.
    std::string hash;  ///< Its hash.
};
/// Reads the few texts that a listing shows, and skips the rest without building it: with a thousand tasks, that would take most
/// of the time. Errors: those of read_state.
[[nodiscard]] Result<ProjectedSummary> read_summary(const std::filesystem::path& path);

/// Returns AF-TASK-004: the state in this task's folder names another one.
[[nodiscard]] Error state_of_another(const TaskPaths& place, std::string_view task_id, std::string_view named);

}  // namespace agentforge::kernel
