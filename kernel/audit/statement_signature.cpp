// SPDX-License-Identifier: Apache-2.0
#include "audit/statement_signature.hpp"

namespace agentforge::kernel {

namespace {

/// Returns why a good signature of a statement proves nothing. Empty if it proves something: only someone whom the user trusts,
/// or the commit's own signer, can vouch for a statement.
std::string why_nothing_vouches(const SignatureAnswer& of_statement, const CommitSignature& of_commit) {
    if (of_statement.trusted || !of_commit.is_known) { return ""; }
    if (!of_commit.is_signed) { return "the commit is not signed, and nothing here trusts this key"; }
    if (!of_commit.answer.good) { return "the commit's signature does not verify, and nothing here trusts this key"; }
    return of_statement.key == of_commit.answer.key ? "" : "another key signed the commit, and nothing here trusts this one";
}

}  // namespace

CommitSignature signature_of(const WrittenCommit& commit, const SignatureTools& tools, const Stop& stop) {
    CommitSignature signature{true, commit.is_signed(), {}};
    if (commit.is_signed()) {
        signature.answer = check_signature(tools, {commit_namespace, commit.signed_content, commit.signature, commit.time}, stop);
    }
    return signature;
}

AuditAnswer answer_to(const SignatureAnswer& signature) {
    if (!signature.checkable) { return AuditAnswer::unchecked; }
    if (!signature.good || signature.signer == SignatureAnswer::Signer::not_allowed) { return AuditAnswer::fails; }
    return signature.signer == SignatureAnswer::Signer::known ? AuditAnswer::holds : AuditAnswer::unchecked;
}

std::string detail_of(const SignatureAnswer& signature) {
    if (!signature.checkable) { return "its key, or the program that checks it, is not here: " + signature.detail; }
    if (!signature.good) { return "it does not verify: " + signature.detail; }
    const bool unknown = signature.signer == SignatureAnswer::Signer::unknown;
    return signature.detail + (unknown ? "; nothing here says whose key that is (gpg.ssh.allowedSignersFile)" : "");
}

void add_statement_signature(AuditVerdict& verdict, const SignatureTools& tools, const SignedContent& statement,
                             const CommitSignature& of_commit, const Stop& stop) {
    const SignatureAnswer answer = check_signature(tools, statement, stop);
    const std::string detail = "of the statement: " + detail_of(answer);
    if (!answer.checkable) {
        verdict.add("signature", AuditAnswer::fails, detail + "; a signature that cannot be checked vouches for nothing");
        return;
    }
    const std::string why_not = answer.good ? why_nothing_vouches(answer, of_commit) : std::string();
    if (!why_not.empty()) {
        verdict.add("signature", AuditAnswer::fails, detail + "; " + why_not);
        return;
    }
    const bool is_untrusted = answer.good && !answer.trusted && !of_commit.is_known;
    verdict.add("signature", is_untrusted && answer_to(answer) == AuditAnswer::holds ? AuditAnswer::unchecked : answer_to(answer),
                detail + (is_untrusted ? "; nothing here trusts this key" : ""));
}

}  // namespace agentforge::kernel
