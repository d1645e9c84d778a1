// SPDX-License-Identifier: Apache-2.0
// The findings on one part of a task.
#pragma once

#include <string>
#include <vector>

#include "audit/audit_verdict.hpp"

namespace agentforge::kernel {

/// Collects what a check finds, and adds it to the verdict at the end of its scope: the first 20 faults and the number of
/// others, or without a fault what holds; then everything that was not checked.
class AuditPart {
public:
    /// `verdict` must outlive the part.
    AuditPart(AuditVerdict& verdict, std::string name) : verdict_(verdict), name_(std::move(name)) {}
    ~AuditPart();
    AuditPart(const AuditPart&) = delete;
    AuditPart& operator=(const AuditPart&) = delete;

    void fault(std::string detail) { faults_.push_back(std::move(detail)); }
    void unchecked(std::string detail) { unchecked_.push_back(std::move(detail)); }
    /// Sets what holds if there is no fault. Without it, a part without a fault adds nothing.
    void passed(std::string detail) { detail_ = std::move(detail); }

private:
    AuditVerdict& verdict_;
    std::string name_;
    std::vector<std::string> faults_;
    std::vector<std::string> unchecked_;
    std::string detail_;
};

}  // namespace agentforge::kernel
