// SPDX-License-Identifier: Apache-2.0
// What a test run said, and whether it is believed.
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

#include "sandbox/process.hpp"

namespace agentforge::kernel {

/// How a test is run and judged, as the project's build has it. What is the same before and after a change may mean what it
/// likes; what differs turns an outcome round.
struct TestInvocation {
    bool recorded = false;     ///< By what the kernel's recorder saw, and not by the runner's word alone.
    bool provisional = false;  ///< A program that the kernel made of a file which the project's build does not name yet.
    std::string how;           ///< Lines of `what: value`: command, properties, files of tests.
    [[nodiscard]] auto operator<=>(const TestInvocation&) const = default;
};

/// One run of a set of test files on one tree.
struct TestRun {
    std::string tree;
    bool believed = false;
    std::string disbelief;           ///< Why not; one sentence for the model.
    std::vector<TestOutcome> tests;  ///< Without the canary; by file as run. Not believed: every one is an `error`.
    std::map<std::string, std::uint64_t> assertions;  ///< By id, how many ran; a test that is not here was not counted.
    std::string machine;             ///< What the runner itself, not a test, met of a failing machine. Then nothing is a result.
    std::vector<std::string> notes;  ///< What the runner wanted a person to know.
    /// By id, those of other files too; a test may be run in several ways. Empty: the format tells none.
    std::map<std::string, std::set<TestInvocation>> invocations;
    std::set<std::string>
        reads;  ///< What the build or the runner takes instructions from besides files that are known by their names.
    std::chrono::milliseconds duration{0};
    json::object confinement;
    std::string runner;  ///< The language file's name for it.
    /// Built in a folder in which other trees were built and run: quick, and good for feedback; no phase is judged by it.
    bool kept_build = false;
    std::string calls;       ///< What varied functions told of their calls (varied_calls.hpp), where that was asked for.
    bool not_built = false;  ///< The build failed: each file is an error that says why.
    bool crashed = false;    ///< A signal ended the runner; the code under test may be the cause.
};

/// What the kernel knows about a run before it reads the results.
struct RunExpectation {
    std::string nonce;
    std::size_t canary_tests = 1;     ///< So many must be collected, run and fail at an assertion.
    std::chrono::seconds timeout{0};  ///< For messages.
};

/// Reads `agentforge-lines` (config/languages/python/run_tests.py). The run is believed only if every line is a JSON object
/// with the nonce and its own number, the last one is the end mark with the right counts, the exit code is the one
/// it announces and agrees with the outcomes, every planned test has one result, and each canary failed at an assertion.
/// Otherwise every planned test becomes an `error` ("not run" or "not believed"), never passed.
[[nodiscard]] TestRun read_test_lines(std::string_view lines, const RunExpectation& expected, const ProcessOutcome& outcome);

/// The last line that says something, of what a process wrote.
[[nodiscard]] std::string last_words(std::string_view text);

/// total, passed, failed, errors, skipped (North Star 2.2: test_results). `not_collected` counts as an error.
[[nodiscard]] json::object count_tests(const std::vector<TestOutcome>& tests);
[[nodiscard]] bool is_failure(TestStatus status) noexcept;
/// Whether a run that failed may have failed because of the machine: it is not believed, or a test's message names such a
/// failure.
[[nodiscard]] bool is_doubtful(const TestRun& run);

}  // namespace agentforge::kernel
