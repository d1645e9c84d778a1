// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>

#include "task/snapshot_file.hpp"
#include "task/state.hpp"
#include "task/working_memory.hpp"

namespace agentforge::kernel {

/// A journal being folded from its snapshot, or else from its first record. Use: give `visitor()` to Journal::open or
/// Journal::read, then take the results.
class JournalFold {
public:
    explicit JournalFold(std::filesystem::path journal);
    JournalFold(const JournalFold&) = delete;
    JournalFold& operator=(const JournalFold&) = delete;

    /// Valid as long as this object. `check` sees what names the task before anything else is looked at: the header, or the first
    /// record where an older version wrote the journal.
    [[nodiscard]] JournalVisitor visitor(std::function<Result<void>(const json::object& fields)> check = {});

    TaskState state;
    WorkingMemory memory;

    /// Keeps what was folded for the next opener, where that spares it many records. `mark`: the journal's end.
    void keep(const JournalMark& mark);
    /// Of the snapshot that counts, or was kept; 0: there is none.
    [[nodiscard]] Sequence snapshot_at() const noexcept { return snapshot_at_; }

private:
    std::filesystem::path journal_;
    std::optional<SnapshotFile> snapshot_;  ///< Empty: none can be read.
    TaskState at_snapshot_;
    WorkingMemory memory_at_snapshot_;
    Sequence snapshot_at_ = 0;
};

/// Beside the journal.
[[nodiscard]] std::filesystem::path fold_snapshot_file(const std::filesystem::path& journal);
/// Replaces the snapshot. `mark`: the record that `state` and `memory` stand at.
void keep_fold(const std::filesystem::path& journal, const JournalMark& mark, const TaskState& state,
               const WorkingMemory& memory);

}  // namespace agentforge::kernel
