// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/merged_report.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "gates/engine/rules.hpp"
#include "gates/engine/scope_parts.hpp"

namespace agentforge::kernel {

namespace {

/// Facts that are lists of test ids or paths.
constexpr std::array<std::string_view, 22> id_lists{"passed_already", "failing_tests",     "new_tests",        "guard_tests",
                                                    "removed_tests",  "passing_tests",     "failed_before",    "flaky_tests",
                                                    "flaky",          "skeleton_files",    "test_files",       "flaky_since",
                                                    "special_casing", "mutants_survived",  "held_out_failing", "repeated_values",
                                                    "waiting_tests",  "removed_functions", "lost_tests",       "changed_tests",
                                                    "tests_at_fault", "unnamed_files"};

json::value whole_value(std::string_view name, const json::value& value, const Scope& scope) {
    if (std::find(id_lists.begin(), id_lists.end(), name) != id_lists.end() && value.is_array()) {
        json::array list;
        for (const auto& item : value.get_array()) {
            list.push_back(item.is_string() ? json::value(Scopes::outside(scope, std::string_view(item.get_string()))) : item);
        }
        return list;
    }
    if (name == "coverage_mapping" && value.is_object()) {
        json::object mapping;
        for (const auto& field : value.get_object()) { mapping[field.key()] = whole_value("new_tests", field.value(), scope); }
        return mapping;
    }
    if (name == "notes" && value.is_array()) {
        json::array list;
        for (const auto& item : value.get_array()) {
            list.push_back(item.is_string() && !scope.directory.empty()
                               ? json::value("In " + scope.directory + ": " + std::string(item.get_string()))
                               : item);
        }
        return list;
    }
    return value;
}

void add(json::value& sum, const json::value& value, std::string_view name) {
    if (sum.is_bool() && value.is_bool()) {
        sum = name == "tests_found" ? sum.get_bool() || value.get_bool() : sum.get_bool() && value.get_bool();
    } else if (sum.is_int64() && value.is_int64() && name == "coverage_percent") {
        sum = std::min(sum.get_int64(), value.get_int64());  // Each project must meet it.
    } else if (sum.is_int64() && value.is_int64()) {
        sum = sum.get_int64() + value.get_int64();
    } else if (sum.is_array() && value.is_array()) {
        for (const auto& item : value.get_array()) { sum.get_array().push_back(item); }
    } else if (sum.is_object() && value.is_object() && name != "confinement") {
        for (const auto& field : value.get_object()) {
            if (auto* known = sum.get_object().if_contains(field.key())) {
                add(*known, field.value(), field.key());
            } else {
                sum.get_object()[field.key()] = field.value();
            }
        }
    } else if (sum.is_string() && value.is_string() && sum != value) {
        sum = std::string(sum.get_string()) + ", " + std::string(value.get_string());
    }
}

bool fact_is(const GateReport& report, const char* name, bool wanted) {
    const auto* found = report.facts.if_contains(name);
    return found != nullptr && found->is_bool() && found->get_bool() == wanted;
}

std::optional<std::int64_t> number_in(const json::object& facts, const char* key) {
    const auto* found = facts.if_contains(key);
    return found != nullptr && found->is_int64() ? std::optional(found->get_int64()) : std::nullopt;
}

/// Merges the reports of scopes, one after the other.
class MergedReport {
public:
    explicit MergedReport(std::size_t parts) : only_(parts == 1) { report_.passed = true; }

    void add(const Scope& scope, GateReport part);
    GateReport finish(const GateBaseline* whole);

private:
    void add_outcome(const Scope& scope, const GateReport& part);
    void add_tests(const Scope& scope, std::vector<TestOutcome>& tests);
    void add_violations(const Scope& scope, std::vector<Violation>& violations);
    void count_requirements(const json::object& facts);
    void add_facts(const Scope& scope, const json::object& facts);
    void leave_out_testable(const GateBaseline& whole);

    const bool only_;  ///< There is one part.
    GateReport report_;
    std::string good_;  ///< The summary if all passed.
    std::int64_t requirements_ = 0;
    std::int64_t covered_ = 0;
    json::array scopes_;
};

void MergedReport::add(const Scope& scope, GateReport part) {
    add_outcome(scope, part);
    add_tests(scope, part.tests);
    add_violations(scope, part.violations);
    count_requirements(part.facts);
    part.facts.erase("requirements_testable");
    add_facts(scope, part.facts);
    scopes_.push_back(json::object{{"directory", scope_name(scope)}, {"language", scope.language}, {"passed", part.passed}});
}

void MergedReport::add_outcome(const Scope& scope, const GateReport& part) {
    report_.passed = report_.passed && part.passed;
    report_.duration += part.duration;
    const auto in = only_ && scope.directory.empty() ? std::string{} : "In " + scope_name(scope) + ": ";
    good_ += (good_.empty() ? "" : "; ") + (in.empty() ? "" : scope_name(scope) + ": ") + part.summary;
    for (const auto& issue : part.blocking_issues) { report_.blocking_issues.push_back(in + issue); }
    if (!part.passed && report_.summary.empty()) { report_.summary = in + part.summary; }
}

void MergedReport::add_tests(const Scope& scope, std::vector<TestOutcome>& tests) {
    for (auto& test : tests) {
        if (!scope.directory.empty()) {
            test.id = Scopes::outside(scope, test.id);
            if (!test.file.empty()) { test.file = Scopes::outside(scope, test.file); }
        }
        report_.tests.push_back(std::move(test));
    }
}

void MergedReport::add_violations(const Scope& scope, std::vector<Violation>& violations) {
    for (auto& violation : violations) {
        if (!violation.file.empty()) { violation.file = Scopes::outside(scope, violation.file); }
        report_.violations.push_back(std::move(violation));
    }
}

void MergedReport::count_requirements(const json::object& facts) {
    const auto percent = number_in(facts, "requirement_coverage_percent").value_or(0);
    if (const auto mine = number_in(facts, "requirements_testable")) {
        requirements_ += *mine;
        covered_ += (percent * *mine + 99) / 100;
    }
}

void MergedReport::add_facts(const Scope& scope, const json::object& facts) {
    for (const auto& fact : facts) {
        const auto value = whole_value(fact.key(), fact.value(), scope);
        if (auto* known = report_.facts.if_contains(fact.key())) {
            kernel::add(*known, value, fact.key());
        } else {
            report_.facts[fact.key()] = value;
        }
    }
}

GateReport MergedReport::finish(const GateBaseline* whole) {
    if (report_.passed) { report_.summary = good_; }
    if (report_.facts.contains("requirement_coverage_percent")) {
        report_.facts["requirement_coverage_percent"] = requirements_ == 0 ? 100 : covered_ * 100 / requirements_;
    }
    if (whole != nullptr) { leave_out_testable(*whole); }
    report_.facts["scopes"] = std::move(scopes_);
    return std::move(report_);
}

/// Removes the requirements that the whole specification wants tested: one scope's report lists those of other scopes as
/// untested.
void MergedReport::leave_out_testable(const GateBaseline& whole) {
    auto* others = report_.facts.if_contains("requirements_not_tested_by_contract");
    if (others == nullptr || !others->is_array()) { return; }
    const auto testable = testable_requirements(whole.specification);
    json::array left;
    for (const auto& item : others->get_array()) {
        if (!item.is_string() ||
            std::find(testable.begin(), testable.end(), std::string_view(item.get_string())) == testable.end()) {
            left.push_back(item);
        }
    }
    *others = std::move(left);
}

}  // namespace

GateReport merge_reports(std::vector<std::pair<const Scope*, GateReport>> parts, const GateBaseline* whole) {
    // Ignores scopes without tests if another scope has tests.
    const bool some_tests =
        std::any_of(parts.begin(), parts.end(), [](const auto& part) { return fact_is(part.second, "tests_found", true); });
    if (some_tests) {
        std::erase_if(parts, [](const auto& part) { return part.second.passed && fact_is(part.second, "tests_found", false); });
    }
    MergedReport merged(parts.size());
    for (auto& [scope, part] : parts) { merged.add(*scope, std::move(part)); }
    return merged.finish(whole);
}

}  // namespace agentforge::kernel
