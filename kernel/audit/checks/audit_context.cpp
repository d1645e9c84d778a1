// SPDX-License-Identifier: Apache-2.0
#include "audit/checks/audit_context.hpp"

#include <algorithm>

#include "git/objects.hpp"

namespace agentforge::kernel {

Result<AuditContext> AuditContext::open(const AuditPlace& place, const SignatureTools& tools, const Stop& stop,
                                        const TaskEvidence& evidence, AuditVerdict& verdict) {
    AuditContext context{place, tools, stop, evidence, verdict, {}};
    if (!place.repository.empty()) {
        AF_TRY(Repository repository, Repository::open(place.repository));
        AF_TRY(ObjectCheck objects, ObjectCheck::open(place.repository));
        context.repository.emplace(AuditRepository{place.repository, std::move(repository), std::move(objects)});
    }
    verdict.head = evidence.head();
    verdict.status = to_string(evidence.state.status);
    if (verdict.task_id.empty()) { verdict.task_id = evidence.state.task_id; }
    return context;
}

const Record* AuditContext::record(Sequence seq) const {
    const auto found = std::ranges::lower_bound(records(), seq, {}, &Record::seq);
    return found == records().end() || found->seq != seq ? nullptr : &*found;
}

Sequence AuditContext::shared_records() const {
    const json::value* const origin = evidence.header.if_contains("forked_from");
    return origin != nullptr && origin->is_object() ? unsigned_of(origin->get_object(), "seq") : 0;
}

void AuditContext::add_voucher(const std::string& who, Sequence seq) const {
    if (seq != 0) { verdict.vouchers.push_back({who, seq}); }
}

void AuditContext::report_failure(const std::string& part, const Error& error) const {
    const bool partial = is_partial_clone(place.repository);
    verdict.add(part, partial ? AuditAnswer::unchecked : AuditAnswer::fails,
                error.code + ": " + error.message + (error.where.empty() ? "" : " (" + error.where + ")") +
                    (partial ? ". This is a partial clone: clone without --filter to check everything" : ""));
}

std::uint64_t unsigned_of(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_int64() && value->get_int64() >= 0 ? static_cast<std::uint64_t>(value->get_int64()) : 0;
}

}  // namespace agentforge::kernel
