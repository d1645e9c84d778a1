// SPDX-License-Identifier: Apache-2.0
// The part of a gate's request that concerns one scope, with paths relative to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gates/engine/scopes.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel {

/// Returns the scope's folder; `.` for the whole tree.
[[nodiscard]] std::string scope_name(const Scope& scope);
[[nodiscard]] bool is_in_scope(const Scopes& scopes, const Scope& scope, std::string_view path);
/// True if RED named a test in the scope.
[[nodiscard]] bool names_tests(const json::object& test_suite, const Scopes& scopes, const Scope& scope);
/// True if the violation to fix is in the scope.
[[nodiscard]] bool holds_violation(const GateRequest& request, const Scopes& scopes, const Scope& scope);
[[nodiscard]] json::object part_of_parameters(const GateRequest& request, const Scopes& scopes, const Scope& scope);
/// Returns a call's baseline for one scope: its paths, tests and interfaces, and the requirements that its tests name.
[[nodiscard]] GateBaseline part_of_baseline(const GateBaseline& whole, const Scopes& scopes, const Scope& scope);
/// Returns the paths of a call inside one scope; `.` if the path contains the scope.
[[nodiscard]] std::vector<std::string> part_of_paths(const std::vector<std::string>& paths, const Scopes& scopes,
                                                     const Scope& scope);

}  // namespace agentforge::kernel
