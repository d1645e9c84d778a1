// SPDX-License-Identifier: Apache-2.0
// The gates that judge a stage's whole work, by name. A template says which one judges a stage (`exit_gate`); no stage is known
// by its own name.
#pragma once

#include <string_view>

namespace agentforge::kernel::gate_name {

inline constexpr std::string_view red = "red";            ///< New tests fail, and for want of the change.
inline constexpr std::string_view green = "green";        ///< They pass now, and what passed before does.
inline constexpr std::string_view refactor = "refactor";  ///< The same, and the structure is no worse.
inline constexpr std::string_view fix = "fix";          ///< A violation is gone, no other appeared, and what passed before does.
inline constexpr std::string_view deliver = "deliver";  ///< The whole suite passes on the tree that is delivered.
inline constexpr std::string_view tests = "tests";
inline constexpr std::string_view baseline = "baseline";  ///< The suite on the user's commit.

}  // namespace agentforge::kernel::gate_name
