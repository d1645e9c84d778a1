// SPDX-License-Identifier: Apache-2.0
// The baseline: the suite's results before the task. Earlier failures and flaky tests do not count against the task. Pure
// functions.
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
/// run's others. The report always passes, because the task has changed nothing yet.
[[nodiscard]] GateReport baseline_report(std::vector<GateReport> runs);

/// Checks that a task can be judged against a report `baseline`. Errors: AF-GATE-107 (`unavailable`) tests were found, but no run
/// could measure any, because the way they run is wrong. A task may begin on code that does not build or crashes the runner:
/// fixing it may be the task.
[[nodiscard]] Result<void> check_suite_was_measured(const GateReport& baseline);

/// Failures that do not count against the task, by id: earlier ones and flaky ones. Excludes tests that RED declared.
struct Excused {
    std::set<std::string> failed_before;
    std::set<std::string> flaky;
};
[[nodiscard]] Excused excused_failures(const std::vector<TestOutcome>& base_tests, const std::vector<std::string>& flaky,
                                       const json::object& test_suite, const std::vector<TestOutcome>& now);

/// Returns the strings of a list under `key` in a report's facts. None if there is no list.
[[nodiscard]] std::vector<std::string> fact_texts(const json::object& facts, const char* key);

}  // namespace agentforge::kernel
