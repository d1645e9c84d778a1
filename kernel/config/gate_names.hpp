// SPDX-License-Identifier: Apache-2.0
// The kernel's gates: their names, what the kernel knows of each, and the commands that gates run. A template says which gate
// judges a stage (`exit_gate`); the stage's own name does not matter.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace agentforge::kernel {

namespace gate_name {

inline constexpr std::string_view syntax = "syntax";
inline constexpr std::string_view types = "types";
inline constexpr std::string_view conformance = "conformance";
inline constexpr std::string_view tests = "tests";
inline constexpr std::string_view red = "red";            ///< New tests fail because the change is missing.
inline constexpr std::string_view green = "green";        ///< The new tests pass, and all tests that passed before still do.
inline constexpr std::string_view refactor = "refactor";  ///< The same, and the structure is no worse.
/// A violation is fixed, no other appeared, and all tests that passed before still do.
inline constexpr std::string_view fix = "fix";
inline constexpr std::string_view deliver = "deliver";    ///< The whole suite passes on the tree to deliver.
inline constexpr std::string_view baseline = "baseline";  ///< The suite on the user's commit. No template names it.
inline constexpr std::string_view hooks = "hooks";        ///< The user's commit hooks. The delivery runs them, not the gates.

}  // namespace gate_name

/// The tree that a gate compares the measured one with.
enum class ComparedTree : unsigned char {
    base = 1,      ///< The user's commit.
    locked_tests,  ///< The tree with the locked tests. The user's commit while no tests are locked.
};

struct GateFacts {
    std::string_view name;
    ComparedTree compares_with = ComparedTree::locked_tests;  ///< Unless the stage says otherwise (`compares_with`).
    bool judges_a_stage = false;       ///< Judges a stage's whole work; the suite must have been measured before the task.
    bool judges_tests = false;         ///< New tests must fail: the stage's work is tests, and there is no change yet.
    bool verifies_the_change = false;  ///< Later stages only alter verified work. A failing run can show that a test is wrong.
};

/// Every gate that a template may name.
inline constexpr std::array gate_table{
    GateFacts{.name = gate_name::syntax},
    GateFacts{.name = gate_name::types},
    GateFacts{.name = gate_name::conformance},
    GateFacts{.name = gate_name::tests},
    GateFacts{.name = gate_name::red, .compares_with = ComparedTree::base, .judges_a_stage = true, .judges_tests = true},
    GateFacts{.name = gate_name::green, .judges_a_stage = true, .verifies_the_change = true},
    GateFacts{.name = gate_name::refactor, .judges_a_stage = true},
    GateFacts{.name = gate_name::fix, .judges_a_stage = true},
    GateFacts{.name = gate_name::deliver, .judges_a_stage = true},
};

/// Returns a gate's row, or one without a name for a gate that is not in the table.
[[nodiscard]] constexpr GateFacts gate_facts(std::string_view gate) noexcept {
    const auto* const found = std::ranges::find(gate_table, gate, &GateFacts::name);
    return found == gate_table.end() ? GateFacts{} : *found;
}

}  // namespace agentforge::kernel

namespace agentforge::kernel::gate_command {

inline constexpr std::string_view build = "build";
inline constexpr std::string_view tests = "tests";
/// A purpose: alters a changed line to see whether tests notice.
inline constexpr std::string_view for_mutants = "mutants";

}  // namespace agentforge::kernel::gate_command
