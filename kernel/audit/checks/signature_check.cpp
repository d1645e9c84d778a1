// SPDX-License-Identifier: Apache-2.0
#include "audit/checks/checks.hpp"
#include "audit/statement.hpp"
#include "base/files.hpp"
#include "base/ids.hpp"

namespace agentforge::kernel {

namespace {

/// The signatures that the copies of a statement have. Empty: this copy has another statement, or no signature.
struct CopiedSignatures {
    std::optional<std::string> in_archive;
    std::optional<std::string> in_note;
};

Result<CopiedSignatures> copied_signatures(const StatementCopies& copies, const std::string& statement) {
    CopiedSignatures copied;
    AF_TRY(auto archived, copies.archive.file(signature_file));
    AF_TRY(const auto of, copies.archive.file(statement_file));
    if (of == statement) { copied.in_archive = std::move(archived); }
    auto [noted, signature] = split_signed(copies.commit.note.value_or(""));
    if (!signature.empty() && noted == statement) { copied.in_note = std::move(signature); }
    return copied;
}

std::string_view without_line_ends(std::string_view text) {
    const std::size_t last = text.find_last_not_of("\r\n");
    return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

bool differs(const std::optional<std::string>& copy, const std::string& signature) {
    return copy && without_line_ends(*copy) != without_line_ends(signature);
}

void compare_signature(AuditVerdict& verdict, const StatementCopies& copies, const CopiedSignatures& copied,
                       const std::string& signature) {
    const std::string not_the_one = std::string(signature_file) + " is not the signature that ";
    if (differs(copied.in_archive, signature)) {
        verdict.add("signature", AuditAnswer::fails, not_the_one + copies.archive.ref() + " has");
    } else if (differs(copied.in_note, signature)) {
        verdict.add("signature", AuditAnswer::fails, not_the_one + "the note of the commit has");
    }
}

void report_missing_signature(const AuditContext& context, const StatementCopies& copies, const CopiedSignatures& copied) {
    AuditVerdict& verdict = context.verdict;
    if (copied.in_archive || copied.in_note) {
        verdict.add("signature", AuditAnswer::fails, copies.removal_text(signature_file, copied.in_archive.has_value()));
    } else if (copies.commit.needs_signed_statement(context.state())) {
        verdict.add("signature", AuditAnswer::fails,
                    "the statement is not signed, but the commit is: its signature was removed, or could not be made. If this "
                    "machine still has to sign it, `agentforge resume " +
                        short_id(verdict.task_id) + "` does so");
    } else {
        verdict.add("signature", AuditAnswer::unchecked, "the statement is not signed");
    }
}

}  // namespace

Result<void> check_statement_signature(AuditContext& context, const StatementCopies& copies, const std::string& statement,
                                       std::chrono::sys_seconds time) {
    const auto signature = read_file(context.file(signature_file), largest_file);
    AF_TRY(const CopiedSignatures copied, copied_signatures(copies, statement));
    if (!signature.ok()) {
        report_missing_signature(context, copies, copied);
        return {};
    }
    add_statement_signature(context.verdict, context.tools, {statement_namespace, statement, *signature, time},
                            copies.commit.signature, context.stop);
    compare_signature(context.verdict, copies, copied, *signature);
    return {};
}

}  // namespace agentforge::kernel
