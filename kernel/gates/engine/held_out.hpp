// SPDX-License-Identifier: Apache-2.0
// Held-out tests: chooses which of RED's test files the model does not see, and what it is told when a test fails. Pure
// functions.
#pragma once

#include <string>
#include <vector>

#include "gates/engine/rules.hpp"
#include "gates/engine/test_run.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel {

/// Chooses the test files to hold out. RED must have written the whole file (`added`), and each requirement that it tests must
/// keep a new test in a remaining file. Holds out as few files as possible that cover each requirement with tests in several
/// files, and prefers files with fewer tests.
[[nodiscard]] std::vector<std::string> choose_held_out(const json::object& test_suite, const std::vector<TestOutcome>& red_tests,
                                                       const std::vector<std::string>& added);

/// Returns an artifact without references to these files: removes entries whose `path` or `file` is one of them, and
/// strings that are their path or the id of a test in them.
[[nodiscard]] json::object without_files(const json::object& artifact, const std::vector<std::string>& files);

/// Checks that each held-out test passes now. Ignores those that on RED's tree neither passed nor failed as a new test must. If
/// one fails, the model learns only its requirement in the specification's words: no value, no name, no message. facts:
/// held_out_tests, held_out_pass, held_out_failing (files), passing_tests (held-out tests only).
[[nodiscard]] Verdict judge_held_out(const HeldOut& held, const json::object& specification, const TestRun& run);

}  // namespace agentforge::kernel
