// SPDX-License-Identifier: Apache-2.0
// Where the records of a task's steps stand in its journal, so that step N is found in two reads.
//
// `.steps` beside the journal: a header, then eight bytes for each step, by its number: the record's offset, and in the highest
// byte which journal holds it: 0 this one, 1 the one that it goes on from, and so on. It is a cache: an entry counts only where
// the record of that step stands there, verified by its own hash, and is one of this task: what another task recorded after the
// record that this one goes on from is not. What is missing (0) or wrong is found again by a look at each line and written into
// the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/files.hpp"
#include "journal/journal.hpp"
#include "journal/tail.hpp"

namespace agentforge::kernel {

/// One thread at a time; any number of processes.
class StepIndex {
public:
    explicit StepIndex(std::filesystem::path journal) : journal_(std::move(journal)) {}

    /// Notes where the record of a step of this journal begins. Not synced; a folder that cannot be written stays as it is.
    void note(std::uint64_t step, JournalOffset at);
    /// The record of step `number`, verified by its own hash, not by the chain; nothing where the task has no such step.
    /// Errors: `not_found` AF-JRNL-007; `corrupt` AF-JRNL-002, AF-JRNL-013; `io` AF-JRNL-003.
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

/// Beside the journal.
[[nodiscard]] std::filesystem::path step_index_file(const std::filesystem::path& journal);

}  // namespace agentforge::kernel
