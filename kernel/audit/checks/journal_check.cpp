// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <fstream>

#include "audit/checks/audit_part.hpp"
#include "audit/checks/checks.hpp"
#include "base/counted.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

/// Checks the form and the order of a header. The chain of records covers its values. `whose`: `its`, or a file's name.
void check_header(const std::filesystem::path& journal, const json::object& header, const std::string& whose, AuditPart& part) {
    constexpr std::array order{"task_id", "request", "started_at", "pipeline", "task_sha256", "forked_from"};
    auto next = order.begin();
    for (const auto& [key, value] : header) {
        const auto place = std::find(order.begin(), order.end(), std::string_view(key));
        if (place != order.end() && place < next) {
            part.fault(whose + " header was changed: the field " + std::string(key) + " is in another place");
        }
        if (place != order.end()) { next = place; }
    }
    std::string expected = "agentforge_journal: 1\n";
    for (const auto& [key, value] : header) { expected += std::string(key) + ": " + to_json_line(value) + "\n"; }
    expected += "actions:\n";
    std::string begin(expected.size(), '\0');
    std::ifstream in(journal, std::ios::binary);
    in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    if (begin != expected) { part.fault(whose + " header has changed since it was written"); }
}

/// Checks what an archive has of the journals that this one continues: also the records after the one where it begins.
void check_continued_journals(const TaskEvidence& evidence, AuditPart& part) {
    const auto files = Journal::files(evidence.paths.journal());
    if (!files.ok()) { return part.fault(files.error().message); }
    for (const JournalFile& file : *files) {
        if (file.path == evidence.paths.journal()) { continue; }
        const std::string name = "history/" + file.path.filename().string();
        json::object header;
        const auto keep = [&](const json::object& fields) -> Result<void> {
            header = fields;
            return {};
        };
        const auto read = Journal::read_whole(evidence.paths.journal(), file, JournalVisitor{.header = keep});
        if (!read.ok()) {
            part.fault(name + ": " + read.error().message);
        } else if (read->torn_tail) {
            part.fault(name + ": its last line is incomplete (" + std::to_string(read->torn_bytes) + " bytes)");
        } else {
            check_header(file.path, header, name + ": its", part);
        }
    }
}

}  // namespace

void check_journal(AuditContext& context) {
    AuditPart part(context.verdict, "journal");
    const TaskEvidence& evidence = context.evidence;
    if (context.state().task_id != context.verdict.task_id) {
        part.fault("it is the journal of task " + context.state().task_id + ", not of " + context.verdict.task_id);
    }
    if (const std::string named = text_of(evidence.header, "task_id"); !named.empty() && named != context.state().task_id) {
        part.fault("its header names task " + named);
    }
    if (evidence.recovery.torn_tail) {
        part.fault("its last line is incomplete (" + std::to_string(evidence.recovery.torn_bytes) +
                   " bytes): the next run of the task sets it aside");
    }
    check_header(evidence.paths.journal(), evidence.header, "its", part);
    if (context.place.is_archive) { check_continued_journals(evidence, part); }
    part.passed(counted(context.records().size(), "record", "records") +
                ", each allowed in the state that the one before leaves, up to " + context.verdict.head.hash);
}

}  // namespace agentforge::kernel
