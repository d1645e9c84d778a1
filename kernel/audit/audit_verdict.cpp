// SPDX-License-Identifier: Apache-2.0
#include "audit/audit_verdict.hpp"

#include <algorithm>

#include "base/json_fields.hpp"

namespace agentforge::kernel {

std::string_view to_string(AuditAnswer answer) noexcept {
    switch (answer) {
        case AuditAnswer::holds:
            return "holds";
        case AuditAnswer::fails:
            return "fails";
        case AuditAnswer::unchecked:
            return "unchecked";
    }
    return "unknown";
}

bool AuditVerdict::holds() const noexcept {
    return std::ranges::none_of(findings, [](const AuditFinding& finding) { return finding.answer == AuditAnswer::fails; });
}

json::object to_json(const AuditVerdict& verdict) {
    json::array findings;
    for (const AuditFinding& each : verdict.findings) {
        findings.push_back(json::object{{"part", each.part}, {"answer", to_string(each.answer)}, {"told", each.detail}});
    }
    json::array vouchers;
    for (const AuditVoucher& each : verdict.vouchers) { vouchers.push_back(json::object{{"who", each.who}, {"seq", each.seq}}); }
    return {{"task_id", verdict.task_id},      {"status", text_or_null(verdict.status)},
            {"verified", verdict.what},        {"holds", verdict.holds()},
            {"records", verdict.head.seq},     {"head", verdict.head.hash},
            {"findings", std::move(findings)}, {"vouchers", std::move(vouchers)}};
}

}  // namespace agentforge::kernel
