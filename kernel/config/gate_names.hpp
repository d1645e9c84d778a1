// SPDX-License-Identifier: Apache-2.0
// Names of the gates that judge a stage's whole work, and of the commands that gates run. A template says which gate judges a
// stage (`exit_gate`); the stage's own name does not matter.
#pragma once

#include <string_view>

namespace agentforge::kernel::gate_name {

inline constexpr std::string_view red = "red";            ///< New tests fail because the change is missing.
inline constexpr std::string_view green = "green";        ///< The new tests pass, and all tests that passed before still do.
inline constexpr std::string_view refactor = "refactor";  ///< The same, and the structure is no worse.
/// A violation is fixed, no other appeared, and all tests that passed before still do.
inline constexpr std::string_view fix = "fix";
inline constexpr std::string_view deliver = "deliver";  ///< The whole suite passes on the tree to deliver.
inline constexpr std::string_view tests = "tests";
inline constexpr std::string_view baseline = "baseline";  ///< The suite on the user's commit.

}  // namespace agentforge::kernel::gate_name

namespace agentforge::kernel::gate_command {

inline constexpr std::string_view build = "build";
inline constexpr std::string_view tests = "tests";
/// A purpose: alters a changed line to see whether tests notice.
inline constexpr std::string_view for_mutants = "mutants";

}  // namespace agentforge::kernel::gate_command
