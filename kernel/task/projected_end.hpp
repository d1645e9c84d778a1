// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "journal/journal.hpp"
#include "task/task_paths.hpp"

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

}  // namespace agentforge::kernel
