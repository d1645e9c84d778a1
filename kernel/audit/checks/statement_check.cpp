// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "audit/checks/audit_part.hpp"
#include "audit/checks/checks.hpp"
#include "audit/statement.hpp"
#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "git/objects.hpp"
#include "journal/failures.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

const json::object& stated_files(const json::object& predicate) {
    static const json::object nothing;
    const json::object* const files = object_at(predicate, "files");
    return files != nullptr ? *files : nothing;
}

bool is_question(std::string_view file) { return file.starts_with("escalations/"); }

bool names_questions(const json::object& predicate) {
    return std::ranges::any_of(stated_files(predicate), [](const auto& each) { return is_question(each.key()); });
}

std::map<std::string, std::string> stated_questions(const json::object& predicate) {
    std::map<std::string, std::string> questions;
    for (const auto& [name, hash] : stated_files(predicate)) {
        if (is_question(name) && hash.is_string()) { questions.emplace(name, hash.get_string()); }
    }
    return questions;
}

/// Removes caches and shared files, which older statements also name.
json::object without_transient_files(json::object statement) {
    json::object& predicate = statement.at("predicate").as_object();
    if (json::value* const files = predicate.if_contains("files"); files != nullptr && files->is_object()) {
        json::object kept;
        for (const auto& [name, hash] : files->get_object()) {
            if (!is_transient_file(name)) { kept.emplace(name, hash); }
        }
        *files = std::move(kept);
    }
    return statement;
}

std::chrono::sys_seconds recorded_at(const Record& record) {
    auto time = parse_time(records::envelope_in(record).timestamp);
    return std::chrono::floor<std::chrono::seconds>(std::move(time).value_or(std::chrono::system_clock::time_point()));
}

Result<void> report_missing_statement(const AuditContext& context, const StatementCopies& copies) {
    if (!has_statement(context.state())) { return {}; }
    AuditVerdict& verdict = context.verdict;
    AF_TRY(const auto archived, copies.archive.file(statement_file));
    const bool is_recorded = context.state().delivery.signed_.has_value();  // Older versions wrote neither this nor a statement.
    const bool is_signed = copies.commit.needs_signed_statement(context.state());
    if (archived || copies.commit.note) {
        verdict.add("statement", AuditAnswer::fails, copies.removal_text(statement_file, archived.has_value()));
    } else if (is_signed || (context.place.is_archive && is_recorded)) {
        verdict.add(
            "statement", AuditAnswer::fails,
            std::string(no_statement) + (is_signed ? ", but its commit is signed" : "") +
                ": the statement was removed, or could not be written. If a command was killed, `agentforge gc` makes it; "
                "else `agentforge rebase " +
                short_id(verdict.task_id) + " --set delivery.sign=never` makes an unsigned commit with a statement");
    } else {
        verdict.add("statement", AuditAnswer::unchecked,
                    std::string(no_statement) + ": an older version delivered it, or it could not be written");
    }
    return {};
}

/// Checks that artifacts of the task hand in the test files in the statement. Without the delivered tree, this is all that can
/// be checked of them.
Result<void> compare_test_files(const TaskEvidence& evidence, AuditPart& part, const json::array& stated) {
    auto handed_in = test_files(evidence);
    if (!handed_in.ok()) { return is_missing_blob(handed_in.error()) ? Result<void>() : handed_in.error(); }
    for (const json::value& test : stated) {
        const std::string path = test.is_object() ? text_of(test.get_object(), "path") : std::string();
        if (!handed_in->contains(path)) {
            part.fault("the statement names the test file `" + path + "`, which no artifact of the task hands in");
        }
    }
    return {};
}

/// Makes the statement again from the task's files. Nothing if some of its sources are missing here.
Result<std::optional<std::string>> recomputed_statement(const AuditContext& context, AuditPart& part,
                                                        const json::object& predicate) {
    std::map<std::string, std::string> questions;
    if (context.place.escalations.empty() && names_questions(predicate)) {
        part.unchecked("the questions to people are not here, so their hashes were not compared");
        questions = stated_questions(predicate);
    }
    const json::array& tests = list_of(predicate, "tests");
    const bool has_tree = context.repository && context.repository->objects.has(delivered_tree(context.state()));
    if (!has_tree) { part.unchecked("the delivered tree is not here, so the hashes of its tests were not compared"); }
    if (!has_tree) { AF_CHECK(compare_test_files(context.evidence, part, tests)); }
    auto made = has_tree ? make_statement(context.evidence, context.repository->git, questions)
                         : make_statement(context.evidence, tests, questions);
    if (!made.ok() && is_missing_blob(made.error())) {
        part.unchecked("blobs of the task are missing, so the statement cannot be recomputed and compared");
        return std::optional<std::string>();
    }
    if (!made.ok()) { return std::move(made).error(); }
    return std::optional(std::move(made).value());
}

/// Checks that each file in the statement has the hash given there. `has_grown`: skips those that grow with the journal.
Result<void> check_stated_files(const AuditContext& context, AuditPart& part, const json::object& predicate, bool has_grown) {
    const auto grows = [&](std::string_view name) {
        return has_grown && (name == "actions.yaml" || name == "artifacts/blobs/blobs.yaml");
    };
    const bool has_questions = !context.place.escalations.empty();
    AF_TRY(const auto files, files_of_task(context.evidence));
    const json::object& expected = stated_files(predicate);
    for (const auto& [name, hash] : expected) {
        if (is_transient_file(name) || grows(name) || (!has_questions && is_question(name))) { continue; }
        const auto found = files.find(std::string(name));
        if (found == files.end()) {
            part.fault(std::string(name) + ", which the statement names, is missing");
        } else if (hash != json::value(found->second)) {
            part.fault(std::string(name) + " is not the file that the statement names");
        }
    }
    for (const auto& [name, hash] : files) {
        if (!expected.contains(name)) { part.fault(name + " is in no statement"); }
    }
    return {};
}

/// Checks that the note of the commit, which is written with the statement, has the same statement. Other notes under the same
/// name, or merged with it, prove nothing.
void compare_note(AuditPart& part, const std::string& note, const std::string& text, Sequence seq) {
    const std::string stated = split_signed(note).first;
    const auto parsed = parse_json(stated, "note");
    const json::object* const predicate = predicate_of(parsed);
    const json::object* const head = predicate == nullptr ? nullptr : object_at(*predicate, "journal");
    if (head == nullptr) {
        if (note.find(text) == std::string::npos) {
            part.unchecked("the note of the commit (" + std::string(statement_notes) + ") holds no statement");
        }
        return;
    }
    const bool of_this_record = unsigned_of(*head, "records") == seq;  // Others may be older.
    if (of_this_record && stated != text) {
        part.fault("the note of the commit (" + std::string(statement_notes) + ") has another statement");
    }
}

/// Checks the statement of a journal that has grown since.
Result<void> check_older_statement(const AuditContext& context, AuditPart& part, const json::object& predicate, Sequence seq) {
    const std::string grown = std::string(grown_since) + " (of record " + std::to_string(seq) + ")";
    if (!has_statement(context.state())) {  // The task continues after a delivery.
        part.unchecked(grown);
        return {};
    }
    part.fault(grown + ", and there is no newer statement. If a command was killed, `agentforge gc` makes one");
    return check_stated_files(context, part, predicate, true);
}

/// Checks the statement of the whole journal, and its signature.
Result<void> check_current_statement(AuditContext& context, AuditPart& part, const StatementCopies& copies,
                                     const std::string& text, const json::object& statement, std::chrono::sys_seconds time) {
    const json::object& predicate = statement.at("predicate").get_object();
    AF_TRY(const auto again, recomputed_statement(context, part, predicate));
    const bool is_same = again && *again == to_json_pretty(without_transient_files(statement));
    if (!is_same) {
        AF_CHECK(check_stated_files(context, part, predicate, false));
        AF_CHECK(check_statement_signature(context, copies, text, time));
        if (again) { part.fault("the statement differs from the one computed from the task's files"); }
        return {};
    }
    if (text != to_json_pretty(statement)) {
        part.fault("the statement has the right fields, but not the right bytes: it was reformatted");
    }
    part.passed("the statement equals the one computed from the task's files: tree " + delivered_tree(context.state()) + ", " +
                counted(predicate.at("gates").as_array().size(), "gate", "gates"));
    return check_statement_signature(context, copies, text, time);
}

}  // namespace

std::string StatementCopies::removal_text(std::string_view name, bool is_archived) const {
    return std::string(name) + " was removed; " +
           (is_archived ? archive.ref() : "the note of the commit (" + std::string(statement_notes) + ")") + " still has it";
}

Result<void> check_statement(AuditContext& context, const StatementCopies& copies) {
    const auto text = read_file(context.file(statement_file), largest_file);
    if (!text.ok()) { return report_missing_statement(context, copies); }
    AuditPart part(context.verdict, "statement");
    const auto parsed = parse_json(*text, "statement");
    const json::object* const predicate = predicate_of(parsed);
    if (predicate == nullptr) {
        part.fault("the statement cannot be read");
        return {};
    }
    const JournalHead head = stated_head(*predicate);
    const Record* const named = context.record(head.seq);
    if (named == nullptr || named->hash != head.hash) {
        part.fault("the statement names record " + std::to_string(head.seq) + " (" + head.hash +
                   "), which the journal does not have: its end was cut off, or the statement is another task's");
        const auto& records = context.records();
        return check_statement_signature(context, copies, *text,
                                         records.empty() ? std::chrono::sys_seconds() : recorded_at(records.back()));
    }
    context.add_voucher("statement", head.seq);
    if (copies.commit.note) { compare_note(part, *copies.commit.note, *text, head.seq); }
    if (head.seq == context.verdict.head.seq) {
        return check_current_statement(context, part, copies, *text, parsed->get_object(), recorded_at(*named));
    }
    AF_CHECK(check_older_statement(context, part, *predicate, head.seq));
    return check_statement_signature(context, copies, *text, recorded_at(*named));
}

}  // namespace agentforge::kernel
