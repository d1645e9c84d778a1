// SPDX-License-Identifier: Apache-2.0
// Tests the parts of a set together: runs the command `delivery.set_test` of each repository in checkouts of all parts.
#pragma once

#include "program/project/project.hpp"
#include "program/sets/open_set.hpp"

namespace agentforge::kernel {

/// Checks that the project's command can run: without its test, no branch is created. Errors: AF-SET-016, AF-SET-017, and that of
/// required_setting_error.
[[nodiscard]] Result<void> check_set_test(const OpenSet& open, const Project& project);
/// Runs the command of each repository that has one, and saves the result. Errors: AF-SET-005.
[[nodiscard]] Result<void> run_joint_tests(OpenSet& open);
/// Removes checkouts left by a killed `delivery.set_test`.
[[nodiscard]] Result<void> remove_checkouts(const OpenSet& open);

}  // namespace agentforge::kernel
