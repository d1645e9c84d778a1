// SPDX-License-Identifier: Apache-2.0
// Rules that recognise well-known kinds of keys (config/secrets/rules.yaml).
#pragma once

#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct SecretRule {
    std::string name;                   ///< Name in the placeholder: `github-token`.
    std::vector<std::string> keywords;  ///< The rule skips text without one of these. At least 3 bytes each.
    std::string pattern;                ///< RE2. Group 1 is the secret if it exists, else the whole match.
    double entropy = 0;                 ///< Minimum Shannon entropy of the secret, in bits per character.
    unsigned digits = 0;                ///< Minimum number of digits in it.
    bool lines = false;                 ///< The secret has many lines, each hidden separately to keep the lines.
    std::string example;                ///< A text with one secret in it, assembled from pieces.
};

/// Loads the rules but compiles none, because that takes longer than most commands. Errors: AF-SEC-001 with file, line and field:
/// an unknown or missing field, a duplicate name.
[[nodiscard]] Result<std::vector<SecretRule>> load_secret_rules(const std::string& file);

/// Compiles all patterns (some milliseconds). Errors: AF-SEC-001 a pattern that RE2 does not accept.
[[nodiscard]] Result<void> check_secret_rules(const std::vector<SecretRule>& rules);

/// In bits per character.
[[nodiscard]] double shannon_entropy(std::string_view text);

}  // namespace agentforge::kernel
