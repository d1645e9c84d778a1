// SPDX-License-Identifier: Apache-2.0
// Reads the test lines that the helpers of Python and JavaScript write, and decides whether to trust them.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "gates/engine/test_run.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {

/// What the kernel knows about a run before it reads the results.
struct RunExpectation {
    std::string nonce;
    std::size_t canary_tests = 1;     ///< This many must be collected, run and fail at an assertion.
    std::chrono::seconds timeout{0};  ///< For messages.
};

/// Reads `agentforge-lines` (config/languages/python/run_tests.py). The run is trusted only if every line is a JSON object with
/// the nonce and its own number, the last one is the end mark with the right counts, the exit code is the announced one and
/// agrees with the outcomes, every planned test has one result, and each canary failed at an assertion. Otherwise every planned
/// test becomes an `error` ("not run" or "not trusted"), never passed.
[[nodiscard]] TestRun read_test_lines(std::string_view lines, const RunExpectation& expected, const ProcessOutcome& outcome);

}  // namespace agentforge::kernel
