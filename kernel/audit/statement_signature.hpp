// SPDX-License-Identifier: Apache-2.0
// Who may vouch for a statement: the signer of the commit that it is about, or someone whom the user trusts.
#pragma once

#include <string>

#include "audit/audit_verdict.hpp"
#include "audit/signature.hpp"
#include "git/merges.hpp"

namespace agentforge::kernel {

/// The signature of the commit that a statement is about.
struct CommitSignature {
    bool is_known = false;  ///< False: the task made no commit, or it is not in this repository.
    bool is_signed = false;
    SignatureAnswer answer;  ///< Only if it is signed.
};
[[nodiscard]] CommitSignature signature_of(const WrittenCommit& commit, const SignatureTools& tools, const Stop& stop);

/// Returns what a signature proves by itself: `fails` if it is not good or its signer is not allowed, `unchecked` if nothing here
/// names its key.
[[nodiscard]] AuditAnswer answer_to(const SignatureAnswer& signature);
[[nodiscard]] std::string detail_of(const SignatureAnswer& signature);

/// Adds what the signature of a statement proves. It fails if it cannot be checked, or if neither the commit's signer nor a
/// trusted key made it.
void add_statement_signature(AuditVerdict& verdict, const SignatureTools& tools, const SignedContent& statement,
                             const CommitSignature& of_commit, const Stop& stop);

}  // namespace agentforge::kernel
