// SPDX-License-Identifier: Apache-2.0
// Verifies that the files of a task are unchanged. Changes nothing, uses no network, and contacts no process of the task.
#pragma once

#include <filesystem>

#include <agentforge/result.hpp>

#include "audit/audit_place.hpp"
#include "audit/audit_verdict.hpp"
#include "audit/evidence.hpp"
#include "audit/signature.hpp"

namespace agentforge::kernel {

/// Errors: `io` if the folder or the repository cannot be read at all. A failed verification is a finding, not an error.
[[nodiscard]] Result<AuditVerdict> verify_task(const AuditPlace& place, const SignatureTools& tools, const Stop& stop);

/// Verifies only the files that a statement about this evidence would name. Errors: as verify_task.
[[nodiscard]] Result<AuditVerdict> verify_files(const TaskEvidence& evidence, const std::filesystem::path& repository,
                                                const SignatureTools& tools, const Stop& stop);

}  // namespace agentforge::kernel
