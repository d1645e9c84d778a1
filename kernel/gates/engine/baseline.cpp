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

GateReport baseline_report(std::vector<GateReport> runs) {
    const auto counts = static_cast<std::int64_t>(runs.size());
    const bool found = std::ranges::any_of(runs, [](const GateReport& run) { return is_true(run.facts, "tests_found"); });
    std::chrono::milliseconds duration{0};
    for (const auto& run : runs) { duration += run.duration; }
    if (found) {
        const auto doubted =
            std::ranges::stable_partition(runs, [](const GateReport& run) { return is_true(run.facts, "believed"); });
        const auto trusted = static_cast<std::int64_t>(runs.size() - doubted.size());
        GateReport report = runs.front();
        std::vector<std::string> flaky;
        for (std::int64_t other = 1; other < trusted; ++other) {
            for (auto& id : differing_tests(report.tests, runs[static_cast<std::size_t>(other)].tests)) {
                if (std::ranges::find(flaky, id) == flaky.end()) { flaky.push_back(std::move(id)); }
            }
        }
        std::vector<std::string> failed;
        for (const auto& test : report.tests) {
            if (is_failure(test.status) && std::ranges::find(flaky, test.id) == flaky.end()) { failed.push_back(test.id); }
        }
        report.summary = number_of_tests(report.tests.size()) + " before the task";
        if (trusted == 0) {
            report.summary =
                "the suite could not be measured before the task: " +
                (report.blocking_issues.empty() ? std::string("it was not trusted") : report.blocking_issues.front());
        } else if (is_true(report.facts, "not_built")) {
            report.summary = "the project does not build before the task (ignored): " +
                             (report.tests.empty() ? std::string() : report.tests.front().message);
        } else {
            if (!failed.empty()) { report.summary += ", " + std::to_string(failed.size()) + " of them failing (ignored)"; }
            if (!flaky.empty()) { report.summary += ", " + std::to_string(flaky.size()) + " flaky (results ignored)"; }
            if (failed.empty() && flaky.empty()) { report.summary += ", none failing"; }
        }
        report.facts["runs"] = counts;
        report.facts["runs_believed"] = trusted;
        report.facts["failed_before"] = list_of_ids(failed);
        report.facts["flaky"] = list_of_ids(flaky);
        report.passed = true;
        report.blocking_issues.clear();
        report.duration = duration;
        return report;
    }
    GateReport report = std::move(runs.front());
    report.passed = true;
    report.blocking_issues.clear();
    report.summary = "no tests before the task, so regressions cannot be detected";
    report.facts["runs"] = counts;
    report.facts["failed_before"] = json::array();
    report.facts["flaky"] = json::array();
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
