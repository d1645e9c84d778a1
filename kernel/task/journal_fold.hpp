// SPDX-License-Identifier: Apache-2.0
// Opens a task's state from a cached fold and the records after it. A missing or unusable cache costs time and changes no result.
#pragma once

#include <filesystem>
#include <functional>

#include "task/projected_end.hpp"
#include "task/snapshot_file.hpp"
#include "task/state.hpp"
#include "task/working_memory.hpp"

namespace agentforge::kernel {

/// Folds a task's journal from its snapshot, or else from its first record. Use: pass `visitor()` to Journal::open or
/// Journal::read, then take the results.
class JournalFold {
public:
    explicit JournalFold(std::filesystem::path journal);
    JournalFold(const JournalFold&) = delete;
    JournalFold& operator=(const JournalFold&) = delete;

    /// Valid as long as this object. `check` receives the task's name before anything else is read: the header, or the first
    /// record if an older version wrote the journal. Reading ends with AF-TASK-019 if `state.yaml` names a later record than the
    /// journal's last.
    [[nodiscard]] JournalVisitor visitor(std::function<Result<void>(const json::object& fields)> check = {});

    /// Folds the whole journal, and stores the result as `keep` does. Errors: those of Journal::read, of `fold` and of `visitor`.
    [[nodiscard]] Result<void> read();

    TaskState state;
    WorkingMemory memory;

    /// Stores the folded state for the next process that opens the task, if that saves it many records. `mark`: the journal's
    /// end.
    void keep(const JournalMark& mark);
    /// Record number of the snapshot that was used or stored. 0: there is none.
    [[nodiscard]] Sequence snapshot_at() const noexcept { return snapshot_at_; }

private:
    std::filesystem::path journal_;
    ProjectedEnd projected_;
    std::string owner_;                     ///< The task that the header names. Empty: none.
    std::optional<SnapshotFile> snapshot_;  ///< Empty if there is none that can be read.
    TaskState at_snapshot_;
    WorkingMemory memory_at_snapshot_;
    Sequence snapshot_at_ = 0;
};

/// Returns the snapshot's path, beside the journal.
[[nodiscard]] std::filesystem::path fold_snapshot_file(const std::filesystem::path& journal);
/// Replaces the snapshot. `mark`: the record after which `state` and `memory` were taken.
void keep_fold(const std::filesystem::path& journal, const JournalMark& mark, const TaskState& state,
               const WorkingMemory& memory);

}  // namespace agentforge::kernel
