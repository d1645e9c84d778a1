// SPDX-License-Identifier: Apache-2.0
// Held-out tests: the choice of RED's files, and what the model learns when one fails. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "gates/engine/rules.hpp"
#include "gates/engine/test_run.hpp"
#include "gates/gates.hpp"

namespace agentforge::kernel {

/// Chooses the test files to hold out. RED must have written each entirely (`added`), and each requirement with a new test in it
/// must keep a new test in a remaining file. Holds out as few files as needed to have a test of every requirement with tests in
/// several files. Of two candidates, takes the one with fewer tests.
[[nodiscard]] std::vector<std::string> choose_held_out(const json::object& test_suite, const std::vector<TestOutcome>& red_tests,
                                                       const std::vector<std::string>& added);

/// Returns an artifact without references to these files: removes entries with their `path` or `file`, and texts that are their
/// path or the id of a test in them.
[[nodiscard]] json::object without_files(const json::object& artifact, const std::vector<std::string>& files);

/// Checks that each held-out test passes now if on RED's tree it passed, or failed as a new test must. For a failing one, the
/// model learns only its requirement in the specification's words: no value, no name, no message. facts: held_out_tests,
/// held_out_pass, held_out_failing (files), passing_tests (of these).
[[nodiscard]] Verdict judge_held_out(const HeldOut& held, const json::object& specification, const TestRun& run);

}  // namespace agentforge::kernel
