// SPDX-License-Identifier: Apache-2.0
// Makes and checks signatures of statements as the user's git does for commits: with gpg, ssh-keygen or gpgsm.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <agentforge/result.hpp>

#include "sandbox/process.hpp"

namespace agentforge::kernel {

/// Namespace of an SSH signature. A key that signs commits may be limited to git's own, `git`.
inline constexpr const char* signature_namespace = "agentforge";

struct SignatureTools {
    ProcessRunner& processes;
    std::filesystem::path repository;
    const std::map<std::string, std::string>& environment;  ///< The user's environment: agents, terminals, keys.
};

/// Signs with the key that git signs commits with (`gpg.format`, `user.signingkey`; programs only from the user's own
/// configuration) and returns the armoured signature. Empty if commits are not signed: `sign` is `never`, or `auto` and
/// `commit.gpgsign` is not set. `signer`: `Name <email>`, whose key is used if none is named. Errors: `unavailable` AF-AUDT-001
/// the program could not sign.
[[nodiscard]] Result<std::string> sign_statement(const SignatureTools& tools, const std::string& sign, const std::string& signer,
                                                 const std::string& statement, const Stop& stop);

struct SignatureAnswer {
    bool good = false;     ///< True if it is a signature of these bytes.
    bool trusted = false;  ///< True if its key is also in the user's own files: gpg's keyring, `gpg.ssh.allowedSignersFile`.
    std::string detail;    ///< Who signed, or what is wrong.
};
[[nodiscard]] SignatureAnswer check_signature(const SignatureTools& tools, const std::string& statement,
                                              const std::string& signature, const Stop& stop);

}  // namespace agentforge::kernel
