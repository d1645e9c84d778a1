// SPDX-License-Identifier: Apache-2.0
// Makes and checks signatures of statements as the user's git does for commits: with gpg, ssh-keygen or gpgsm.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <agentforge/result.hpp>

#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {

/// Namespaces of SSH signatures. A key may be limited to one of them.
inline constexpr const char* statement_namespace = "agentforge";
inline constexpr const char* commit_namespace = "git";  ///< As git signs commits.

struct SignatureTools {
    ProcessRunner& processes;
    std::filesystem::path repository;
    const std::map<std::string, std::string>& environment;  ///< The user's environment: agents, terminals, keys.
};

/// Signs with the key that git signs commits with (`gpg.format`, `user.signingkey`; programs only from the user's own
/// configuration) and returns the armoured signature. Empty if commits are not signed: `sign` is `never`, or `auto` and
/// `commit.gpgsign` is not set. `signer`: `Name <email>`; signs with this person's key if the configuration names none. Errors:
/// `unavailable` AF-AUDT-001 the program could not sign.
[[nodiscard]] Result<std::string> sign_statement(const SignatureTools& tools, const std::string& sign, const std::string& signer,
                                                 const std::string& statement, const Stop& stop);

struct SignatureAnswer {
    enum class Signer {
        known,        ///< In the user's own files: gpg's keyring, `gpg.ssh.allowedSignersFile`.
        unknown,      ///< The user's git names no file of allowed signers.
        not_allowed,  ///< That file does not name the key, or gpg trusts it less than `gpg.minTrustLevel`.
    };
    bool good = false;      ///< True if it is a signature of these bytes.
    bool checkable = true;  ///< False if the key or the program is missing: nothing is known about the signature.
    bool trusted = false;   ///< `gpg.ssh.allowedSignersFile` names the key, or gpg trusts it fully.
    std::string key;        ///< Its fingerprint; for gpg, that of the primary key. Empty: not known.
    Signer signer = Signer::unknown;
    std::string detail;  ///< Who signed, or what is wrong.
};
/// The signed bytes, and the time of signing if the signer states one. As in git, the key must be valid at that time and may have
/// expired since. A revoked key is never valid.
struct SignedContent {
    std::string name_space;  ///< Of an SSH signature.
    std::string content;
    std::string signature;  ///< Armoured.
    std::chrono::sys_seconds time;
};
[[nodiscard]] SignatureAnswer check_signature(const SignatureTools& tools, const SignedContent& signed_content, const Stop& stop);

}  // namespace agentforge::kernel
