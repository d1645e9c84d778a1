// SPDX-License-Identifier: Apache-2.0
#include "audit/verify_commit.hpp"

#include <charconv>

#include "audit/evidence.hpp"
#include "audit/statement.hpp"
#include "audit/statement_signature.hpp"
#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "git/merges.hpp"
#include "git/objects.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

/// Returns the value of the last line with this prefix. Empty if there is none.
std::string_view trailer(std::string_view message, std::string_view key) {
    const std::size_t at = message.rfind(key);
    if (at == std::string_view::npos || (at != 0 && message[at - 1] != '\n')) { return {}; }
    const std::string_view rest = message.substr(at + key.size());
    return rest.substr(0, rest.find('\n'));
}

/// True if the task had completed the delivery of this commit when its statement was made.
bool was_delivered(const TaskEvidence& evidence, const std::string& commit) {
    const auto text = read_file(evidence.paths.root / statement_file, largest_file);
    const auto parsed = text.ok() ? parse_json(*text, "statement") : Result<json::value>(text.error());
    const json::object* const predicate = predicate_of(parsed);
    if (predicate == nullptr || text_of(*predicate, "commit") != commit) { return false; }
    const JournalHead head = stated_head(*predicate);
    bool is_completed = false;
    for (const Record& record : evidence.records) {
        is_completed = is_completed || record.type() == records::TaskCompleted::type;
        if (record.seq == head.seq) { return is_completed && record.hash == head.hash; }
    }
    return false;
}

/// What the task's journal says of the commit that it made.
AuditFinding finding_about(const TaskEvidence& evidence, const std::string& commit) {
    const TaskStatus status = evidence.state.status;
    if (status == TaskStatus::completed) { return {"commit", AuditAnswer::holds, "it is the commit that the task delivered"}; }
    if (status == TaskStatus::aborted) {
        return {"commit", AuditAnswer::fails, "the task was aborted, or its delivery rejected, after it made this commit"};
    }
    if (was_delivered(evidence, commit)) {
        return {"commit", AuditAnswer::holds, "the task delivered this commit, and has been continued since"};
    }
    return {"commit", AuditAnswer::fails,
            status == TaskStatus::awaiting_approval ? "the task made this commit, but it waits for a person's approval"
                                                    : "the task made this commit, but has not delivered it"};
}

/// Returns the stage whose last decision in a statement is a rejection.
std::optional<std::string> rejected_stage(const json::object& predicate) {
    std::map<std::string, bool> approved;
    for (const json::value& each : list_of(predicate, "approvals")) {
        const json::object* const decision = each.if_object();
        const json::value* const answer = decision == nullptr ? nullptr : decision->if_contains("approved");
        if (answer != nullptr) { approved[text_of(*decision, "stage")] = *answer == json::value(true); }
    }
    const auto found = std::ranges::find(approved, false, &std::pair<const std::string, bool>::second);
    return found == approved.end() ? std::nullopt : std::optional(found->first);
}

/// Returns the tree that a statement is about. Empty if it names none.
std::string subject_of(const json::object& statement) {
    const json::array& subjects = list_of(statement, "subject");
    if (subjects.empty() || !subjects[0].is_object()) { return {}; }
    const json::object* const digest = object_at(subjects[0].get_object(), "digest");
    return digest == nullptr ? std::string() : text_of(*digest, "gitTree");
}

/// Adds whether the statement in a commit's note is about this commit.
void compare_statement(AuditVerdict& verdict, const json::object& statement, const std::string& commit,
                       const WrittenCommit& written) {
    const json::object& predicate = statement.at("predicate").get_object();
    const CommitTrailers trailers = trailers_of(written.message);
    const std::string subject = subject_of(statement);
    const json::object* const base = object_at(predicate, "base");
    const bool same = subject == written.tree && text_of(predicate, "commit") == commit;
    const bool fits = text_of(predicate, "task") == trailers.task_id && base != nullptr &&
                      text_of(*base, "commit") == written.parent && stated_head(predicate).seq >= trailers.seq;
    std::string told = "the statement is about this commit, its tree " + subject + ", its parent and the task of its trailer";
    if (!same) {
        told = "the statement is about commit " + text_of(predicate, "commit") + " with tree " + subject +
               ", not about this one with tree " + written.tree;
    } else if (!fits) {
        told = "the statement names another task, parent or record than the commit";
    }
    verdict.add("statement", same && fits ? AuditAnswer::holds : AuditAnswer::fails, std::move(told));
    if (const auto stage = rejected_stage(predicate)) {
        verdict.add("statement", AuditAnswer::fails, "the statement says that a person rejected " + *stage);
    }
}

/// Adds what the signature in a commit's note proves. Nothing else vouches for the statement.
void add_signature_of_note(AuditVerdict& verdict, const SignatureTools& tools, const std::string& statement,
                           const std::string& signature, const WrittenCommit& written, const Stop& stop) {
    if (signature.empty()) {
        verdict.add(
            "signature", AuditAnswer::fails,
            "the statement is not signed, and the task's archive is not here: anyone who can write notes could have written it");
        return;
    }
    add_statement_signature(verdict, tools, {statement_namespace, statement, signature, written.time},
                            signature_of(written, tools, stop), stop);
    AuditFinding& found = verdict.findings.back();
    if (found.answer == AuditAnswer::unchecked) {  // Anyone can sign with a key that nobody knows.
        found.answer = AuditAnswer::fails;
        found.detail += "; the task's archive is not here, so nothing else vouches for the statement";
    }
}

}  // namespace

CommitTrailers trailers_of(std::string_view message) {
    CommitTrailers trailers;
    trailers.task_id = trailer(message, "AgentForge-Task: ");
    const std::string_view head = trailer(message, "AgentForge-Journal: ");
    const std::size_t colon = head.find(':');
    if (colon == std::string_view::npos ||
        std::from_chars(head.data(), head.data() + colon, trailers.seq).ptr != head.data() + colon) {
        trailers.seq = 0;
        return trailers;
    }
    trailers.hash = head.substr(colon + 1);
    return trailers;
}

Result<void> verify_commit(AuditVerdict& verdict, const AuditPlace& place, const std::string& commit) {
    const auto evidence = TaskEvidence::read(place.folder, place.escalations);
    if (!evidence.ok()) { return {}; }  // Reported with the journal.
    const TaskState& state = evidence->state;
    AF_TRY(const WrittenCommit written, written_commit(place.repository, commit));
    if (commit == state.commit) {
        verdict.findings.push_back(finding_about(*evidence, commit));
        return {};
    }
    for (const Record& record : evidence->records) {
        const auto rebased = records::as<records::Rebased>(record);
        if (rebased && rebased->replaces == commit) {
            verdict.add("commit", AuditAnswer::fails,
                        "the proof no longer holds for this commit: `agentforge rebase` put " + state.commit +
                            " in its place, and the proof belongs to that one");
            return {};
        }
    }
    const DeliveryBase base = delivery_base(state);
    std::string differences;
    if (written.tree != delivered_tree(state)) {
        differences += "; its tree is " + written.tree + ", but gates measured " + delivered_tree(state);
    }
    if (written.parent != base.commit) {
        differences += "; its parent is " + written.parent + ", but the change was made on " + base.commit;
    }
    if (differences.empty()) {
        differences = "; its tree is the one that gates measured, on the same parent, but its message, author or time differs";
    }
    verdict.add(
        "commit", AuditAnswer::fails,
        "the proof does not hold for this commit: the task delivered " +
            (state.commit.empty() ? std::string("no commit") : state.commit) + differences +
            ". A commit that you amend, rebase or cherry-pick yourself has no proof; `agentforge rebase` puts the task's change on the newer base, measures it there and makes one");
    return {};
}

constexpr std::string_view fetch_archives =
    "git fetch origin 'refs/agentforge/archive/*:refs/agentforge/archive/*' fetches it if the remote has it";

Error task_not_here(const std::string& commit) {
    return Error{"AF-AUDT-004", "neither the task of commit " + commit + " nor the task's archive is here", "",
                 std::string(fetch_archives), ErrorKind::not_found};
}

Result<AuditVerdict> verify_commit_alone(const std::filesystem::path& repository, const std::string& commit,
                                         const SignatureTools& tools, const Stop& stop) {
    AF_TRY(const WrittenCommit written, written_commit(repository, commit));
    AF_TRY(const auto note, read_note(repository, commit));
    const CommitTrailers trailers = trailers_of(written.message);
    if (!note && trailers.task_id.empty()) {
        return Error{"AF-AUDT-003", "commit " + commit + " has no proof: no trailer names a task, and it has no note", "",
                     "name a commit that a task delivered, or fetch its notes: git fetch origin " + std::string(statement_notes) +
                         ":" + statement_notes,
                     ErrorKind::not_found};
    }
    AuditVerdict verdict;
    verdict.task_id = trailers.task_id;
    verdict.what = "commit " + commit;
    if (!note) { return task_not_here(commit); }
    verdict.add("journal", AuditAnswer::unchecked,
                trailers.task_id.empty() ? "the commit's message names no task, so no journal was compared with it"
                                         : "the task's archive is not here: " + std::string(fetch_archives));
    const auto [statement, signature] = split_signed(*note);
    const auto parsed = parse_json(statement, "note");
    if (predicate_of(parsed) == nullptr) {
        verdict.add("statement", AuditAnswer::fails, "the note holds no statement");
        return verdict;
    }
    compare_statement(verdict, parsed->get_object(), commit, written);
    add_signature_of_note(verdict, tools, statement, signature, written, stop);
    return verdict;
}

}  // namespace agentforge::kernel
