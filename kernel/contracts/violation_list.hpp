// SPDX-License-Identifier: Apache-2.0
// Collects broken rules up to a limit: a hostile artifact must not flood the context or the journal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.hpp"
#include "contracts/contract.hpp"

namespace agentforge::kernel {

/// How many violations a verdict lists; further ones are only counted.
inline constexpr std::size_t max_violations = 20;
/// Maximum length of one violation, in bytes.
inline constexpr std::size_t max_violation_bytes = 500;

/// The place of a value in an artifact, as JSON pointer and in words.
class ArtifactPath {
public:
    [[nodiscard]] ArtifactPath field(std::string_view name) const;
    [[nodiscard]] ArtifactPath item(std::size_t index) const;
    [[nodiscard]] const std::string& pointer() const noexcept { return pointer_; }
    /// Returns, for instance, `requirements[0].id`; "the artifact" for the whole.
    [[nodiscard]] std::string words() const { return words_.empty() ? "the artifact" : words_; }
    /// Returns `requirements[0].id` for the field `id` of `requirements[0]`, without "the artifact." before it.
    [[nodiscard]] std::string words_of(std::string_view name) const { return field(name).words(); }

private:
    std::string pointer_;
    std::string words_;
};

class ViolationList {
public:
    void add(const ArtifactPath& path, std::string_view rule, std::string_view message);
    [[nodiscard]] bool empty() const noexcept { return violations_.empty(); }
    /// Returns the violations, and a last one with the number of further ones.
    [[nodiscard]] ContractVerdict verdict() &&;

private:
    std::vector<ContractViolation> violations_;
    std::size_t more_ = 0;
};

/// Formats a value for a message: strings quoted and shortened, objects and arrays by kind and size.
[[nodiscard]] std::string show(const json::value& value);
/// Returns "a string", "an object", …
[[nodiscard]] std::string_view kind_words(const json::value& value);

}  // namespace agentforge::kernel
