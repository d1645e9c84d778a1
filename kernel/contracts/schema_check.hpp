// SPDX-License-Identifier: Apache-2.0
// Checks a value against a JSON Schema of the project's own: of a contract, or of an installed plugin's settings. valijson
// checks it, except for `pattern`, `uniqueItems` and `format`. A schema from outside, such as that of a server's tool, must not
// come here: valijson follows references without a limit (docs/adr/0016; tools/arguments_check.hpp checks those).
#pragma once

#include <memory>

#include "contracts/violation_list.hpp"

namespace agentforge::kernel {

struct ArtifactLimits {
    std::size_t max_depth = 64;
    std::size_t max_values = 200'000;
    std::size_t max_text_bytes = 8UL << 20U;  ///< All strings and keys together.
};

class SchemaCheck {
public:
    /// `schema` is the compiled contract language. Errors: `internal` AF-CONT-012 valijson refuses it; `invalid` AF-CONT-006 an
    /// invalid pattern.
    [[nodiscard]] static Result<SchemaCheck> make(const json::object& schema);
    /// Adds every violation found to `violations`. Any thread may call it.
    void check(const json::object& value, ViolationList& violations) const;

    struct Compiled;

private:
    explicit SchemaCheck(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
    std::shared_ptr<const Compiled> compiled_;
};

/// Returns false, with one violation, if the value is deeper or larger than the limits. Does not recurse.
[[nodiscard]] bool within_limits(const json::object& value, const ArtifactLimits& limits, ViolationList& violations);

}  // namespace agentforge::kernel
