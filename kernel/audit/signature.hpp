// SPDX-License-Identifier: Apache-2.0
// Signatures of statements, made and checked as the user's git does it for commits: by gpg, ssh-keygen or gpgsm.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <agentforge/result.hpp>

#include "sandbox/process.hpp"

namespace agentforge::kernel {

/// What an SSH signature is for; a key that signs commits may be limited to git's own `git`.
inline constexpr const char* signature_namespace = "agentforge";

struct SignatureTools {
    ProcessRunner& processes;
    std::filesystem::path repository;
    const std::map<std::string, std::string>& environment;  ///< The user's: agents, terminals, keys.
};

/// Signs with the key that git signs commits with (`gpg.format`, `user.signingkey`; programs from the user's own configuration
/// alone) and returns the armoured signature; empty where commits are not signed: `sign` is `never`, or `auto` and
/// `commit.gpgsign` is not set. `signer`: `Name <email>`, whose key is taken where none is named. Errors: `unavailable`
/// AF-AUDT-001 the program could not sign.
[[nodiscard]] Result<std::string> sign_statement(const SignatureTools& tools, const std::string& sign, const std::string& signer,
                                                 const std::string& statement, const Stop& stop);

struct SignatureAnswer {
    bool good = false;     ///< It is a signature of these bytes.
    bool trusted = false;  ///< … by somebody whom the user's own files name: gpg's keyring, `gpg.ssh.allowedSignersFile`.
    std::string told;      ///< By whom, or what is wrong.
};
[[nodiscard]] SignatureAnswer check_signature(const SignatureTools& tools, const std::string& statement,
                                              const std::string& signature, const Stop& stop);

}  // namespace agentforge::kernel
