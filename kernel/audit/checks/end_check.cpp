// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>

#include "audit/checks/audit_part.hpp"
#include "audit/checks/checks.hpp"
#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

/// How far the task came by the project's log.
struct LoggedProgress {
    std::uint64_t steps = 0;
    bool completed = false;
};

LoggedProgress logged_progress(const std::string& log, const std::string& task_id) {
    LoggedProgress progress;
    const std::string mark = "\"" + task_id + "\"";
    for (const std::string& name : {log, log + ".1", log + ".2", log + ".3"}) {
        std::ifstream in(name, std::ios::binary);
        for (std::string line; std::getline(in, line);) {
            if (line.find(mark) == std::string::npos) { continue; }
            const auto parsed = parse_json(line, "log");
            const json::object* event = parsed.ok() ? parsed->if_object() : nullptr;
            if (event == nullptr || text_of(*event, "task_id") != task_id) { continue; }
            progress.steps = std::max(progress.steps, unsigned_of(*event, "step"));
            progress.completed = progress.completed || text_of(*event, "event") == records::TaskCompleted::type;
        }
    }
    return progress;
}

/// True if another folder has the record that the note names.
bool continued_in_copy(const OwnJournal::Note& note, const std::filesystem::path& here) {
    std::error_code error;
    if (note.task.empty() || std::filesystem::equivalent(note.task, here, error)) { return false; }
    return note.is_about(note.task);
}

}  // namespace

void check_log(AuditContext& context) {
    if (context.place.log.empty()) { return; }
    AuditPart part(context.verdict, "end");
    const LoggedProgress logged = logged_progress(context.place.log.string(), context.verdict.task_id);
    if (logged.steps > context.state().steps) {
        part.fault("the log has step " + std::to_string(logged.steps) + ", but the journal ends with step " +
                   std::to_string(context.state().steps) + ": its end was cut off");
    }
    const bool known = std::ranges::any_of(context.records(), [](const Record& each) {
        return each.type() == records::TaskCompleted::type;
    });  // The task may have continued since.
    if (logged.completed && !known) {
        part.fault("the log says that the task was completed, but the journal does not: its end was cut off");
    }
    Sequence seq = 0;
    for (const Record& each : context.records()) {
        if (each.type() == records::Step::type && records::envelope_in(each).step <= logged.steps) {
            seq = std::max(seq, each.seq);
        }
        if (each.type() == records::TaskCompleted::type && logged.completed) { seq = std::max(seq, each.seq); }
    }
    context.add_voucher("log", seq);
}

void check_own_note(AuditContext& context, const Result<std::optional<OwnJournal::Note>>& own) {
    AuditPart part(context.verdict, "end");
    if (!own.ok()) {
        part.unchecked(own.error().to_string());
        return;
    }
    if (!*own) { return; }
    const OwnJournal::Note& note = **own;
    const std::string file = (context.place.own_journals / context.evidence.paths.root.filename()).string();
    const auto is_hash = [](const std::string& text) {
        return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
    };
    if (!is_hash(note.head) || !is_hash(note.next)) {
        part.unchecked(file + " is damaged: it does not name the last record that this machine wrote");
        return;
    }
    const auto last = std::ranges::find_if(context.records().rbegin(), context.records().rend(),
                                           [&](const Record& each) { return each.hash == note.head || each.hash == note.next; });
    if (last != context.records().rend()) {
        context.add_voucher("machine", last->seq);
        return;
    }
    const std::string lacks =
        "the journal lacks the last record that this machine wrote to the task (" + note.head + ", named in " + file + ")";
    if (continued_in_copy(note, context.evidence.paths.root)) {
        part.unchecked(lacks + ": " + note.task.string() +
                       " has it, so the task continued in that copy, or this journal's end was cut off");
    } else {
        part.fault(lacks + ": its end was cut off, or this is an older copy of the task");
    }
}

Result<void> check_archive(AuditContext& context, const ArchiveCopy& archive) {
    if (!archive.exists()) { return {}; }
    AuditPart part(context.verdict, "end");
    AF_TRY(const auto archived, archive.file("actions.yaml"));
    AF_TRY(const std::string here, read_file(context.evidence.paths.journal(), largest_file));
    if (!archived || !here.starts_with(*archived)) {
        part.fault("the journal does not begin with the one that the repository keeps (" + archive.ref() + ")");
        return {};
    }
    // An archive of an earlier moment has earlier files.
    if (here == *archived) {
        AF_TRY(const auto unlike, archive.files_unlike(context.evidence.paths.root));
        for (const std::string& name : unlike) {
            part.unchecked(name + " in " + archive.ref() + " is not the file of the task's folder: `agentforge audit verify " +
                           archive.ref() + "` checks it");
        }
    }
    const std::size_t last = archived->rfind("\n- ", archived->size() - 1);
    const auto line = last == std::string::npos ? Result<json::value>(json::object())
                                                : parse_json(std::string_view(*archived).substr(last + 3), "archive");
    if (line.ok() && line->is_object()) { context.add_voucher("archive", unsigned_of(line->get_object(), "seq")); }
    return {};
}

void report_end(AuditVerdict& verdict) {
    Sequence furthest = 0;
    std::string who;
    for (const AuditVoucher& each : verdict.vouchers) {
        furthest = std::max(furthest, each.seq);
        who += (who.empty() ? "" : ", ") + each.who + " to record " + std::to_string(each.seq);
    }
    if (furthest >= verdict.head.seq) {
        verdict.add("end", AuditAnswer::holds, "vouched for by " + who);
    } else {
        verdict.add("end", AuditAnswer::unchecked,
                    (who.empty() ? "nothing outside the journal vouches for its end"
                                 : "vouched for by " + who + "; nothing outside the journal vouches for what follows"));
    }
}

}  // namespace agentforge::kernel
