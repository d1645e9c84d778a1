// SPDX-License-Identifier: Apache-2.0
// The results of the suite before the task. Failures from before are not held against the task, and flaky tests count in neither
// direction. Pure functions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <agentforge/host.hpp>

namespace agentforge::kernel {

/// Returns the ids, in order, of tests that pass in one of two runs of the same tree and fail, are skipped or are missing in the
/// other.
[[nodiscard]] std::vector<std::string> differing_tests(const std::vector<TestOutcome>& first,
                                                       const std::vector<TestOutcome>& second);

/// Builds the report `baseline` from two or more runs of the suite on the user's commit. The first trusted run gives the results;
/// the others only show what is flaky. facts: tests_found, believed, runs, runs_believed, failed_before, flaky, and the first
/// run's others. The report always passes: the task is not to blame for the suite.
[[nodiscard]] GateReport baseline_report(std::vector<GateReport> runs);

/// Checks that a task can be judged against a report `baseline`. Errors: AF-GATE-107 (`unavailable`) tests were found, but no run
/// could measure any of them because of how they are run. A task may begin on code that does not build or that crashes the
/// runner, because fixing that may be the task.
[[nodiscard]] Result<void> check_suite_was_measured(const GateReport& baseline);

/// Failures that are not held against the task, by id: those from before it, and flaky ones, unless RED declared them.
struct Excused {
    std::set<std::string> failed_before;
    std::set<std::string> flaky;
};
[[nodiscard]] Excused excused_failures(const std::vector<TestOutcome>& base_tests, const std::vector<std::string>& flaky,
                                       const json::object& test_suite, const std::vector<TestOutcome>& now);

/// Returns the strings of a list under `key` in a report's facts. None if there is no list.
[[nodiscard]] std::vector<std::string> fact_texts(const json::object& facts, const char* key);

}  // namespace agentforge::kernel
