// SPDX-License-Identifier: Apache-2.0
#include "audit/checks/audit_part.hpp"
#include "audit/checks/checks.hpp"
#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "records/records.hpp"
#include "task/working_memory.hpp"

namespace agentforge::kernel {

namespace {

/// What the journal up to a record amounts to.
struct Projections {
    TaskState state;
    WorkingMemory memory;
};

Projections projections_at(const std::vector<Record>& records, Sequence seq) {
    Projections then;
    for (const Record& each : records) {
        auto typed = each.seq > seq ? Result<records::AnyRecord>(Error{}) : fold_and_read(then.state, each.body);
        if (!typed.ok()) { break; }
        then.state.hash = each.hash;
        then.memory.add(std::move(*typed));
    }
    return then;
}

/// Returns the record after which `state.yaml` was written. Nothing if it cannot be compared, which is then reported.
std::optional<Sequence> record_of_state(const AuditContext& context, AuditPart& part, const std::string& text) {
    const auto parsed = parse_json(text, "state.yaml");
    const json::object* written = parsed.ok() ? parsed->if_object() : nullptr;
    if (written == nullptr || unsigned_of(*written, "seq") == 0) {
        if (written != nullptr && context.records().size() == 1) { return {}; }  // As created, before the first record.
        if (written != nullptr && text_of(*written, "status") == "pending") {
            part.unchecked("state.yaml is unchanged since the task was created; it can be rebuilt from the journal");
            return {};
        }
        part.fault("state.yaml cannot be read");
        return {};
    }
    const Sequence seq = unsigned_of(*written, "seq");
    const std::string hash = text_of(*written, "hash");
    if (seq > context.verdict.head.seq) {
        part.fault("state.yaml names record " + std::to_string(seq) + ", but the journal ends with record " +
                   std::to_string(context.verdict.head.seq) + ": its end was cut off");
        return {};
    }
    const Record* const known = context.record(seq);
    if (known == nullptr || known->hash != hash) {
        part.fault("state.yaml and the journal have different hashes for record " + std::to_string(seq));
        return {};
    }
    return seq;
}

/// Returns the last record after which this text was written. 0: none.
Sequence record_of_memory(const std::vector<Record>& records, const std::string& text) {
    Sequence found = 0;
    Projections then;
    for (const Record& each : records) {
        auto typed = fold_and_read(then.state, each.body);
        if (!typed.ok()) { break; }
        then.memory.add(std::move(*typed));
        if (then.memory.text() == text) { found = each.seq; }
    }
    return found;
}

/// Returns false if the file was not compared, because it does not exist, or belongs to another record.
bool compare_working_memory(const AuditContext& context, AuditPart& part, const WorkingMemory& memory, Sequence seq) {
    const auto shown = read_file(context.evidence.paths.working_memory(), largest_file);
    // Empty: a power cut came before its bytes were on disk.
    const bool missing = shown.ok() ? shown->empty() : shown.error().kind == ErrorKind::not_found;
    if (missing) {
        part.unchecked("working_memory.yaml does not exist, or is empty; it can be rebuilt from the journal");
    } else if (!shown.ok()) {
        part.fault("working_memory.yaml cannot be read: " + shown.error().message);
    } else if (*shown != memory.text()) {
        // A process killed after it wrote one of the two files leaves the other one of an earlier record. After a power cut
        // either may be the older one.
        const Sequence own = record_of_memory(context.records(), *shown);
        if (own == 0) {
            part.fault("working_memory.yaml differs from the text computed from the journal at record " + std::to_string(seq));
        } else {
            part.unchecked("working_memory.yaml is of record " + std::to_string(own) + ", and state.yaml of record " +
                           std::to_string(seq) +
                           ": a process ended between writing the two. Both can be rebuilt from the journal");
            return false;
        }
    }
    return !missing;
}

}  // namespace

void check_projections(AuditContext& context) {
    AuditPart part(context.verdict, "projections");
    const auto text = read_file(context.evidence.paths.state(), largest_file);
    if (!text.ok() || text->empty()) {  // Empty: a power cut came before its bytes were on disk.
        part.unchecked(
            "state.yaml does not exist, or is empty; it can be rebuilt from the journal. working_memory.yaml was not compared");
        return;
    }
    const auto seq = record_of_state(context, part, *text);
    if (!seq) { return; }
    const Projections then = projections_at(context.records(), *seq);
    if (to_json_pretty(to_json(then.state)) != *text) {
        part.fault("state.yaml differs from the state computed from the journal at record " + std::to_string(*seq));
    } else {
        context.add_voucher("state", *seq);
    }
    const bool both = compare_working_memory(context, part, then.memory, *seq);
    part.passed((both ? "state.yaml and working_memory.yaml match" : "state.yaml matches") +
                std::string(" the journal at record ") + std::to_string(*seq));
}

}  // namespace agentforge::kernel
