// SPDX-License-Identifier: Apache-2.0
// The branches of a set: creates them in all repositories, or in none.
#pragma once

#include <string>
#include <vector>

#include "program/sets/open_set.hpp"

namespace agentforge::kernel {

/// Records in the set's file which branches are about to be created, before any is. Errors: AF-SET-006, AF-SET-018.
[[nodiscard]] Result<void> intend_branches(OpenSet& open);
/// Creates the recorded branches. If one cannot be created, removes the others again. Errors: AF-SET-004, AF-SET-006.
[[nodiscard]] Result<void> make_branches(OpenSet& open);
/// Removes the branches that are still at the set's commits. Returns the remaining ones, each with the reason.
[[nodiscard]] Result<std::vector<std::string>> remove_branches(const OpenSet& open);

}  // namespace agentforge::kernel
