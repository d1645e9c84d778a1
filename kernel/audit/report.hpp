// SPDX-License-Identifier: Apache-2.0
// Writes the auditor's report on a task. A pure function of the evidence and the verdict.
#pragma once

#include "audit/audit_verdict.hpp"
#include "audit/document.hpp"
#include "audit/evidence.hpp"

namespace agentforge::kernel {

/// Returns the report on a task for an auditor: the request, each stage and decision, who approved what by which hash, the gates
/// that ran and their confinement, models, cost, violations, overrides, and whether everything verifies. Every line names its
/// record.
[[nodiscard]] Document audit_report(const TaskEvidence& evidence, const AuditVerdict& verdict);

}  // namespace agentforge::kernel
