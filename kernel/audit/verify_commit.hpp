// SPDX-License-Identifier: Apache-2.0
// Verifies that a proof belongs to a commit: that of its task or, where the task is not here, that of the commit's note.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

#include "audit/audit_place.hpp"
#include "audit/audit_verdict.hpp"
#include "audit/signature.hpp"

namespace agentforge::kernel {

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
