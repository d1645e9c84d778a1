// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tests/suspicions.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "gates/engine/baseline.hpp"

namespace agentforge::kernel {

namespace {

/// Returns the words after `file:line` for a violation that is listed but blocks nothing. Empty for other violations.
std::string_view words_for(std::string_view check) {
    if (check == "opaque-table") { return " has a table whose keys are hashes or long hexadecimal numbers"; }
    if (check == "depends-on-build") { return " may give different results in another build type"; }
    if (check == "depends-on-surroundings") {
        return " may behave differently in another thread, terminal, process, build or year";
    }
    return {};
}

/// Returns `file:line`, the beginning of each fact.
std::string place_of(const std::string& text) { return text.substr(0, text.find(' ')); }

/// Adds one line for each changed line of code with mutants that no new test noticed, regardless of their number.
void append_survivors(const std::vector<std::string>& survivors, std::vector<std::string>& lines) {
    std::vector<std::pair<std::string, std::size_t>> by_place;  // The first survivor at each place, and the number of further
                                                                // ones.
    for (const std::string& each : survivors) {
        const auto same = std::find_if(by_place.begin(), by_place.end(),
                                       [&](const auto& known) { return place_of(known.first) == place_of(each); });
        if (same != by_place.end()) {
            ++same->second;
        } else {
            by_place.emplace_back(each, 0);
        }
    }
    for (const auto& [first, more] : by_place) {
        lines.push_back(
            "no new test notices " + first +
            (more == 0 ? ""
                       : ", nor " + std::to_string(more) + (more == 1 ? " other change" : " other changes") + " of this line"));
    }
}

}  // namespace

std::vector<std::string> suspicions(const GateReport& report, const HeldOutTests& held_out) {
    std::vector<std::string> lines;
    for (const std::string& file : held_out.shown) {
        lines.push_back(file + " was held out, failed twice, and was then shown to the model");
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
        const std::string_view words = words_for(violation.check_id);
        if (!words.empty()) { lines.push_back(violation.file + ":" + std::to_string(violation.line) + std::string(words)); }
    }
    for (const std::string& each : fact_texts(report.facts, "lost_tests")) {
        lines.push_back(each + " was removed and does not load with the change, so what it tested cannot be measured");
    }
    for (const std::string& each : fact_texts(report.facts, "removed_functions")) {
        lines.push_back(each + " was removed, although neither the request nor the specification names it");
    }
    for (const std::string& each : fact_texts(report.facts, "unnamed_files")) {
        lines.push_back(each + " was changed, although neither the request nor the specification names it");
    }
    for (const std::string& each : fact_texts(report.facts, "unmentioned_names")) {
        lines.push_back("the request names `" + each + "`, and neither the specification's requirements nor the tests do");
    }
    append_survivors(fact_texts(report.facts, "mutants_survived"), lines);
    for (const std::string& each : fact_texts(report.facts, "flaky_since")) {
        lines.push_back(each + " failed here once and passed twice");
    }
    return lines;
}

}  // namespace agentforge::kernel
