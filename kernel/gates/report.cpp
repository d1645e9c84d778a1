// SPDX-License-Identifier: Apache-2.0
// Reports as JSON, and their view for an agent.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/json_fields.hpp"
#include "config/gate_names.hpp"
#include "gates/engine/baseline.hpp"
#include "gates/engine/test_run.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::array all_statuses{TestStatus::passed, TestStatus::failed_assertion, TestStatus::failed_skeleton,
                                  TestStatus::error,  TestStatus::skipped,          TestStatus::not_collected};

constexpr const char* report_remedy = "The record is damaged or was written by another version; run the gate again.";

/// Reads the fields of one object. Keeps the first that is missing or has a wrong type.
class Fields {
public:
    Fields(const json::object& value, std::string where) : value_(value), where_(std::move(where)) {}
    std::string text(const char* key) {
        const auto* found = value_.if_contains(key);
        if (found != nullptr && found->is_string()) { return std::string(found->get_string()); }
        wrong(key, "a string");
        return {};
    }
    std::uint64_t number(const char* key) {
        const auto* found = value_.if_contains(key);
        if (found != nullptr && found->is_int64() && found->get_int64() >= 0) {
            return static_cast<std::uint64_t>(found->get_int64());
        }
        if (found != nullptr && found->is_uint64()) { return found->get_uint64(); }
        wrong(key, "a whole number");
        return 0;
    }
    bool flag(const char* key) {
        const auto* found = value_.if_contains(key);
        if (found != nullptr && found->is_bool()) { return found->get_bool(); }
        wrong(key, "true or false");
        return false;
    }
    const json::array& list(const char* key) {
        static const json::array none;
        const auto* found = value_.if_contains(key);
        if (found != nullptr && found->is_array()) { return found->get_array(); }
        wrong(key, "a list");
        return none;
    }
    void wrong(const std::string& key, const std::string& wanted) {
        if (error_) { return; }
        error_ = Error{"AF-GATE-007", "A gate report is not valid: `" + key + "` must be " + wanted + ".", where_, report_remedy,
                       ErrorKind::corrupt};
    }
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

private:
    const json::object& value_;
    std::string where_;
    std::optional<Error> error_;
};

json::object test_to_json(const TestOutcome& test) {
    return {{"id", test.id},
            {"name", test.name},
            {"file", test.file},
            {"line", test.line},
            {"status", to_string(test.status)},
            {"message", test.message}};
}

json::object violation_to_json(const Violation& violation) {
    return {{"check_id", violation.check_id}, {"contract", violation.contract}, {"severity", violation.severity},
            {"file", violation.file},         {"line", violation.line},         {"message", violation.message},
            {"fix_hint", violation.fix_hint}};
}

Result<TestOutcome> test_from_json(const json::value& value) {
    if (!value.is_object()) {
        return Error{"AF-GATE-007", "A gate report is not valid: a test must be a mapping.", "tests", report_remedy,
                     ErrorKind::corrupt};
    }
    Fields fields(value.get_object(), "tests");
    TestOutcome test{fields.text("id"),     fields.text("name"),       fields.text("file"),
                     fields.number("line"), TestStatus::not_collected, fields.text("message")};
    const auto status = fields.text("status");
    const auto* known = std::find_if(all_statuses.begin(), all_statuses.end(),
                                     [&](TestStatus candidate) { return to_string(candidate) == status; });
    if (known == all_statuses.end()) {
        fields.wrong("status", "one of passed, failed_assertion, failed_skeleton, error, skipped, not_collected");
    } else {
        test.status = *known;
    }
    if (fields.error()) { return *fields.error(); }
    return test;
}

Result<Violation> violation_from_json(const json::value& value) {
    if (!value.is_object()) {
        return Error{"AF-GATE-007", "A gate report is not valid: a violation must be a mapping.", "violations", report_remedy,
                     ErrorKind::corrupt};
    }
    Fields fields(value.get_object(), "violations");
    Violation violation{fields.text("check_id"), fields.text("contract"), fields.text("severity"), fields.text("file"),
                        fields.number("line"),   fields.text("message"),  fields.text("fix_hint")};
    if (fields.error()) { return *fields.error(); }
    return violation;
}

std::string_view word(bool passing) { return passing ? "passing" : "failing"; }

/// Returns the newest report of this gate or of one that judges a stage.
const GateReport* newest_of(const std::vector<GateReport>& reports, std::string_view gate, bool of_tests_too = true) {
    for (auto report = reports.rbegin(); report != reports.rend(); ++report) {
        const GateFacts facts = gate_facts(report->gate);
        if (report->gate == gate || (facts.judges_a_stage && (of_tests_too || !facts.judges_tests))) { return &*report; }
    }
    return nullptr;
}

/// Build and load failures come before their consequences.
int rank_of(const TestOutcome& test) {
    if (test.message.starts_with("not run")) { return 2; }
    return test.id == test.file || test.name == "(build)" ? 0 : 1;
}

/// Lists each failure once: tests that fail with the same message are listed below the first.
json::array failures_of(std::vector<const TestOutcome*> tests) {
    std::stable_sort(tests.begin(), tests.end(),
                     [](const auto* one, const auto* other) { return rank_of(*one) < rank_of(*other); });
    json::array failures;
    std::map<std::string_view, std::size_t> known;
    for (const TestOutcome* test : tests) {
        const auto [same, fresh] = known.emplace(test->message, failures.size());
        if (fresh || test->message.empty()) {
            failures.push_back(
                json::object{{"test", test->name}, {"file", test->file}, {"line", test->line}, {"error", test->message}});
            continue;
        }
        json::object& first = failures[same->second].get_object();
        if (!first.contains("also")) { first["also"] = json::array(); }
        first["also"].get_array().emplace_back(
            test->name == test->file ? test->file
                                     : test->file + (test->line > 0 ? ":" + std::to_string(test->line) : "") + " " + test->name);
    }
    return failures;
}

json::object tests_status(const GateReport& report) {
    const auto counts = count_tests(report.tests);
    const auto before = fact_texts(report.facts, "failed_before");
    auto flaky = fact_texts(report.facts, "flaky");
    for (auto& id : fact_texts(report.facts, "flaky_since")) {
        if (std::find(flaky.begin(), flaky.end(), id) == flaky.end()) { flaky.push_back(std::move(id)); }
    }
    const std::set<std::string> excused(before.begin(), before.end());
    const std::set<std::string> unsteady(flaky.begin(), flaky.end());
    std::vector<const TestOutcome*> failures;
    std::int64_t failed_before = 0;
    for (const auto& test : report.tests) {
        if (!is_failure(test.status) || unsteady.contains(test.id)) { continue; }
        if (excused.contains(test.id)) {
            ++failed_before;
            continue;
        }
        failures.push_back(&test);
    }
    const auto failing = static_cast<std::int64_t>(failures.size());
    json::object status{{"status", word(failing == 0 && (report.passed || gate_facts(report.gate).judges_tests))},
                        {"total", counts.at("total")},
                        {"passing", counts.at("passed")},
                        {"failing", failing},
                        {"failures", failures_of(std::move(failures))}};
    if (failed_before > 0) { status["failing_before_the_task"] = failed_before; }
    if (!flaky.empty()) { status["flaky"] = json::array(flaky.begin(), flaky.end()); }
    return status;
}

json::array violations_of(const GateReport& report, bool (*wanted)(const Violation&)) {
    json::array found;
    for (const auto& violation : report.violations) {
        if (wanted(violation)) { found.push_back(violation_to_json(violation)); }
    }
    return found;
}

bool is_syntax(const Violation& violation) { return violation.check_id == "syntax"; }
bool is_type(const Violation& violation) { return violation.contract == "types"; }

json::object syntax_status(const GateReport& report) {
    json::object status{{"status", word(report.facts.at("syntax_passing") == json::value(true))}};
    if (json::array errors = violations_of(report, is_syntax); !errors.empty()) { status["violations"] = std::move(errors); }
    return status;
}

/// `how`: the fact `type_check`, or null.
std::string_view type_check_word(const json::value* how, bool passes) {
    if (how == nullptr || !how->is_string()) { return "not configured"; }
    const std::string_view text(how->get_string());
    return text == "checked" ? word(passes) : text;
}

/// From the gate itself, or from a stage's gate that also measured it.
json::object types_status(const GateReport& report) {
    const auto* how = report.facts.if_contains("type_check");
    const auto* passing = report.facts.if_contains("type_check_passing");
    const bool passes = passing != nullptr && passing->is_bool() ? passing->get_bool() : report.passed;
    json::array errors = violations_of(report, is_type);
    const auto* warnings = report.facts.if_contains("type_warnings");
    json::object status{{"status", type_check_word(how, passes)}, {"errors", static_cast<std::int64_t>(errors.size())}};
    if (warnings != nullptr) { status["warnings"] = *warnings; }  // Only if they are counted: a 0 would say that there are none.
    if (!errors.empty()) { status["violations"] = std::move(errors); }
    return status;
}

const GateReport* newest_with(const std::vector<GateReport>& reports, const char* fact) {
    for (auto report = reports.rbegin(); report != reports.rend(); ++report) {
        if (report->facts.contains(fact)) { return &*report; }
    }
    return nullptr;
}

json::object conformance_status(const GateReport& report) {
    const auto count = [&](const char* key) {
        const auto* found = report.facts.if_contains(key);
        return found != nullptr && found->is_int64() ? found->get_int64() : 0;
    };
    json::array violations =
        violations_of(report, [](const Violation& violation) { return !is_syntax(violation) && !is_type(violation); });
    const auto* passing = report.facts.if_contains("conformance_passing");
    return {{"status", word(passing != nullptr && passing->is_bool() && passing->get_bool())},
            {"total", count("checks_total")},
            {"passing", count("checks_passing")},
            {"failing", count("checks_total") - count("checks_passing")},
            {"violations", std::move(violations)}};
}

std::string place_of(const json::object& violation) {
    const auto* line = violation.if_contains("line");
    return text_of(violation, "file") + (line == nullptr || *line == json::value(0) ? "" : ":" + json::serialize(*line));
}

/// Returns the first violation in a check's status that blocks, or null.
const json::object* first_blocking(const json::object& status, const char* check) {
    const auto* part = status.if_contains(check);
    const auto* violations = part == nullptr || !part->is_object() ? nullptr : part->get_object().if_contains("violations");
    if (violations == nullptr || !violations->is_array()) { return nullptr; }
    for (const auto& each : violations->get_array()) {
        if (each.is_object() && text_of(each.get_object(), "severity") != "minor") { return &each.get_object(); }
    }
    return nullptr;
}

/// Suggests the next action; each cause comes before its consequences: syntax, types, violations, then tests. `otherwise` if none
/// of them fails.
std::string suggested_action(const json::object& status, const std::string& otherwise) {
    std::vector<std::string> steps;
    if (const auto* syntax = first_blocking(status, "syntax")) {
        steps.push_back("make " + place_of(*syntax) + " parse (" + text_of(*syntax, "message") + ")");
    }
    if (const auto* type = first_blocking(status, "type_check")) {
        steps.push_back("fix the type error in " + place_of(*type) + " (" + text_of(*type, "message") + ")");
    }
    if (const auto* violation = first_blocking(status, "conformance")) {
        auto hint = text_of(*violation, "fix_hint");
        while (hint.ends_with('.')) { hint.pop_back(); }
        steps.push_back("in " + place_of(*violation) + ": " + (hint.empty() ? text_of(*violation, "message") : hint) + " (" +
                        text_of(*violation, "check_id") + ")");
    }
    const auto* tests = status.if_contains("tests");
    const auto* failures = tests == nullptr ? nullptr : tests->as_object().if_contains("failures");
    if (failures != nullptr && failures->is_array() && !failures->get_array().empty() &&
        tests->as_object().at("status") != json::value("passing")) {
        const auto& first = failures->get_array().front().get_object();
        const auto failing = tests->as_object().at("failing").to_number<std::int64_t>();
        steps.push_back("make " + text_of(first, "test") + " in " + place_of(first) + " pass" +
                        (failing > 1 ? " (" + std::to_string(failing) + " tests fail)" : ""));
    }
    std::string text;
    for (const auto& step : steps) { text += (text.empty() ? "" : ", then ") + step; }
    return text.empty() ? otherwise : text;
}

}  // namespace

std::string_view to_string(TestStatus status) noexcept {
    switch (status) {
        case TestStatus::passed:
            return "passed";
        case TestStatus::failed_assertion:
            return "failed_assertion";
        case TestStatus::failed_skeleton:
            return "failed_skeleton";
        case TestStatus::error:
            return "error";
        case TestStatus::skipped:
            return "skipped";
        case TestStatus::not_collected:
            return "not_collected";
    }
    return "not_collected";
}

json::object to_json(const GateReport& report) {
    json::array issues(report.blocking_issues.begin(), report.blocking_issues.end());
    json::array tests;
    for (const auto& test : report.tests) { tests.push_back(test_to_json(test)); }
    json::array violations;
    for (const auto& violation : report.violations) { violations.push_back(violation_to_json(violation)); }
    return {{"gate", report.gate},
            {"tree", report.tree},
            {"passed", report.passed},
            {"summary", report.summary},
            {"blocking_issues", std::move(issues)},
            {"tests", std::move(tests)},
            {"violations", std::move(violations)},
            {"facts", report.facts},
            {"duration_ms", report.duration.count()}};
}

Result<GateReport> gate_report_from_json(const json::object& value) {
    Fields fields(value, "gate report");
    GateReport report;
    report.gate = fields.text("gate");
    report.tree = fields.text("tree");
    report.passed = fields.flag("passed");
    report.summary = fields.text("summary");
    report.duration = std::chrono::milliseconds(fields.number("duration_ms"));
    for (const auto& issue : fields.list("blocking_issues")) {
        if (!issue.is_string()) {
            fields.wrong("blocking_issues", "a list of strings");
            break;
        }
        report.blocking_issues.emplace_back(issue.get_string());
    }
    for (const auto& item : fields.list("tests")) {
        AF_TRY(auto test, test_from_json(item));
        report.tests.push_back(std::move(test));
    }
    for (const auto& item : fields.list("violations")) {
        AF_TRY(auto violation, violation_from_json(item));
        report.violations.push_back(std::move(violation));
    }
    const auto* facts = value.if_contains("facts");
    if (facts != nullptr && facts->is_object()) {
        report.facts = facts->get_object();
    } else {
        fields.wrong("facts", "a mapping");
    }
    if (fields.error()) { return *fields.error(); }
    return report;
}

json::object verification_status(const std::vector<GateReport>& newest) {
    json::object status;
    // Syntax and type errors come before their consequences.
    const auto* const syntax = newest_with(newest, "syntax_passing");
    if (syntax != nullptr && syntax->facts.at("syntax_passing") != json::value(true)) {
        status["syntax"] = syntax_status(*syntax);
    }
    const auto* const types = newest_with(newest, "type_check");
    if (types != nullptr && std::any_of(types->violations.begin(), types->violations.end(), is_type)) {
        status["type_check"] = types_status(*types);
    }
    if (const auto* tests = newest_of(newest, gate_name::tests)) { status["tests"] = tests_status(*tests); }
    if (const auto* conformance = newest_of(newest, gate_name::conformance, false)) {
        status["conformance"] = conformance_status(*conformance);
    }
    if (types != nullptr) { status["type_check"] = types_status(*types); }
    if (syntax != nullptr) { status["syntax"] = syntax_status(*syntax); }
    const auto* phase = newest_of(newest, {});
    json::array issues;
    for (const auto& report : newest) {
        for (const auto& issue : report.blocking_issues) {
            const json::value text(issue);
            if (std::find(issues.begin(), issues.end(), text) == issues.end()) { issues.push_back(text); }
        }
    }
    status["phase_exit_ready"] = phase != nullptr && phase->passed && issues.empty();
    if (!issues.empty()) { status["next_suggested_action"] = suggested_action(status, std::string(issues.front().get_string())); }
    status["blocking_issues"] = std::move(issues);
    return status;
}

}  // namespace agentforge::kernel
