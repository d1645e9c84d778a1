// SPDX-License-Identifier: Apache-2.0
// One run of tests: its results, and whether they are trusted.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/host.hpp>

namespace agentforge::kernel {

/// How the project's build runs and judges a test. Only differences matter: a change can invert an outcome.
struct TestInvocation {
    bool recorded = false;     ///< True if the kernel's recorder saw it, not only the runner.
    bool provisional = false;  ///< A program that the kernel built from a file that the project's build does not name yet.
    std::string how;           ///< Lines of `what: value`: command, properties, test files.
    [[nodiscard]] auto operator<=>(const TestInvocation&) const = default;
};

/// One run of a set of test files on one tree.
struct TestRun {
    std::string tree;
    bool trusted = false;
    std::string distrust;  ///< Why it is not trusted; one sentence for the model.
    /// In file order, without the canary. If the run is not trusted, every test is an `error`.
    std::vector<TestOutcome> tests;
    std::map<std::string, std::uint64_t> assertions;  ///< Number of assertions that ran, by id. A missing test was not counted.
    /// A failure of the machine that hit the runner itself, not a test. Then there are no results.
    std::string machine;
    std::vector<std::string> notes;  ///< Messages of the runner for people.
    /// By id, including tests of other files; a test may be run in several ways. Empty: the format does not tell.
    std::map<std::string, std::set<TestInvocation>> invocations;
    std::set<std::string> reads;  ///< Files that build or runner take instructions from, besides those known by name.
    std::chrono::milliseconds duration{0};
    json::object confinement;
    std::string runner;  ///< The language file's name for it.
    /// Built in a folder that other trees were also built and run in: fast, and good for feedback, but never used to judge a
    /// phase.
    bool kept_build = false;
    std::string calls;       ///< Records of varied functions on their calls (varied_calls.hpp), if requested.
    bool not_built = false;  ///< The build failed: each file is an error with the reason.
    bool crashed = false;    ///< A signal ended the runner. The code under test may be the cause.
};

/// Returns the last non-empty line of a process's output.
[[nodiscard]] std::string last_output_line(std::string_view text);

/// Counts total, passed, failed, errors, skipped. `not_collected` counts as an error.
[[nodiscard]] json::object count_tests(const std::vector<TestOutcome>& tests);
[[nodiscard]] bool is_failure(TestStatus status) noexcept;
/// True if a failed run may have failed because of the machine: it is not trusted, or a test's message names such a failure.
[[nodiscard]] bool may_be_machine_failure(const TestRun& run);
/// True if everything was built. Go builds each package separately and reports those that do not build as errors.
[[nodiscard]] bool is_built(const TestRun& run);
/// Returns the outcome with this id, or null. Valid as long as `tests`.
[[nodiscard]] const TestOutcome* outcome_with(const std::vector<TestOutcome>& tests, const std::string& id);

}  // namespace agentforge::kernel
