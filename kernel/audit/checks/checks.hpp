// SPDX-License-Identifier: Apache-2.0
// The checks of a verification, in their order. Each compares one part of a task with the others, and adds what it finds to the
// verdict. A check that returns an error could not finish; what it found until then is in the verdict.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>

#include <agentforge/result.hpp>

#include "audit/checks/archive_copy.hpp"
#include "audit/checks/audit_context.hpp"
#include "audit/statement_signature.hpp"
#include "task/own_journal.hpp"

namespace agentforge::kernel {

/// Checks whose journal it is, its header and its last line. Its records were verified when they were read.
void check_journal(AuditContext& context);

/// Checks that `state.yaml` and `working_memory.yaml` equal the journal's result at the record after which they were written.
void check_projections(AuditContext& context);

/// Checks the files that are no artifacts: task.yaml and the request, which are written once, before the journal; those that
/// people read or write; and that there are no others.
void check_own_files(AuditContext& context);

using BlobHashes = std::set<std::string, std::less<>>;
/// Checks that all blobs have the hashes of their names. Returns those that do. Needs no journal.
[[nodiscard]] BlobHashes check_blob_files(const AuditPlace& place, AuditVerdict& verdict);
/// Checks that all blobs that records name are among these.
void check_named_blobs(AuditContext& context, const BlobHashes& blobs);

/// Checks that the files of accepted artifacts, reviews and delivered patches are unchanged since then.
void check_artifacts(AuditContext& context);

/// Checks that the trees that records name are whole, and that the ref of each step points to the step's tree.
[[nodiscard]] Result<void> check_trees(AuditContext& context, AuditRepository& repository);

/// Checks that a step's patch equals git's difference of the trees before and after it.
void check_patches(AuditContext& context, const AuditRepository& repository);

/// The evidence that the delivered commit gives for the statement. Empty if the task made no commit, or it is not here.
struct DeliveredCommit {
    std::optional<std::string> note;
    CommitSignature signature;

    /// True if only a signed statement can be the task's.
    [[nodiscard]] bool needs_signed_statement(const TaskState& state) const {
        return signature.is_known ? signature.is_signed : state.delivery.signed_.value_or(false);
    }
};
/// Checks the commit that carries the change: its tree, its parent, its signature, and the record that its trailer names.
[[nodiscard]] Result<DeliveredCommit> check_delivered_commit(AuditContext& context, const AuditRepository& repository);
/// Checks that git shows the commit, its tree, its files and the archive as they are: with `refs/replace/ID` it shows another
/// object in place of ID, and with `info/grafts` other parents of a commit. Call it after the trees were checked.
[[nodiscard]] Result<void> check_replaced_objects(AuditContext& context, AuditRepository& repository);

/// Checks the project's log, which has steps and ends of tasks. It may be missing or rotated.
void check_log(AuditContext& context);
/// Checks that the journal has the last record that this machine wrote to it. `own`: was read before the journal, to which a
/// running process may append meanwhile.
void check_own_note(AuditContext& context, const Result<std::optional<OwnJournal::Note>>& own);
/// Checks that this journal continues the one in the archive.
[[nodiscard]] Result<void> check_archive(AuditContext& context, const ArchiveCopy& archive);
/// Reports what confirms the end of the journal: the vouchers that all other checks added.
void report_end(AuditVerdict& verdict);

/// The statement and its signature outside the task's folder.
struct StatementCopies {
    const ArchiveCopy& archive;
    const DeliveredCommit& commit;

    /// Returns the fault that this file of the proof was removed, with the place that still has it: the archive or the note.
    [[nodiscard]] std::string removal_text(std::string_view name, bool is_archived) const;
};
/// Checks that the statement equals the one computed from the task's files, that its copies do not differ, and its signature.
[[nodiscard]] Result<void> check_statement(AuditContext& context, const StatementCopies& copies);
/// Checks the signature of a statement that was made at this time.
[[nodiscard]] Result<void> check_statement_signature(AuditContext& context, const StatementCopies& copies,
                                                     const std::string& statement, std::chrono::sys_seconds time);

}  // namespace agentforge::kernel
