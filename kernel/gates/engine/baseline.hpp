// SPDX-License-Identifier: Apache-2.0
// What the suite said before the task: what failed then is not held against the task, what says now this and now that is trusted
// neither way. Pure functions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <agentforge/host.hpp>

namespace agentforge::kernel {

/// Ids of tests that pass in one of two runs of the same tree and do not in the other, failing, skipped or missing; in order.
[[nodiscard]] std::vector<std::string> flipped(const std::vector<TestOutcome>& first, const std::vector<TestOutcome>& second);

/// The report `baseline` of two or more runs of the suite on the user's commit. The first run that is believed speaks, the others
/// only say what flips. facts: tests_found, believed, runs, runs_believed, failed_before, flaky, and the first run's others. It
/// always passes: whatever is wrong with the suite is not the task's.
[[nodiscard]] GateReport baseline_report(std::vector<GateReport> runs);

/// Whether a task can be judged against a report `baseline`. Errors: AF-GATE-107 (`unavailable`) tests were found, but no run
/// could measure any of them, because of how they are run. A task may begin on code that does not build or that crashes the
/// runner: fixing that is the task's job.
[[nodiscard]] Result<void> check_suite_was_measured(const GateReport& baseline);

/// Failures that are not held against the task, by id: those that failed before it, and those that are flaky, unless RED declared
/// them.
struct Excused {
    std::set<std::string> failed_before;
    std::set<std::string> flaky;
};
[[nodiscard]] Excused excused_failures(const std::vector<TestOutcome>& base_tests, const std::vector<std::string>& flaky,
                                       const json::object& test_suite, const std::vector<TestOutcome>& now);

/// The strings of a list under `key` of a report's facts; none where there is none.
[[nodiscard]] std::vector<std::string> fact_texts(const json::object& facts, const char* key);

}  // namespace agentforge::kernel
