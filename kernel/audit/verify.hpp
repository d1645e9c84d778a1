// SPDX-License-Identifier: Apache-2.0
// Whether what a task left behind is what it wrote. Nothing is changed, no network is used, no process of the task is asked.
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
    unchecked  ///< What it would be held against is not here, or nothing vouches for it. It says so and is no fault.
};
[[nodiscard]] std::string_view to_string(AuditAnswer answer) noexcept;

struct AuditFinding {
    std::string part;  ///< journal, end, projections, files, blobs, artifacts, patches, trees, commit, statement, signature
    AuditAnswer answer = AuditAnswer::holds;
    std::string told;
};

/// Something outside the journal that knows how far it goes.
struct AuditVoucher {
    std::string who;   ///< trailer, state, refs, log, archive, statement
    Sequence seq = 0;  ///< Up to this record the journal is at least as long as it was.
};

struct AuditVerdict {
    std::string task_id;  ///< Empty where not even that can be read.
    std::string what;     ///< What was verified, in words.
    JournalHead head;
    std::vector<AuditFinding> findings;
    std::vector<AuditVoucher> vouchers;

    [[nodiscard]] bool holds() const noexcept;
    void add(std::string part, AuditAnswer answer, std::string told) {
        findings.push_back({std::move(part), answer, std::move(told)});
    }
};
[[nodiscard]] json::object to_json(const AuditVerdict& verdict);

struct AuditPlace {
    std::string task_id;                ///< Whose evidence it must be; empty: whoever's it is.
    std::filesystem::path folder;       ///< The task's folder, or what an archive held of it.
    std::filesystem::path escalations;  ///< May be empty.
    std::filesystem::path repository;   ///< For commits, trees, refs; empty: none is here.
    std::filesystem::path log;          ///< Empty: none is looked at.
    bool is_archive = false;            ///< The folder was written from the archive: it vouches for itself no more.
};

/// Errors: `io` where the folder or the repository cannot be read at all. What does not verify is a finding, not an error.
[[nodiscard]] Result<AuditVerdict> verify_task(const AuditPlace& place, const SignatureTools& tools, const Stop& stop);

/// The task that a commit's trailers name; empty where they name none.
struct CommitTrailers {
    std::string task_id;
    Sequence seq = 0;
    std::string hash;
};
[[nodiscard]] CommitTrailers trailers_of(std::string_view message);

/// Adds to the verdict about a task (of `evidence`) whether its proof is about this commit: the one that was delivered, with its
/// tree and its parent. One that was rebased, amended or cherry-picked is another, and the finding says in what. Errors:
/// AF-GIT-007.
[[nodiscard]] Result<void> verify_commit(AuditVerdict& verdict, const AuditPlace& place, const std::string& commit);

/// The same where nothing but a note is here (or nothing at all): what the note's statement says of this commit. Errors:
/// AF-GIT-007; AF-AUDT-003 the commit names no task.
[[nodiscard]] Result<AuditVerdict> verify_commit_alone(const std::filesystem::path& repository, const std::string& commit,
                                                       const SignatureTools& tools, const Stop& stop);

}  // namespace agentforge::kernel
