// SPDX-License-Identifier: Apache-2.0
// What a verification found, part by part, and the evidence for the journal's end.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agentforge/json.hpp>

#include "journal/journal.hpp"

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

}  // namespace agentforge::kernel
