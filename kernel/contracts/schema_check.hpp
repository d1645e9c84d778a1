// SPDX-License-Identifier: Apache-2.0
// Checks a value against a compiled JSON Schema (valijson; patterns by RE2, which is linear in time and memory).
#pragma once

#include <memory>

#include "contracts/violations.hpp"

namespace agentforge::kernel {

struct ArtifactLimits {
    std::size_t max_depth = 64;
    std::size_t max_values = 200'000;
    std::size_t max_text_bytes = 8UL << 20U;  ///< All strings and keys together.
};

class SchemaCheck {
public:
    /// `schema` is what the contract language compiles to. Errors: `internal` AF-CONT-012 where valijson refuses it;
    /// `invalid` AF-CONT-006 where a pattern is none.
    [[nodiscard]] static Result<SchemaCheck> make(const json::object& schema);
    /// Adds what is broken to `violations`. May be called by any thread.
    void check(const json::object& value, ViolationList& violations) const;

    struct Compiled;

private:
    explicit SchemaCheck(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
    std::shared_ptr<const Compiled> compiled_;
};

/// False, with one violation, where the value is deeper or larger than the limits. Does not recurse.
[[nodiscard]] bool within_limits(const json::object& value, const ArtifactLimits& limits, ViolationList& violations);
/// Whether RE2 takes the pattern; its complaint otherwise.
[[nodiscard]] std::string pattern_problem(std::string_view pattern);

}  // namespace agentforge::kernel
