// SPDX-License-Identifier: Apache-2.0
// Named rules: checks that a schema cannot express. A contract names a rule by its text.
#pragma once

#include "contracts/violation_list.hpp"

namespace agentforge::kernel {

struct NamedRule {
    std::string_view text;  ///< Stable, because contract files quote it.
    bool needs_measured;    ///< True if it checks the kernel's measurements. Not applied to a model's answer.
    void (*check)(const NamedRule& rule, const json::object& artifact, const RuleContext& context, ViolationList& violations);
};

/// All rules, in the order of docs/contracts.md.
[[nodiscard]] const std::vector<NamedRule>& named_rules();
/// Returns the rule, or null.
[[nodiscard]] const NamedRule* find_rule(std::string_view text);
/// Returns the problem of a path that must stay inside the project ("is absolute", …), or empty.
[[nodiscard]] std::string relative_path_problem(std::string_view path);

}  // namespace agentforge::kernel
