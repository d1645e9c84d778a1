// SPDX-License-Identifier: Apache-2.0
// Rules for the shapes of well-known keys (config/secrets/rules.yaml).
#pragma once

#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct SecretRule {
    std::string name;                   ///< Stands in the placeholder: `github-token`.
    std::vector<std::string> keywords;  ///< Text without one of these is not looked at by the rule; 3 bytes or more each.
    std::string pattern;                ///< RE2; group 1 is the secret where there is one, else the whole match is.
    double entropy = 0;                 ///< Least Shannon entropy of the secret, bits a character.
    unsigned digits = 0;                ///< Least number of digits in it.
    bool lines = false;                 ///< The secret is many lines, each hidden for itself, so that lines stay lines.
    std::string example;                ///< A text with one secret in it, put together from pieces.
};

/// Reads the rules; compiles none, since that takes longer than most commands. Errors: AF-SEC-001 with file, line and field: an
/// unknown or missing field, a name twice.
[[nodiscard]] Result<std::vector<SecretRule>> load_secret_rules(const std::string& file);

/// Compiles all patterns (some milliseconds). Errors: AF-SEC-001 a pattern that RE2 does not take.
[[nodiscard]] Result<void> check_secret_rules(const std::vector<SecretRule>& rules);

/// Bits a character.
[[nodiscard]] double shannon_entropy(std::string_view text);

}  // namespace agentforge::kernel
