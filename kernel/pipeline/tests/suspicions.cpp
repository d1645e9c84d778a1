// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tests/suspicions.hpp"

#include <algorithm>

#include "gates/engine/baseline.hpp"

namespace agentforge::kernel {

namespace {

/// Returns `file:line`, the beginning of each fact.
std::string place_of(const std::string& text) { return text.substr(0, text.find(' ')); }

}  // namespace

std::vector<std::string> suspicions(const GateReport& report, const HeldOutTests& held_out) {
    std::vector<std::string> lines;
    for (const std::string& file : held_out.shown) {
        lines.push_back(file + " was held out, failed twice, and was then shown to those who implemented");
    }
    std::vector<std::string> named;
    for (const std::string& each : fact_texts(report.facts, "special_casing")) {
        named.push_back(place_of(each));
        lines.push_back(each);
    }
    for (const std::string& each : fact_texts(report.facts, "repeated_values")) {
        if (std::find(named.begin(), named.end(), place_of(each)) == named.end()) { lines.push_back(each); }
    }
    for (const Violation& violation : report.violations) {
        if (violation.check_id == "opaque-table") {
            lines.push_back(violation.file + ":" + std::to_string(violation.line) + " has a table whose keys cannot be read");
        }
    }
    for (const std::string& each : fact_texts(report.facts, "lost_tests")) {
        lines.push_back(each + " is gone, and cannot be run beside the change");
    }
    for (const std::string& each : fact_texts(report.facts, "removed_functions")) {
        lines.push_back(each + " is gone, which neither the request nor the specification names");
    }
    for (const std::string& each : fact_texts(report.facts, "mutants_survived")) {
        lines.push_back("no new test notices " + each);
    }
    for (const std::string& each : fact_texts(report.facts, "flaky_since")) {
        lines.push_back(each + " failed here once and passed twice");
    }
    return lines;
}

}  // namespace agentforge::kernel
