// SPDX-License-Identifier: Apache-2.0
#include "audit/checks/audit_part.hpp"
#include "audit/checks/checks.hpp"
#include "audit/verify_commit.hpp"
#include "base/files.hpp"
#include "git/merges.hpp"
#include "git/objects.hpp"

namespace agentforge::kernel {

namespace {

CommitSignature check_signature_of(const AuditContext& context, AuditPart& part, const WrittenCommit& commit) {
    const TaskState& state = context.state();
    const bool recorded = state.delivery.signed_.value_or(commit.is_signed());
    if (recorded != commit.is_signed()) {
        part.fault("the journal says that commit " + state.commit +
                   (recorded ? " is signed; it is not" : " is not signed; it is"));
    }
    CommitSignature signature = signature_of(commit, context.tools, context.stop);
    if (commit.is_signed()) {
        context.verdict.add("signature", answer_to(signature.answer), "of the commit: " + detail_of(signature.answer));
    }
    return signature;
}

void check_trailers(const AuditContext& context, AuditPart& part, const CommitTrailers& trailers) {
    const TaskState& state = context.state();
    const Record* const named = context.record(trailers.seq);
    if (trailers.task_id != state.task_id) { part.fault("commit " + state.commit + " names task `" + trailers.task_id + "`"); }
    if (named == nullptr) {
        part.fault("the trailer of commit " + state.commit + " names record " + std::to_string(trailers.seq) +
                   ", which the journal does not have: its end was cut off");
    } else if (named->hash != trailers.hash) {
        part.fault("the trailer of commit " + state.commit + " names another record " + std::to_string(trailers.seq) +
                   " than the journal has");
    } else {
        context.add_voucher("trailer", trailers.seq);
    }
}

}  // namespace

Result<DeliveredCommit> check_delivered_commit(AuditContext& context, const AuditRepository& repository) {
    const TaskState& state = context.state();
    if (state.commit.empty()) { return DeliveredCommit(); }
    AuditPart part(context.verdict, "commit");
    if (!repository.objects.has(state.commit)) {
        part.unchecked("the delivered commit " + state.commit + " is not in this repository");
        return DeliveredCommit();
    }
    AF_TRY(const WrittenCommit commit, written_commit(repository.path, state.commit));
    AF_TRY(auto note, read_note(repository.path, state.commit));
    if (commit.tree != delivered_tree(state)) {
        part.fault("commit " + state.commit + " has a different tree from the one in the journal");
    }
    if (commit.parent != delivery_base(state).commit) {
        part.fault("commit " + state.commit + " has a different parent from the one in the journal");
    }
    DeliveredCommit delivered{std::move(note), check_signature_of(context, part, commit)};
    const CommitTrailers trailers = trailers_of(commit.message);
    check_trailers(context, part, trailers);
    part.passed("commit " + state.commit + " has the delivered tree, its parent is the base, and its trailer names record " +
                std::to_string(trailers.seq));
    return delivered;
}

Result<void> check_replaced_objects(AuditContext& context, AuditRepository& repository) {
    const TaskState& state = context.state();
    AuditPart part(context.verdict, "commit");
    const auto grafts = read_file(repository.git.git_directory() / "info" / "grafts", largest_file);
    if (grafts.ok() && !state.commit.empty() && ("\n" + *grafts).find("\n" + state.commit) != std::string::npos) {
        part.fault("git shows other parents of " + state.commit + ": remove its line from info/grafts in the git directory");
    }
    const auto& environment = context.tools.environment;
    const auto base = environment.find("GIT_REPLACE_REF_BASE");
    AF_TRY(const auto refs, refs_below(repository.path, base == environment.end() ? "refs/replace/" : base->second));
    if (refs.empty()) { return {}; }
    const std::string archived = "refs/agentforge/archive/" + context.verdict.task_id;
    AF_TRY(const auto archives, refs_below(repository.path, archived));
    for (const RefTarget& ref : archives) {
        if (ref.name == archived) { static_cast<void>(repository.objects.faults_of_tree(ref.id)); }
    }
    for (const RefTarget& ref : refs) {
        const std::string id = ref.name.substr(ref.name.rfind('/') + 1);
        if (id != state.commit && !repository.objects.is_whole(id)) { continue; }
        part.fault("git shows another object in place of " + id + " (" + ref.name + "); `git replace -d " + id + "` ends that");
    }
    return {};
}

}  // namespace agentforge::kernel
