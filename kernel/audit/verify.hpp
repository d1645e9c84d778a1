// SPDX-License-Identifier: Apache-2.0
// Verifies that the files of a task are unchanged. Changes nothing, uses no network, and contacts no process of the task.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

#include "audit/evidence.hpp"
#include "audit/signature.hpp"

namespace agentforge::kernel {

enum class AuditAnswer : unsigned char {
    holds = 1,
    fails,
    unchecked  ///< Nothing exists to compare it with, or nothing confirms it. Reported, but not a fault.
};
[[nodiscard]] std::string_view to_string(AuditAnswer answer) noexcept;

struct AuditFinding {
    std::string part;  ///< journal, end, projections, files, blobs, artifacts, patches, trees, commit, statement, signature
    AuditAnswer answer = AuditAnswer::holds;
    std::string detail;
};

/// A finding that begins with this reports records after the statement of a task.
inline constexpr std::string_view grown_since = "the journal has grown since its statement";
/// A finding that begins with this reports that a delivery has no statement, though it should.
inline constexpr std::string_view no_statement = "the task carries no statement";

/// Evidence outside the journal that names one of its records.
struct AuditVoucher {
    std::string who;   ///< trailer, state, refs, log, archive, statement
    Sequence seq = 0;  ///< The journal is complete at least up to this record.
};

struct AuditVerdict {
    std::string task_id;  ///< Empty if not even that can be read.
    std::string what;     ///< What was verified, in words.
    std::string status;   ///< The task's. Empty if it cannot be read.
    JournalHead head;
    std::vector<AuditFinding> findings;
    std::vector<AuditVoucher> vouchers;

    [[nodiscard]] bool holds() const noexcept;
    void add(std::string part, AuditAnswer answer, std::string detail) {
        findings.push_back({std::move(part), answer, std::move(detail)});
    }
};
[[nodiscard]] json::object to_json(const AuditVerdict& verdict);

struct AuditPlace {
    std::string task_id;                ///< The task that the evidence must belong to. Empty: any.
    std::filesystem::path folder;       ///< The task's folder, or its copy from an archive.
    std::filesystem::path escalations;  ///< May be empty.
    std::filesystem::path repository;   ///< For commits, trees, refs. Empty: none is available.
    std::filesystem::path log;          ///< Empty: no log is checked.
    bool is_archive = false;            ///< The folder is the restored archive, so the archive is not a second witness.
    std::filesystem::path blobs = {};   ///< The archive's, if the folder has none (`gc --blobs`). Empty: they are in the folder.
};

/// Errors: `io` if the folder or the repository cannot be read at all. A failed verification is a finding, not an error.
[[nodiscard]] Result<AuditVerdict> verify_task(const AuditPlace& place, const SignatureTools& tools, const Stop& stop);

/// Verifies only the files that a statement about this evidence would name. Errors: as verify_task.
[[nodiscard]] Result<AuditVerdict> verify_files(const TaskEvidence& evidence, const std::filesystem::path& repository,
                                                const SignatureTools& tools, const Stop& stop);

/// The task named in a commit's trailers. Empty if they name none.
struct CommitTrailers {
    std::string task_id;
    Sequence seq = 0;
    std::string hash;
};
[[nodiscard]] CommitTrailers trailers_of(std::string_view message);

/// Returns AF-AUDT-004: neither the commit's task nor its archive is here.
[[nodiscard]] Error task_not_here(const std::string& commit);

/// Adds to the verdict on a task whether its proof is about this commit: the delivered one, with its tree and its
/// parent. A rebased, amended or cherry-picked commit is a different one, and the finding says how it differs. Errors:
/// AF-GIT-007.
[[nodiscard]] Result<void> verify_commit(AuditVerdict& verdict, const AuditPlace& place, const std::string& commit);

/// The same for a commit without its task: reports what the statement in its note says of it. Errors:
/// AF-GIT-007; AF-AUDT-003 the commit names no task.
[[nodiscard]] Result<AuditVerdict> verify_commit_alone(const std::filesystem::path& repository, const std::string& commit,
                                                       const SignatureTools& tools, const Stop& stop);

}  // namespace agentforge::kernel
