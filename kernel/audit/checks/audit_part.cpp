// SPDX-License-Identifier: Apache-2.0
#include "audit/checks/audit_part.hpp"

#include <algorithm>

namespace agentforge::kernel {

namespace {

constexpr std::size_t max_faults = 20;

}  // namespace

AuditPart::~AuditPart() {
    for (std::size_t at = 0; at < std::min(faults_.size(), max_faults); ++at) {
        verdict_.add(name_, AuditAnswer::fails, std::move(faults_[at]));
    }
    if (faults_.size() > max_faults) {
        verdict_.add(name_, AuditAnswer::fails, "and " + std::to_string(faults_.size() - max_faults) + " more");
    }
    if (faults_.empty() && !detail_.empty()) { verdict_.add(name_, AuditAnswer::holds, std::move(detail_)); }
    for (std::string& each : unchecked_) { verdict_.add(name_, AuditAnswer::unchecked, std::move(each)); }
}

}  // namespace agentforge::kernel
