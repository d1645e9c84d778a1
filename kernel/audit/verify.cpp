// SPDX-License-Identifier: Apache-2.0
#include "audit/verify.hpp"

#include "audit/checks/checks.hpp"
#include "task/own_journal.hpp"

namespace agentforge::kernel {

namespace {

/// Checks the files that a statement names, except patches, which need the repository.
void check_recorded_files(AuditContext& context) {
    check_own_files(context);
    check_named_blobs(context, check_blob_files(context.place, context.verdict));
    check_artifacts(context);
}

/// Returns the evidence that the commit gives for the statement.
DeliveredCommit check_repository(AuditContext& context) {
    if (!context.repository) {
        context.verdict.add("trees", AuditAnswer::unchecked,
                            "no repository is here: trees, patches and the commit were not checked");
        return {};
    }
    context.report_if_failed("trees", check_trees(context, *context.repository));
    check_patches(context, *context.repository);
    return context.result_or_report("commit", check_delivered_commit(context, *context.repository));
}

void check_all(AuditContext& context, const Result<std::optional<OwnJournal::Note>>& own) {
    check_journal(context);
    check_projections(context);
    check_recorded_files(context);
    const DeliveredCommit commit = check_repository(context);
    check_log(context);
    check_own_note(context, own);
    const ArchiveCopy archive = context.result_or_report("end", ArchiveCopy::find(context));
    context.report_if_failed("end", check_archive(context, archive));
    if (context.repository) { context.report_if_failed("commit", check_replaced_objects(context, *context.repository)); }
    context.report_if_failed("statement", check_statement(context, {archive, commit}));
    report_end(context.verdict);
}

}  // namespace

Result<AuditVerdict> verify_task(const AuditPlace& place, const SignatureTools& tools, const Stop& stop) {
    AuditVerdict verdict;
    verdict.task_id = place.task_id;
    const auto own = OwnJournal(place.own_journals, place.folder).read();
    const auto evidence = TaskEvidence::read(place.folder, place.escalations, place.blobs);
    if (!evidence.ok()) {
        const Error& error = evidence.error();
        if (error.kind == ErrorKind::io || error.kind == ErrorKind::not_found) { return error; }
        verdict.add("journal", AuditAnswer::fails,
                    error.code + ": " + error.message + (error.where.empty() ? "" : " (" + error.where + ")"));
        static_cast<void>(check_blob_files(place, verdict));
        return verdict;
    }
    AF_TRY(AuditContext context, AuditContext::open(place, tools, stop, *evidence, verdict));
    check_all(context, own);
    return verdict;
}

Result<AuditVerdict> verify_files(const TaskEvidence& evidence, const std::filesystem::path& repository,
                                  const SignatureTools& tools, const Stop& stop) {
    const AuditPlace place{evidence.state.task_id, evidence.paths.root, evidence.escalations, repository, {}, false, {}};
    AuditVerdict verdict;
    verdict.task_id = place.task_id;
    AF_TRY(AuditContext context, AuditContext::open(place, tools, stop, evidence, verdict));
    check_journal(context);
    check_recorded_files(context);
    if (context.repository) { check_patches(context, *context.repository); }
    return verdict;
}

}  // namespace agentforge::kernel
