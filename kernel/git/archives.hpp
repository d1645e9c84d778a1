// SPDX-License-Identifier: Apache-2.0
// Ended tasks kept in the repository itself, under `refs/agentforge/archive/`, so that `git clean -fdx` loses no journal.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Writes the files of a task's folder (without its lock) and those of `escalations` that carry its id into a tree, and sets
/// `refs/agentforge/archive/<task-id>` to it, in place of the one before, whose blobs stay in it where the folder has them no
/// more (`gc --blobs`). Nothing is written where that one holds the same. All of it is on disk then. Errors: AF-GIT-054 a file
/// cannot be read, AF-GIT-011, -099.
[[nodiscard]] Result<void> archive_task(const std::filesystem::path& repository, std::string_view task_id,
                                        const std::filesystem::path& folder, const std::filesystem::path& escalations);

struct ArchivedTask {
    std::string task_id;
    std::string request;  ///< Its first line.
    std::string status;
    std::string updated_at;
};
/// By id. One whose ref leads nowhere has no status.
[[nodiscard]] Result<std::vector<ArchivedTask>> archived_tasks(const std::filesystem::path& repository);

/// Writes an archived task back: whole or not at all. Errors: AF-GIT-055 no such archive; `conflict` AF-GIT-056 the task's folder
/// is there; AF-GIT-057 what is archived is no task's folder (a path that leads out of it, a link).
[[nodiscard]] Result<void> restore_task(const std::filesystem::path& repository, std::string_view task_id,
                                        const std::filesystem::path& tasks, const std::filesystem::path& escalations);

}  // namespace agentforge::kernel
