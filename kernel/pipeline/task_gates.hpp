// SPDX-License-Identifier: Apache-2.0
// The gates that measure a task's trees.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agentforge/result.hpp>

#include "gates/gate_runner.hpp"
#include "tools/path_rules.hpp"

namespace agentforge::kernel {

/// The kernel's measurements on recorded trees, outside the agents' workspace.
class TaskGates {
public:
    virtual ~TaskGates() = default;
    [[nodiscard]] virtual Result<GateReport> gate(const GateCall& call, const Stop& stop) = 0;
    /// Returns the inputs of gates besides the tree (GateRunner::inputs). Empty: nothing that can change.
    [[nodiscard]] virtual Result<std::string> gate_inputs() { return std::string(); }
    /// Returns the commands that gates ran since the last call (GateRunner::take_commands).
    [[nodiscard]] virtual std::vector<GateCommand> take_gate_commands() { return {}; }
    /// Returns how often the suite runs before the task (`gates.baseline_runs`). More than once finds flaky tests.
    [[nodiscard]] virtual std::int64_t baseline_runs() const { return 1; }
    /// True if tests may be held out (`gates.held_out`).
    [[nodiscard]] virtual bool holds_out_tests() const { return false; }
    /// Returns files that start a test suite if the tree has none (GateRunner::scaffold).
    [[nodiscard]] virtual Result<std::vector<std::pair<std::string, std::string>>> scaffold(const std::string&) {
        return std::vector<std::pair<std::string, std::string>>();
    }
    [[nodiscard]] virtual Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop) = 0;
    /// Checks that a specification's interfaces can be declared and compiled. Errors: AF-GATE-030; those of gates.
    [[nodiscard]] virtual Result<void> try_specification(const std::string& /*tree*/, const json::object& /*specification*/,
                                                         const Stop& /*stop*/) {
        return {};
    }
    /// Returns the meaning of `@tests` and `@sources` in a role's path rules for a tree. Errors: AF-GATE-010, AF-GATE-012,
    /// AF-GATE-080.
    [[nodiscard]] virtual Result<std::shared_ptr<const PathSymbols>> path_symbols(const std::string& tree) = 0;
};

}  // namespace agentforge::kernel
