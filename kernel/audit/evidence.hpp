// SPDX-License-Identifier: Apache-2.0
// What a task has left behind: its folder, and what people were asked. An archive is the same, written to a folder of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "journal/journal.hpp"
#include "task/state.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// Files of the proof itself, below the task's folder.
inline constexpr std::string_view statement_file = "proof/statement.json";
inline constexpr std::string_view signature_file = "proof/statement.json.sig";
/// A larger file is not read: no task writes one.
inline constexpr std::uint64_t largest_file = 4ULL << 30U;

struct TaskEvidence {
    TaskPaths paths;
    std::filesystem::path escalations;  ///< `.agentforge/escalations`, or an archive's; may be missing.
    json::object header;
    std::vector<Record> records;  ///< A fork's with those that it shares.
    Recovery recovery;
    TaskState state;  ///< After the last record.

    [[nodiscard]] JournalHead head() const {
        return records.empty() ? JournalHead() : JournalHead{records.back().seq, records.back().hash};
    }

    /// Reads, verifies and folds the journal in `folder`. Errors: AF-JRNL-…, AF-TASK-010 to -012, AF-AUDT-010 it has no record.
    [[nodiscard]] static Result<TaskEvidence> read(const std::filesystem::path& folder, const std::filesystem::path& escalations);
};

/// The files of the task, with the SHA-256 of each: those of the folder by their path below it, those of people's questions as
/// `escalations/…`. Left out are the proof itself, what only processes use, and the projections, which the journal gives anew.
/// Errors: AF-BASE-011, AF-AUDT-009.
[[nodiscard]] Result<std::map<std::string, std::string>> files_of_task(const TaskEvidence& evidence);
/// Whether `files_of_task` leaves out this file of the folder.
[[nodiscard]] bool is_passing_file(std::string_view name);

}  // namespace agentforge::kernel
