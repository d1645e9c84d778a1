// SPDX-License-Identifier: Apache-2.0
// Archives ended tasks in the repository itself, under `refs/agentforge/archive/`, so `git clean -fdx` cannot delete their
// journals.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Writes the files of a task's folder (without its lock), and those of `escalations` with its id, into a tree and sets
/// `refs/agentforge/archive/<task-id>` to it. Replaces the previous archive, but keeps its blobs if the folder no longer has them
/// (`gc --blobs`). Writes nothing if the archive would be the same. All is on disk when the call returns. Errors: AF-GIT-054 a
/// file cannot be read, AF-GIT-069 the journal does not continue the archived one, AF-GIT-011, -099.
[[nodiscard]] Result<void> archive_task(const std::filesystem::path& repository, std::string_view task_id,
                                        const std::filesystem::path& folder, const std::filesystem::path& escalations);

/// Checks that `archive_task` may replace the archive. Errors: AF-GIT-069 the folder's journal does not continue the archived
/// one, AF-GIT-011.
[[nodiscard]] Result<void> check_continues_archive(const std::filesystem::path& repository, std::string_view task_id,
                                                   const std::filesystem::path& folder);

/// The size of a task's journal. A journal only grows, so its size identifies its state.
struct JournalSize {
    std::string task_id;
    std::uint64_t bytes = 0;
};
/// Returns the tasks that have no archive, or one whose journal is shorter. Reads no blobs. Errors: AF-GIT-001, -099.
[[nodiscard]] Result<std::vector<std::string>> without_archive(const std::filesystem::path& repository,
                                                               const std::vector<JournalSize>& journals);

struct ArchivedTask {
    std::string task_id;
    std::string request;  ///< First line of the request.
    std::string status;
    std::string updated_at;
};
/// Lists archived tasks by id. One whose ref is broken has no status.
[[nodiscard]] Result<std::vector<ArchivedTask>> archived_tasks(const std::filesystem::path& repository);

/// Returns the archived task that `name`, an abbreviation of its id or its ref, names (base/ids.hpp). Empty if there is none, or
/// more than one.
[[nodiscard]] Result<std::string> archived_task(const std::filesystem::path& repository, std::string_view name);

/// Restores an archived task, whole or not at all, or the blobs and the questions to people that a task lacks. If its folder
/// exists, leaves the other files as they are and returns those that are missing or differ from the archive, by their path below
/// the folder. Errors: AF-GIT-055 no such archive; `conflict` AF-GIT-056 nothing is missing; AF-GIT-057 the archive is not a
/// task's folder (a path that leads out of it, a link).
[[nodiscard]] Result<std::vector<std::string>> restore_task(const std::filesystem::path& repository, std::string_view task_id,
                                                            const std::filesystem::path& tasks,
                                                            const std::filesystem::path& escalations);

}  // namespace agentforge::kernel
