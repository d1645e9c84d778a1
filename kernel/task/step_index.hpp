// SPDX-License-Identifier: Apache-2.0
// The offsets of a task's step records in its journal: finds step N with two reads.
//
// The file `.steps` beside the journal has a header, then eight bytes for each step by its number: the record's offset and, in
// the highest byte, the number of the journal that holds it (0 this one, 1 the one that it continues, and so on). It is a cache.
// An entry is valid only if the record at that place is of that step, verified by its own hash, and belongs to this task: records
// that another task wrote after the fork do not. If an entry is missing (0) or wrong, the index scans the journal and repairs the
// entry.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/files.hpp"
#include "journal/journal.hpp"
#include "journal/journal_tail.hpp"

namespace agentforge::kernel {

/// One thread at a time; any number of processes.
class StepIndex {
public:
    explicit StepIndex(std::filesystem::path journal) : journal_(std::move(journal)) {}

    /// Stores the offset of a step's record in this journal. Not synced. Does nothing if the folder cannot be written.
    void note(std::uint64_t step, JournalOffset at);
    /// Returns the record of step `number`, verified by its own hash but not by the chain. Returns nothing if the task has no
    /// such step. Errors: `not_found` AF-JRNL-007; `corrupt` AF-JRNL-002, AF-JRNL-013; `io` AF-JRNL-003.
    [[nodiscard]] Result<std::optional<Record>> find(std::uint64_t number);

private:
    [[nodiscard]] std::optional<std::uint64_t> entry(std::uint64_t number);
    [[nodiscard]] Result<std::optional<Record>> record_at(std::uint64_t entry, std::uint64_t number);
    [[nodiscard]] Result<std::optional<std::uint64_t>> search(std::uint64_t number);
    [[nodiscard]] bool open(bool to_write);

    std::filesystem::path journal_;
    FileDescriptor file_;
    bool writes_ = false;
};

/// Returns the index's path, beside the journal.
[[nodiscard]] std::filesystem::path step_index_file(const std::filesystem::path& journal);

}  // namespace agentforge::kernel
