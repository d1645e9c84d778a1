// SPDX-License-Identifier: Apache-2.0
// What the checks of one verification share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "audit/audit_place.hpp"
#include "audit/audit_verdict.hpp"
#include "audit/evidence.hpp"
#include "audit/signature.hpp"
#include "git/object_check.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

/// The repository that has the task's trees, its commit and its archive.
struct AuditRepository {
    std::filesystem::path path;
    Repository git;
    ObjectCheck objects;  ///< Remembers the objects that a check has read.
};

/// All references must outlive it.
struct AuditContext {
    const AuditPlace& place;
    const SignatureTools& tools;
    const Stop& stop;
    const TaskEvidence& evidence;
    AuditVerdict& verdict;
    std::optional<AuditRepository> repository;  ///< Empty if `place` names none.

    /// Opens the repository, and sets the task, its status and its last record in the verdict. Errors: AF-GIT-001 to -004.
    [[nodiscard]] static Result<AuditContext> open(const AuditPlace& place, const SignatureTools& tools, const Stop& stop,
                                                   const TaskEvidence& evidence, AuditVerdict& verdict);

    [[nodiscard]] const TaskState& state() const { return evidence.state; }
    [[nodiscard]] const std::vector<Record>& records() const { return evidence.records; }
    [[nodiscard]] std::filesystem::path file(std::string_view name) const { return place.folder / name; }
    [[nodiscard]] bool is_fork() const { return evidence.header.contains("forked_from"); }
    /// Returns the record with this number. Null if the journal does not have it.
    [[nodiscard]] const Record* record(Sequence seq) const;
    /// Returns the number of the last record that a fork shares with its parent. 0: the task is not a fork.
    [[nodiscard]] Sequence shared_records() const;

    /// Adds evidence for the journal up to a record. 0: it names no record, so it is none.
    void add_voucher(const std::string& who, Sequence seq) const;
    /// Reports a part that could not be verified completely, mostly because an object is damaged or missing.
    void report_failure(const std::string& part, const Error& error) const;
    void report_if_failed(const std::string& part, const Result<void>& check) const {
        if (!check.ok()) { report_failure(part, check.error()); }
    }
    /// The same. Returns the result of the check, or an empty one if it failed.
    template <class T>
    [[nodiscard]] T result_or_report(const std::string& part, Result<T> check) const {
        if (check.ok()) { return std::move(check).value(); }
        report_failure(part, check.error());
        return T();
    }
};

/// Returns a whole number that is not negative. 0 if the object has none under this key.
[[nodiscard]] std::uint64_t unsigned_of(const json::object& object, std::string_view key);

}  // namespace agentforge::kernel
