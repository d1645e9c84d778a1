// SPDX-License-Identifier: Apache-2.0
// The named rules: what a schema cannot say (North Star 2.2, 12.3). A contract names a rule by its text.
#pragma once

#include "contracts/violations.hpp"

namespace agentforge::kernel {

struct NamedRule {
    std::string_view text;  ///< Stable: contract files quote it.
    bool needs_measured;    ///< Looks at what the kernel measured; not asked of a model's answer.
    void (*check)(const NamedRule& rule, const json::object& artifact, const RuleContext& context, ViolationList& violations);
};

/// All rules, in the order of docs/contracts.md.
[[nodiscard]] const std::vector<NamedRule>& named_rules();
/// The rule, or null.
[[nodiscard]] const NamedRule* find_rule(std::string_view text);
/// What is wrong with a path that must stay inside the project ("is absolute", …); empty where nothing is.
[[nodiscard]] std::string relative_path_problem(std::string_view path);

}  // namespace agentforge::kernel
