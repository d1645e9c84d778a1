// SPDX-License-Identifier: Apache-2.0
// Finds the secret values: in the environment by name, and in configured files.
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
    std::vector<std::string> variables = {};         ///< Secret whatever their names.
    std::vector<std::string> public_variables = {};  ///< Not secret whatever their names.
    std::vector<std::filesystem::path> files = {};   ///< Dotenv files, or files with one secret per line.
    std::vector<Secret> values = {};                 ///< From settings, such as the headers of a request.
};

struct KnownSecrets {
    std::vector<Secret> secrets;        ///< By name. If one value contains another, the longest comes first.
    std::vector<std::string> too_weak;  ///< Names whose value is too short or too common to search for, with the reason.
    std::vector<std::string> missing;   ///< Files that do not exist.
};

/// True if a variable of that name is secret by default: one of its words is KEY, TOKEN, SECRET, PASSWORD (or several of them),
/// PASSWD, PWD, PASSPHRASE, CREDENTIAL(S), APIKEY, AUTH or PAT, and it does not begin with AGENTFORGE_ or end in _ENV, _FILE,
/// _PATH, _DIR, _URL, _ID or _NAME.
[[nodiscard]] bool names_a_secret(std::string_view variable);

/// Returns empty if the value can be searched for, else why not: shorter than 8 bytes, an address, a word of fewer than 16
/// letters, fewer than 12 digits.
[[nodiscard]] std::string weakness(std::string_view value);

/// Finds as secrets: variables that are configured or have a secret name, passwords inside the addresses of any variable
/// (`https://user:password@host`), and the contents of the files. A file has `NAME=value` lines (with `export`, quotes and
/// comments); without any, each line is a secret. Paths of existing files, or into existing folders, are not secrets. Errors:
/// AF-SEC-002 a file cannot be read, is not a regular file or is larger than 1 MiB.
[[nodiscard]] Result<KnownSecrets> find_secrets(const SecretSources& sources);

/// Returns the key for hashing the placeholders of known values: 64 hexadecimal digits in `<state_directory>/redaction.key` (mode
/// 0600), created if missing. Errors: AF-SEC-006 it cannot be read or created, or is invalid.
[[nodiscard]] Result<std::string> redaction_key(const std::string& state_directory, IdSource& ids);

}  // namespace agentforge::kernel
