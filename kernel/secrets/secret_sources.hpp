// SPDX-License-Identifier: Apache-2.0
// Which values are secret: from the environment by name, from configured files.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "base/ids.hpp"
#include "secrets/redactor.hpp"

namespace agentforge::kernel {

struct SecretSources {
    std::map<std::string, std::string> environment = {};
    std::vector<std::string> variables = {};         ///< Secret whatever they are called.
    std::vector<std::string> public_variables = {};  ///< Not secret whatever they are called.
    std::vector<std::filesystem::path> files = {};   ///< Dotenv files, or files with a secret a line.
    std::vector<Secret> values = {};                 ///< From settings, such as the headers of a request.
};

struct KnownSecrets {
    std::vector<Secret> secrets;        ///< By name; the longest value first where one holds another.
    std::vector<std::string> too_weak;  ///< Names whose value is too short or too common to be looked for, with the reason.
    std::vector<std::string> missing;   ///< Files that are not there.
};

/// Whether a variable of that name is secret unless one says otherwise: one of its words is KEY, TOKEN, SECRET, PASSWORD (or
/// several of them), PASSWD, PWD, PASSPHRASE, CREDENTIAL(S), APIKEY, AUTH or PAT, and it does not begin with AGENTFORGE_ or end
/// in _ENV, _FILE, _PATH, _DIR, _URL, _ID or _NAME.
[[nodiscard]] bool names_a_secret(std::string_view variable);

/// Empty where the value can be looked for, else why not: shorter than 8 bytes, an address, a word of fewer than 16 letters,
/// fewer than 12 digits.
[[nodiscard]] std::string weakness(std::string_view value);

/// Secret are variables that are named or sound so, passwords inside the addresses of any variable
/// (`https://user:password@host`), and what the files hold: `NAME=value` lines (`export`, quotes and comments are understood),
/// or, where there is none, each line. Paths of files, or into folders, that are there are none. Errors: AF-SEC-002 a file that
/// cannot be read, is no regular file or larger than 1 MiB.
[[nodiscard]] Result<KnownSecrets> find_secrets(const SecretSources& sources);

/// The key that placeholders of known values are hashed with: 64 hexadecimal digits in `<state_directory>/redaction.key` (mode
/// 0600), made where it is missing. Errors: AF-SEC-006 it cannot be read or made, or is none.
[[nodiscard]] Result<std::string> redaction_key(const std::string& state_directory, IdSource& ids);

}  // namespace agentforge::kernel
