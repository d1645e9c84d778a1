// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/report_parts.hpp"

namespace agentforge::kernel {

void take_over(GateReport& report, GateReport part, const std::vector<const char*>& facts) {
    for (const auto* fact : facts) {
        if (const auto* value = part.facts.if_contains(fact)) { report.facts[fact] = *value; }
    }
    for (auto& issue : part.blocking_issues) { report.blocking_issues.push_back(std::move(issue)); }
    for (auto& violation : part.violations) { report.violations.push_back(std::move(violation)); }
}

void take_over(GateReport& report, Verdict verdict) {
    for (auto& issue : verdict.blocking) { report.blocking_issues.push_back(std::move(issue)); }
    for (auto& fact : verdict.facts) { report.facts[fact.key()] = std::move(fact.value()); }
    report.tests = std::move(verdict.tests);
}

void conclude(GateReport& report, const std::string& good) {
    report.passed = report.blocking_issues.empty();
    if (report.passed) {
        report.summary = good;
        return;
    }
    const std::size_t issues = report.blocking_issues.size();
    report.summary = report.blocking_issues.front();
    if (issues > 1) { report.summary += " (and " + std::to_string(issues - 1) + " more)"; }
}

std::int64_t integer_of(const json::object& line, const char* key) {
    const auto* found = line.if_contains(key);
    return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

}  // namespace agentforge::kernel
