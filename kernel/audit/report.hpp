// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "audit/document.hpp"
#include "audit/verify.hpp"

namespace agentforge::kernel {

/// What an auditor asks of a task: what was asked for, each stage and decision, who approved what by which hash, what gates ran
/// and under which confinement, models, cost, violations, what was overridden, and whether all of it verifies. Every line names
/// the record that it is of.
[[nodiscard]] Document audit_report(const TaskEvidence& evidence, const AuditVerdict& verdict);

}  // namespace agentforge::kernel
