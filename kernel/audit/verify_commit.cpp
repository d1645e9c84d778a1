// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "audit/verify.hpp"
#include "git/merges.hpp"
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

AuditAnswer answer_about(TaskStatus status) {
    if (status == TaskStatus::aborted) { return AuditAnswer::fails; }
    return status == TaskStatus::completed ? AuditAnswer::holds : AuditAnswer::unchecked;
}

std::string_view words_about(TaskStatus status) {
    if (status == TaskStatus::aborted) { return "the task was aborted, or its delivery rejected, after it made this commit"; }
    if (status == TaskStatus::awaiting_approval) { return "the task made this commit, which waits for a person's approval"; }
    return status == TaskStatus::completed ? "it is the commit that the task delivered"
                                           : "the task made this commit, but is not completed";
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
        verdict.add("commit", answer_about(state.status), std::string(words_about(state.status)));
        return {};
    }
    for (const Record& record : evidence->records) {
        const auto rebased = records::as<records::Rebased>(record);
        if (rebased && rebased->replaces == commit) {
            verdict.add("commit", AuditAnswer::fails,
                        "the proof no longer holds for this commit: `agentforge rebase` put " + state.commit +
                            " in its place, and the proof is of that one");
            return {};
        }
    }
    const DeliveryBase base = delivery_base(state);
    std::string differences;
    if (written.tree != delivered_tree(state)) {
        differences += "; its tree is " + written.tree + ", and gates have measured " + delivered_tree(state);
    }
    if (written.parent != base.commit) {
        differences += "; its parent is " + written.parent + ", and the change was made on " + base.commit;
    }
    if (differences.empty()) {
        differences =
            "; its tree is the one that gates have measured, on the same parent, but message, author or time are others";
    }
    verdict.add(
        "commit", AuditAnswer::fails,
        "the proof does not hold for this commit: the task delivered " +
            (state.commit.empty() ? std::string("none") : state.commit) + differences +
            ". A commit that you amend, rebase or cherry-pick yourself has no proof; `agentforge rebase` puts the task's change on the newer base, measures it there and makes one");
    return {};
}

}  // namespace agentforge::kernel
