// SPDX-License-Identifier: Apache-2.0
// The files that a task leaves behind: its folder, and the questions to people. An archive holds the same, in a separate folder.
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
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// The proof's own files, below the task's folder.
inline constexpr std::string_view statement_file = "proof/statement.json";
inline constexpr std::string_view signature_file = "proof/statement.json.sig";
/// Larger files are not read: no task writes one.
inline constexpr std::uint64_t largest_file = 4ULL << 30U;

struct TaskEvidence {
    TaskPaths paths;
    std::filesystem::path blobs;        ///< The folder of its blobs: its own, or the archive's if `gc --blobs` freed them.
    std::filesystem::path escalations;  ///< `.agentforge/escalations`, or an archive's. May be missing.
    json::object header;
    std::vector<Record> records;  ///< For a fork, includes the records that it shares.
    Recovery recovery;
    TaskState state;  ///< State after the last record.

    [[nodiscard]] JournalHead head() const {
        return records.empty() ? JournalHead() : JournalHead{records.back().seq, records.back().hash};
    }

    /// Reads, verifies and folds the journal in `folder`. `blobs`: empty if they are in `folder`. Errors: AF-JRNL-…, AF-TASK-010
    /// to -012, AF-AUDT-010 it has no record.
    [[nodiscard]] static Result<TaskEvidence> read(const std::filesystem::path& folder, const std::filesystem::path& escalations,
                                                   const std::filesystem::path& blobs = {});
};

/// Returns the task's files with their SHA-256: those of the folder by their path below it, those of questions to people as
/// `escalations/…`. Leaves out the proof itself, files of running processes, the projections, which the journal can
/// reproduce, and the files that a fork shares with its parent. Errors: AF-BASE-011, AF-AUDT-009.
[[nodiscard]] Result<std::map<std::string, std::string>> files_of_task(const TaskEvidence& evidence);
/// True for a file that a killed `archive restore` left; the next one removes it.
[[nodiscard]] bool is_unfinished_restore(std::string_view name);
/// True for a file of which the journal knows only that it may exist: an answer from before its question, or what a crash left of
/// a record or of another file. No statement names it.
[[nodiscard]] bool is_left_over(std::string_view name);
/// True if `files_of_task` leaves out this file of the folder.
[[nodiscard]] bool is_transient_file(std::string_view name);

}  // namespace agentforge::kernel
