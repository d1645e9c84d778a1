// SPDX-License-Identifier: Apache-2.0
// Formats a gate's report for a model: the verdict, the counts and the first failures.
#pragma once

#include <agentforge/host.hpp>

#include <algorithm>
#include <string>

namespace agentforge {

[[nodiscard]] inline const char* status_word(TestStatus status) noexcept {
    switch (status) {
        case TestStatus::passed:
            return "passed";
        case TestStatus::failed_assertion:
            return "failed";
        case TestStatus::failed_skeleton:
            return "failed (not implemented)";
        case TestStatus::error:
            return "error";
        case TestStatus::skipped:
            return "skipped";
        case TestStatus::not_collected:
            return "not collected";
    }
    return "unknown";
}

struct TestCounts {
    std::size_t passed = 0;
    std::size_t failed = 0;
    std::size_t errors = 0;
    std::size_t skipped = 0;
    std::size_t not_collected = 0;
};

[[nodiscard]] inline TestCounts count_tests(const GateReport& report) {
    TestCounts counts;
    for (const auto& test : report.tests) {
        switch (test.status) {
            case TestStatus::passed:
                ++counts.passed;
                break;
            case TestStatus::failed_assertion:
            case TestStatus::failed_skeleton:
                ++counts.failed;
                break;
            case TestStatus::error:
                ++counts.errors;
                break;
            case TestStatus::skipped:
                ++counts.skipped;
                break;
            case TestStatus::not_collected:
                ++counts.not_collected;
                break;
        }
    }
    return counts;
}

/// Returns, for instance, `3 passed, 1 failed`; empty if no test was reported.
[[nodiscard]] inline std::string counts_text(const TestCounts& counts) {
    std::string text;
    const auto add = [&](std::size_t number, const char* word) {
        if (number > 0) { text += (text.empty() ? "" : ", ") + std::to_string(number) + " " + word; }
    };
    add(counts.passed, "passed");
    add(counts.failed, "failed");
    add(counts.errors, counts.errors == 1 ? "error" : "errors");
    add(counts.skipped, "skipped");
    add(counts.not_collected, "not collected");
    return text;
}

/// Lists at most `max_entries` tests that did not pass and at most `max_entries` violations (critical ones first), each with its
/// place, message and fix hint.
[[nodiscard]] inline std::string gate_text(const GateReport& report, std::size_t max_entries = 10) {
    const auto place = [](const std::string& file, std::uint64_t line) {
        return line == 0 ? file : file + ":" + std::to_string(line);
    };
    std::string text = report.gate + (report.passed ? ": passed" : ": NOT passed");
    if (!report.summary.empty()) { text += " - " + report.summary; }
    text += "\n";
    if (const auto counts = counts_text(count_tests(report)); !counts.empty()) { text += counts + "\n"; }
    for (std::size_t i = 0; i < std::min(report.blocking_issues.size(), max_entries); ++i) {
        text += "! " + report.blocking_issues[i] + "\n";
    }
    if (report.blocking_issues.size() > max_entries) {
        text += "… and " + std::to_string(report.blocking_issues.size() - max_entries) + " more issues\n";
    }
    std::size_t shown = 0;
    std::size_t left_out = 0;
    for (const auto& test : report.tests) {
        if (test.status == TestStatus::passed || test.status == TestStatus::skipped) { continue; }
        if (shown == max_entries) {
            ++left_out;
            continue;
        }
        ++shown;
        text += std::string(status_word(test.status)) + "  " + (test.id.empty() ? test.name : test.id);
        if (!test.file.empty()) { text += "  at " + place(test.file, test.line); }
        text += "\n";
        if (!test.message.empty()) { text += "    " + test.message.substr(0, 500) + "\n"; }
    }
    if (left_out > 0) { text += "… and " + std::to_string(left_out) + " more tests that did not pass\n"; }
    auto violations = report.violations;
    const auto rank = [](const Violation& violation) {
        if (violation.severity == "critical") { return 0; }
        return violation.severity == "major" ? 1 : 2;
    };
    std::stable_sort(violations.begin(), violations.end(),
                     [&](const Violation& a, const Violation& b) { return rank(a) < rank(b); });
    for (std::size_t i = 0; i < std::min(violations.size(), max_entries); ++i) {
        const auto& one = violations[i];
        text += place(one.file, one.line) + "  " + one.severity + "  " + one.check_id + ": " + one.message + "\n";
        if (!one.fix_hint.empty()) { text += "    fix: " + one.fix_hint + "\n"; }
    }
    if (violations.size() > max_entries) {
        text += "… and " + std::to_string(violations.size() - max_entries) + " more violations\n";
    }
    return text;
}

/// Returns what the journal keeps of a report.
[[nodiscard]] inline json::object gate_data(const GateReport& report) {
    const auto counts = count_tests(report);
    json::object data;
    data["gate"] = report.gate;
    data["tree"] = report.tree;
    data["passed"] = report.passed;
    data["tests"] = json::object{{"passed", counts.passed},
                                 {"failed", counts.failed},
                                 {"errors", counts.errors},
                                 {"skipped", counts.skipped},
                                 {"not_collected", counts.not_collected}};
    data["violations"] = report.violations.size();
    return data;
}

}  // namespace agentforge
