// SPDX-License-Identifier: Apache-2.0
// Reads `state.yaml`, the projection of a task's journal.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "journal/journal.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// Notices that the end of a journal was cut off: `state.yaml` is written after each record, so it never names a later one than
/// the journal's last.
class ProjectedEnd {
public:
    /// Reads `state.yaml`. Create it before reading the journal, to which a running process may append meanwhile. A file that is
    /// missing, cannot be read or names another task says nothing.
    explicit ProjectedEnd(const TaskPaths& place);
    /// `end`: the journal's last record. `owner`: the task that the journal's header names; empty if it names none. Errors:
    /// `corrupt` AF-TASK-019. None if there is no record at all (AF-TASK-014), or if the journal is another task's (AF-TASK-015).
    [[nodiscard]] Result<void> check(const JournalHead& end, std::string_view owner) const;

private:
    TaskPaths place_;
    Sequence seq_ = 0;
    std::string hash_;
};

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
