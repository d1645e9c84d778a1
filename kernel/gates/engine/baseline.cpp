// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/baseline.hpp"

#include <algorithm>
#include <map>

#include "gates/engine/rules.hpp"
#include "gates/engine/test_run.hpp"

namespace agentforge::kernel {
namespace {

json::array list_of_ids(const std::vector<std::string>& ids) { return json::array(ids.begin(), ids.end()); }

std::string number_of_tests(std::size_t count) { return std::to_string(count) + (count == 1 ? " test" : " tests"); }

bool is_true(const json::object& facts, const char* key) {
    const auto* value = facts.if_contains(key);
    return value != nullptr && value->is_bool() && value->get_bool();
}

}  // namespace

std::vector<std::string> differing_tests(const std::vector<TestOutcome>& first, const std::vector<TestOutcome>& second) {
    std::map<std::string, bool, std::less<>> passed;
    for (const auto& test : second) { passed[test.id] = test.status == TestStatus::passed; }
    std::vector<std::string> ids;
    for (const auto& test : first) {
        const auto other = passed.find(test.id);
        const bool passes_there = other != passed.end() && other->second;
        if (passes_there != (test.status == TestStatus::passed)) { ids.push_back(test.id); }
        if (other != passed.end()) { passed.erase(other); }
    }
    for (const auto& [id, passes] : passed) {
        if (passes) { ids.push_back(id); }
    }
    return ids;
}

namespace {

/// Returns the tests whose results differ between the first run and another of the `trusted` first ones.
std::vector<std::string> flaky_tests(const std::vector<GateReport>& runs, std::size_t trusted) {
    std::vector<std::string> flaky;
    for (std::size_t other = 1; other < trusted; ++other) {
        for (auto& id : differing_tests(runs.front().tests, runs[other].tests)) {
            if (std::ranges::find(flaky, id) == flaky.end()) { flaky.push_back(std::move(id)); }
        }
    }
    return flaky;
}

std::vector<std::string> steadily_failing_tests(const GateReport& run, const std::vector<std::string>& flaky) {
    std::vector<std::string> failed;
    for (const auto& test : run.tests) {
        if (is_failure(test.status) && std::ranges::find(flaky, test.id) == flaky.end()) { failed.push_back(test.id); }
    }
    return failed;
}

/// `measured`: at least one run is trusted.
std::string baseline_summary(const GateReport& run, bool measured, const std::vector<std::string>& failed,
                             const std::vector<std::string>& flaky) {
    if (!measured) {
        return "the suite could not be measured before the task: " +
               (run.blocking_issues.empty() ? std::string("it was not trusted") : run.blocking_issues.front());
    }
    if (is_true(run.facts, "not_built")) {
        return "the project does not build before the task (ignored): " +
               (run.tests.empty() ? std::string() : run.tests.front().message);
    }
    std::string summary = number_of_tests(run.tests.size()) + " before the task";
    if (!failed.empty()) { summary += ", " + std::to_string(failed.size()) + " of them failing (ignored)"; }
    if (!flaky.empty()) { summary += ", " + std::to_string(flaky.size()) + " flaky (results ignored)"; }
    if (failed.empty() && flaky.empty()) { summary += ", none failing"; }
    return summary;
}

/// Makes the first trusted run the baseline, or the first of all if none is trusted.
GateReport measured_baseline(std::vector<GateReport> runs) {
    const auto doubted =
        std::ranges::stable_partition(runs, [](const GateReport& run) { return is_true(run.facts, "believed"); });
    const std::size_t trusted = runs.size() - doubted.size();
    GateReport report = runs.front();
    const auto flaky = flaky_tests(runs, trusted);
    const auto failed = steadily_failing_tests(report, flaky);
    report.summary = baseline_summary(report, trusted != 0, failed, flaky);
    report.facts["runs"] = static_cast<std::int64_t>(runs.size());
    report.facts["runs_believed"] = static_cast<std::int64_t>(trusted);
    report.facts["failed_before"] = list_of_ids(failed);
    report.facts["flaky"] = list_of_ids(flaky);
    return report;
}

GateReport baseline_without_tests(std::vector<GateReport> runs) {
    GateReport run = std::move(runs.front());
    run.summary = "no tests before the task: no suite could show what it breaks";
    run.facts["runs"] = static_cast<std::int64_t>(runs.size());
    run.facts["failed_before"] = json::array();
    run.facts["flaky"] = json::array();
    return run;
}

}  // namespace

GateReport baseline_report(std::vector<GateReport> runs) {
    const bool found = std::ranges::any_of(runs, [](const GateReport& run) { return is_true(run.facts, "tests_found"); });
    std::chrono::milliseconds duration{0};
    for (const auto& run : runs) { duration += run.duration; }
    GateReport report = found ? measured_baseline(std::move(runs)) : baseline_without_tests(std::move(runs));
    report.passed = true;
    report.blocking_issues.clear();
    report.duration = duration;
    return report;
}

Result<void> check_suite_was_measured(const GateReport& baseline) {
    const auto reasons = fact_texts(baseline.facts, "unmeasurable");
    const bool some_passed =
        std::ranges::any_of(baseline.tests, [](const TestOutcome& test) { return test.status == TestStatus::passed; });
    if (reasons.empty() || some_passed) { return {}; }
    return Error{
        "AF-GATE-107", "Cannot run the project's tests before the task changes anything: " + reasons.front() + ".", "",
        "Run the tests by hand and fix what stops them, or set how AgentForge runs them: gates.command, gates.language, gates.programs, gates.timeouts.tests (docs/gates.md).",
        ErrorKind::unavailable};
}

Excused excused_failures(const std::vector<TestOutcome>& base_tests, const std::vector<std::string>& flaky,
                         const json::object& test_suite, const std::vector<TestOutcome>& now) {
    std::set<std::string> declared;
    std::vector<std::string> problems;
    for (const auto& test : declared_tests(test_suite, problems)) {
        for (const auto* outcome : outcomes_of(test, now)) { declared.insert(outcome->id); }
    }
    std::set<std::string> failed;
    for (const auto& test : base_tests) {
        if (is_failure(test.status)) { failed.insert(test.id); }
    }
    const std::set<std::string> flaky_ids(flaky.begin(), flaky.end());
    Excused excused;
    for (const auto& test : now) {
        if (!is_failure(test.status) || declared.contains(test.id)) { continue; }
        if (flaky_ids.contains(test.id)) {
            excused.flaky.insert(test.id);
        } else if (failed.contains(test.id)) {
            excused.failed_before.insert(test.id);
        }
    }
    return excused;
}

std::vector<std::string> fact_texts(const json::object& facts, const char* key) {
    std::vector<std::string> result;
    const auto* value = facts.if_contains(key);
    if (value == nullptr || !value->is_array()) { return result; }
    for (const auto& item : value->get_array()) {
        if (item.is_string()) { result.emplace_back(item.get_string()); }
    }
    return result;
}

}  // namespace agentforge::kernel
