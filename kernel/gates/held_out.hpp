// SPDX-License-Identifier: Apache-2.0
// Tests that are held out: which of RED's files these are, and what is told of one that fails. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "gates/gates.hpp"
#include "gates/results.hpp"
#include "gates/rules.hpp"

namespace agentforge::kernel {

/// Files of tests that can be held out: RED wrote them whole (`added`), and each requirement that they test anew has a new test in a file that
/// is left. As few as hold a test of each requirement that has several files; of two that would do, the one with fewer tests.
[[nodiscard]] std::vector<std::string> choose_held_out(const json::object& test_suite, const std::vector<TestOutcome>& red_tests, const std::vector<std::string>& added);

/// An artifact without what it says of these files: entries with this `path` or `file`, texts that are the path or the id of a test in it.
[[nodiscard]] json::object without_files(const json::object& artifact, const std::vector<std::string>& files);

/// Whether held-out tests pass that failed, or passed, on RED's tree. What is told of one that does not is its requirement and what the specification
/// says of that: no value, no name, no message. facts: held_out_tests, held_out_pass, held_out_failing (files); passing_tests holds those that pass.
[[nodiscard]] Ruling judge_held_out(const HeldOut& held, const json::object& specification, const TestRun& run);

}  // namespace agentforge::kernel
