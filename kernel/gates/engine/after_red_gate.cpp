// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/after_red_gate.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <re2/re2.h>

#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "gates/engine/report_parts.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/removal/removal_check.hpp"
#include "gates/stubs/waiting.hpp"
#include "gates/test_quality/left_cases.hpp"
#include "gates/test_quality/other_expectations.hpp"
#include "gates/test_quality/test_quality.hpp"

namespace agentforge::kernel {

namespace {

/// Requirement → ids of its new tests.
std::map<std::string, std::vector<std::string>> new_tests_of_requirements(const GreenEvidence& evidence,
                                                                          const std::vector<std::string>& fresh) {
    std::map<std::string, std::vector<std::string>> result;
    const std::set<std::string> is_new(fresh.begin(), fresh.end());
    for (const auto& test : evidence.declared) {
        if (test.kind != TestKind::fresh) { continue; }
        for (const auto* outcome : outcomes_of(test, evidence.run.tests)) {
            if (is_new.contains(outcome->id)) { result[test.requirement].push_back(outcome->id); }
        }
    }
    return result;
}

std::string message_of(const Violation& violation) {
    return violation.file + ":" + std::to_string(violation.line) + ": " + violation.message + " (" + violation.check_id + ")" +
           (violation.fix_hint.empty() ? "" : ". " + violation.fix_hint);
}

/// True if a string of the code is this file's name, with or without folders.
bool names_file(const std::string& code, const std::string& path) {
    const std::string name = RE2::QuoteMeta(path.substr(path.rfind('/') + 1));
    return RE2::PartialMatch(code, R"(["'`][\w./-]*)" + name + R"(["'`])");
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const auto& part : parts) { text += (text.empty() ? "" : ", ") + part; }
    return text;
}

}  // namespace

/// One judgment. Its parts add to the evidence and to the report, in the order of `judge`.
class AfterRedGate::Judgment {
public:
    Judgment(AfterRedGate& gate, const GateCall& call, const Stop& stop)
        : gate_(gate),
          call_(call),
          stop_(stop),
          baseline_(*call.baseline),
          red_tree_(baseline_.compared_tree()),
          green_(call.request.gate == gate_name::green),
          fix_(call.request.gate == gate_name::fix),
          deliver_(fix_ || call.request.gate == gate_name::deliver) {}

    Result<GateReport> judge();

private:
    [[nodiscard]] bool nothing_blocks() const { return verdict_.passed() && report_.blocking_issues.empty(); }
    Result<void> gather_declared();
    Result<void> compare_locked_files();
    Result<void> compare_files_behind_links(const std::vector<TreeChange>& changes);
    Result<void> find_red_files();
    Result<void> run_tests();
    Result<void> check_sources();
    Result<void> check_quality();
    Result<void> complete_red_run();
    void leave_integration_tests_out();
    Result<void> exclude_flaky_tests();
    Result<void> judge_tests();
    Result<void> judge_late_documents();
    Result<void> judge_held_out_tests();
    Result<void> judge_quality_of_tests();
    Result<void> gather_quality_of_tests();
    Result<void> put_removed_lines_back();
    Result<void> try_tests(MutationRequest request);
    void find_tests_without_assertions(const std::set<std::string>& asserting);
    void report_surviving_mutants();
    Result<void> look_for_special_cases();
    void report_special_case(const CoveredLine& line);
    void report_repeated_value(const std::string& place);
    [[nodiscard]] std::string summary() const;

    AfterRedGate& gate_;
    const GateCall& call_;
    const Stop& stop_;
    const GateBaseline& baseline_;
    const std::string red_tree_;
    const bool green_;
    const bool fix_;
    const bool deliver_;  ///< True for a fix, too.

    const Language* language_ = nullptr;
    GateReport report_;
    GreenEvidence evidence_;
    TestQualityEvidence quality_;
    Verdict verdict_;
    std::vector<std::string> tests_in_red_;  ///< Test files of RED's tree.
    std::vector<std::string> suite_;         ///< Test files of this tree.
    std::vector<std::string> judged_files_;  ///< Test files to judge. GREEN leaves out integration tests.
    std::set<std::string> waiting_;          ///< RED's files that do not load before the implementation.
    std::vector<std::string> flaky_since_;   ///< Tests that became flaky during the task.
    std::vector<std::string> special_;       ///< Lines that compare with the tests' values.
    std::int64_t held_out_tests_ = 0;
};

Result<GateReport> AfterRedGate::judge(const GateCall& call, const Stop& stop) { return Judgment(*this, call, stop).judge(); }

Result<GateReport> AfterRedGate::Judgment::judge() {
    AF_CHECK(gather_declared());
    AF_CHECK(compare_locked_files());
    if (!evidence_.changed_tests.empty() || !evidence_.changed_configuration.empty()) {
        // Results of other tests do not count.
        take_over(report_, judge_lock(evidence_));
        conclude(report_, "");
        return std::move(report_);
    }
    GateCall whole = call_;
    whole.request.paths.clear();
    AF_TRY(auto syntax, gate_.parts_.checks.syntax(whole, stop_));
    const bool parses = syntax.passed;
    take_over(report_, std::move(syntax), {"syntax_passing"});
    if (!parses) {
        report_.facts["tests_unchanged"] = true;
        conclude(report_, "");
        return std::move(report_);
    }
    AF_CHECK(find_red_files());
    AF_CHECK(run_tests());
    AF_CHECK(check_sources());
    AF_CHECK(complete_red_run());
    leave_integration_tests_out();
    AF_CHECK(exclude_flaky_tests());
    AF_CHECK(judge_tests());
    AF_CHECK(judge_late_documents());
    AF_CHECK(judge_held_out_tests());
    AF_CHECK(judge_quality_of_tests());
    report_.facts["believed"] = evidence_.run.trusted && evidence_.red_run.trusted;
    report_.facts["confinement"] = evidence_.run.confinement;
    report_.facts["notes"] = json::array(evidence_.run.notes.begin(), evidence_.run.notes.end());
    conclude(report_, summary());
    if (call_.request.gate == gate_name::deliver) { report_.facts["deployment_ready"] = report_.passed; }
    return std::move(report_);
}

Result<void> AfterRedGate::Judgment::gather_declared() {
    AF_TRY(language_, gate_.parts_.languages.of(call_.tree));
    std::vector<std::string> problems;
    evidence_.declared = declared_tests(baseline_.test_suite, problems);
    evidence_.base_tests = baseline_.base_tests;
    evidence_.flaky = baseline_.flaky;
    evidence_.outdated = {baseline_.outdated.begin(), baseline_.outdated.end()};
    for (const auto& test : baseline_.red_tests) {
        if (test.status == TestStatus::passed) { evidence_.passed_in_red.push_back(test.id); }
    }
    return {};
}

Result<void> AfterRedGate::Judgment::compare_locked_files() {
    auto& checkout = gate_.parts_.checkout;
    AF_TRY(const auto changes, checkout.changes(red_tree_, call_.tree));
    const std::set<std::string> locked(baseline_.test_files.begin(), baseline_.test_files.end());
    evidence_.change_exists = !changes.empty();
    for (const auto& change : changes) {
        for (const auto* path : {&change.old_path, &change.path}) {
            if (path->empty()) { continue; }
            if (language_->may_hold_tests(*path)) {
                AF_TRY(const auto before, checkout.file(red_tree_, *path));
                AF_TRY(const auto after, checkout.file(call_.tree, *path));
                if (split_inline_tests(before.value_or(""), language_->inline_begins).tests !=
                    split_inline_tests(after.value_or(""), language_->inline_begins).tests) {
                    evidence_.changed_tests.push_back(*path + " (the tests in it)");
                }
            } else if (locked.contains(*path) || language_->belongs_to_tests(*path)) {
                evidence_.changed_tests.push_back(*path);
            }
        }
    }
    AF_CHECK(compare_files_behind_links(changes));
    AF_TRY(evidence_.changed_configuration,
           gate_.parts_.locked.changed_runner_configuration(*language_, red_tree_, changes, call_.tree));
    std::erase_if(evidence_.changed_configuration, [&](const std::string& path) {
        return std::find(evidence_.changed_tests.begin(), evidence_.changed_tests.end(), path) != evidence_.changed_tests.end();
    });
    return {};
}

Result<void> AfterRedGate::Judgment::compare_files_behind_links(const std::vector<TreeChange>& changes) {
    AF_TRY(const auto behind, gate_.parts_.locked.behind_links(*language_, red_tree_));
    for (const auto& change : changes) {
        for (const auto* path : {&change.old_path, &change.path}) {
            for (const auto& [target, link] : behind) {
                if (*path == target || path->starts_with(target + "/")) {
                    evidence_.changed_tests.push_back(*path + " (" + link + " is a link to it)");
                }
            }
        }
    }
    return {};
}

/// Finds RED's files on RED's tree: those that RED changed, and those that it named.
Result<void> AfterRedGate::Judgment::find_red_files() {
    std::set<std::string> files;
    AF_TRY(const auto changes, gate_.parts_.checkout.changes(baseline_.base_tree, red_tree_));
    AF_TRY(tests_in_red_, gate_.parts_.languages.test_files(red_tree_));
    const std::set<std::string> in_red(tests_in_red_.begin(), tests_in_red_.end());
    for (const auto& change : changes) {
        if (in_red.contains(change.path)) { files.insert(change.path); }
    }
    for (const auto& test : evidence_.declared) {
        if (in_red.contains(test.file)) { files.insert(test.file); }
    }
    evidence_.red_files.assign(files.begin(), files.end());
    return {};
}

Result<void> AfterRedGate::Judgment::run_tests() {
    evidence_.red_run.trusted = true;
    if (!evidence_.red_files.empty()) {
        AF_TRY(evidence_.red_run, gate_.parts_.red_runs.run(red_tree_, evidence_.red_files, false, stop_));
    }
    AF_TRY(suite_, gate_.parts_.languages.test_files(call_.tree));
    evidence_.run.trusted = true;
    // Integration tests wait for the end of REFACTOR and for delivery.
    const bool integration = !green_;
    if (!suite_.empty()) {
        AF_TRY(evidence_.run, gate_.parts_.suite.run_suite(call_.tree, suite_, integration, evidence_.red_files, stop_));
    }
    return {};
}

void AfterRedGate::Judgment::leave_integration_tests_out() {
    judged_files_ = suite_;
    if (!green_) { return; }
    const auto waits = [&](const std::string& file) {
        return gate_.parts_.suite.is_integration_test(file) &&
               std::find(evidence_.red_files.begin(), evidence_.red_files.end(), file) == evidence_.red_files.end();
    };
    std::erase_if(evidence_.base_tests, [&](const TestOutcome& test) { return waits(test.file); });
    std::erase_if(judged_files_, waits);
}

/// After the test run, which builds the tree if a build checks its types.
Result<void> AfterRedGate::Judgment::check_sources() {
    GateCall whole = call_;
    whole.request.paths.clear();
    AF_TRY(auto types, gate_.parts_.checks.types(whole, stop_));
    take_over(report_, std::move(types), {"type_check_passing", "type_check"});
    AF_TRY(auto rules, gate_.parts_.conformance.measure(whole, Enforcement::every_edit, stop_));
    take_over(
        report_, std::move(rules),
        {"conformance_passing", "checks_total", "checks_passing", "violations_new", "violations_blocking", "violations_before"});
    if (fix_) { AF_CHECK(gate_.parts_.fix.judge(call_, report_, stop_)); }
    return call_.request.gate == gate_name::refactor ? check_quality() : Result<void>();
}

Result<void> AfterRedGate::Judgment::check_quality() {
    GateCall whole = call_;
    whole.request.paths.clear();
    const auto& held = baseline_.held_out.files;
    if (!held.empty()) { whole.tree = baseline_.held_out.tree; }  // Held-out tests also run lines.
    AF_TRY(auto quality, gate_.parts_.conformance.measure(whole, Enforcement::phase_end, stop_));
    std::erase_if(quality.violations, [&](const Violation& violation) {
        return violation.contract != "quality" || std::find(held.begin(), held.end(), violation.file) != held.end();
    });
    bool complex = false;
    bool smells = false;
    for (const auto& violation : quality.violations) {
        if (violation.severity == "minor") { continue; }
        (violation.check_id == "max-complexity" ? complex : smells) = true;
        report_.blocking_issues.push_back(message_of(violation));
    }
    for (const char* fact : {"coverage", "coverage_percent", "coverage_lines"}) {
        if (const auto* value = quality.facts.if_contains(fact)) { report_.facts[fact] = *value; }
    }
    report_.facts["coverage_acceptable"] = std::none_of(
        quality.violations.begin(), quality.violations.end(),
        [](const Violation& violation) { return violation.check_id == "min-coverage" && violation.severity != "minor"; });
    report_.facts["complexity_acceptable"] = !complex;
    report_.facts["no_code_smells"] = !complex && !smells;
    for (auto& violation : quality.violations) { report_.violations.push_back(std::move(violation)); }
    return {};
}

/// Completes RED's run: measures more about the tree without the change.
Result<void> AfterRedGate::Judgment::complete_red_run() {
    AF_TRY(const auto declared, declared_names(gate_.parts_.checkout, *language_, baseline_.specification, red_tree_));
    waiting_ = waiting_files(*language_, baseline_.specification, evidence_.red_run, declared);
    if (!waiting_.empty()) {
        AF_TRY(evidence_.red_run,
               gate_.parts_.without_change.run_without_bodies(*language_, red_tree_, call_.tree, evidence_, stop_));
    }
    if (evidence_.red_files.empty() && (!evidence_.run.invocations.empty() || !evidence_.run.reads.empty())) {
        // RED named no new test, so the change is not removed. Other tests must still run as before.
        AF_TRY(auto before, gate_.parts_.suite.run_tests(red_tree_, tests_in_red_, stop_));
        evidence_.red_run.invocations = std::move(before.invocations);
        evidence_.red_run.reads = std::move(before.reads);
    }
    return {};
}

/// Lists tests whose result varies without the task's change: these are not regressions. A second failure is a regression.
Result<void> AfterRedGate::Judgment::exclude_flaky_tests() {
    AF_TRY(flaky_since_, gate_.parts_.suite.flaky_tests(baseline_, call_.tree, judged_files_, evidence_.run, stop_));
    evidence_.flaky.insert(evidence_.flaky.end(), flaky_since_.begin(), flaky_since_.end());
    report_.facts["flaky_since"] = json::array(flaky_since_.begin(), flaky_since_.end());
    for (const auto& id : flaky_since_) {
        report_.violations.push_back({"flaky-test", "quality", "minor", id.substr(0, id.find("::")), 0,
                                      id + " passed before the task, failed here, and passed when it was run twice more.",
                                      "A person should check whether the change caused this."});
    }
    return {};
}

Result<void> AfterRedGate::Judgment::judge_tests() {
    verdict_ = deliver_ ? judge_deliver(evidence_) : judge_green(evidence_);
    const bool untested = baseline_.test_suite.empty() && !gate_.parts_.commands.settings().without_new_test;
    if (call_.request.gate == gate_name::deliver && untested) {
        // No stage wrote tests, so nothing shows what the code does.
        AF_TRY(const auto changed, gate_.parts_.change.changed_code(call_));
        if (changed) {
            verdict_.blocking.push_back(
                *changed +
                " was changed, but no stage of this pipeline tests code; it may change only documents. Revert the change.");
        }
    }
    if (green_ && waiting_.empty() && nothing_blocks() && !evidence_.red_files.empty()) {
        // Removes the change and runs the tests again: RED's results may have depended on time or chance.
        AF_CHECK(gate_.parts_.without_change.run_without_change(*language_, red_tree_, call_.tree, evidence_, quality_, stop_));
        verdict_ = judge_green(evidence_);
    }
    return {};
}

/// Documents may change after the code was judged, but not those that the change's code reads.
Result<void> AfterRedGate::Judgment::judge_late_documents() {
    if (baseline_.verified_tree.empty() || baseline_.verified_tree == call_.tree) { return {}; }
    AF_TRY(const auto late, gate_.parts_.checkout.changes(baseline_.verified_tree, call_.tree));
    AF_TRY(const auto changes, gate_.parts_.checkout.changes(red_tree_, call_.tree));
    for (const auto& change : changes) {
        if (change.status == 'D' || !language_->sources.matches(change.path) || language_->belongs_to_tests(change.path)) {
            continue;
        }
        AF_TRY(const auto content, gate_.parts_.checkout.file(call_.tree, change.path));
        for (const auto& document : late) {
            if (document.path == change.path || !names_file(content.value_or(""), document.path)) { continue; }
            verdict_.blocking.push_back(document.path + " was changed after the change was judged, and " + change.path +
                                        " names it, so the code's behaviour may depend on it. Revert " + document.path + ".");
        }
    }
    return {};
}

Result<void> AfterRedGate::Judgment::judge_held_out_tests() {
    if (!nothing_blocks() || baseline_.held_out.files.empty()) { return {}; }
    AF_TRY(auto judged, gate_.parts_.suite.held_out(call_, stop_));
    held_out_tests_ = judged.facts.at("held_out_tests").get_int64();
    for (auto& issue : judged.blocking) { verdict_.blocking.push_back(std::move(issue)); }
    for (auto& id : judged.facts.at("passing_tests").as_array()) {
        verdict_.facts["passing_tests"].as_array().push_back(std::move(id));
    }
    for (const char* fact : {"held_out_tests", "held_out_pass", "held_out_failing"}) {
        verdict_.facts[fact] = judged.facts.at(fact);
    }
    return {};
}

Result<void> AfterRedGate::Judgment::judge_quality_of_tests() {
    const auto ids = red_ids(evidence_.declared, evidence_.red_run.tests, evidence_.base_tests);
    quality_.fresh = ids.fresh;
    quality_.guards = ids.guards;
    // REFACTOR changed the tree, so results measured on GREEN's tree do not apply. Everything is measured again.
    const bool asked = !deliver_ && (green_ || quality_.fresh.empty() || !gate_.meaningful_.contains(call_.tree));
    if (asked && nothing_blocks()) {
        AF_CHECK(gather_quality_of_tests());
        auto judged = judge_test_quality(quality_);
        if (judged.passed()) { gate_.meaningful_.insert(call_.tree); }
        for (auto& issue : judged.blocking) { verdict_.blocking.push_back(std::move(issue)); }
        for (auto& fact : judged.facts) { verdict_.facts[fact.key()] = std::move(fact.value()); }
        report_surviving_mutants();
    }
    take_over(report_, std::move(verdict_));
    return asked && report_.blocking_issues.empty() ? look_for_special_cases() : Result<void>();
}

Result<void> AfterRedGate::Judgment::gather_quality_of_tests() {
    AF_TRY(const auto changed, gate_.parts_.change.changed_code(call_));
    quality_.code_changed = changed.has_value();
    AF_TRY(quality_.removed_functions, gate_.parts_.change.removed_functions(call_));
    AF_TRY(quality_.unnamed_files, gate_.parts_.change.unnamed_files(call_));
    AF_TRY(quality_.unmentioned_names, gate_.parts_.change.unmentioned_names(call_, evidence_.red_files));
    quality_.without_new_test = gate_.parts_.commands.settings().without_new_test || may_keep_behaviour(baseline_.request);
    quality_.asked_for_code = asks_for_code(baseline_.request);
    quality_.asked_for_documentation = asks_for_documentation(baseline_.request);
    AF_TRY(quality_.skeletons, gate_.parts_.change.skeletons_left(call_, stop_));
    AF_TRY(quality_.tests_naming_new_data, gate_.parts_.change.tests_naming_new_data(call_, red_tree_, evidence_.red_files));
    AF_CHECK(gate_.parts_.altered.run_plainly(call_, red_tree_, evidence_, quality_, stop_));
    AF_CHECK(gate_.parts_.altered.run_former_tests(call_, evidence_, quality_, stop_));
    AF_TRY(const auto left, failing_left_cases(gate_.parts_.commands, *language_, call_, evidence_, stop_));
    for (const auto& each : left) { quality_.left_cases.push_back({each.file, each.text, each.failing}); }
    quality_.of_requirements = new_tests_of_requirements(evidence_, quality_.fresh);
    AF_CHECK(put_removed_lines_back());
    return try_tests({red_tree_, quality_.fresh.empty() ? judged_files_ : evidence_.red_files, {}, evidence_.run.duration});
}

Result<void> AfterRedGate::Judgment::put_removed_lines_back() {
    RemovalTests tests{judged_files_, {}, evidence_.run.duration};
    for (const auto& test : evidence_.run.tests) {
        const bool flaky = std::find(evidence_.flaky.begin(), evidence_.flaky.end(), test.id) != evidence_.flaky.end();
        if (test.status == TestStatus::passed && !flaky) { tests.passing.push_back(test.id); }
    }
    const auto check = asks_to_remove(baseline_.request) ? check_removal : check_lost_checks;
    AF_TRY(quality_.removal, check(gate_.parts_.commands, *language_, call_, tests, stop_));
    return {};
}

/// Alters expected values and code. The tests must notice.
Result<void> AfterRedGate::Judgment::try_tests(MutationRequest request) {
    for (const auto& test : evidence_.run.tests) {
        if (test.status == TestStatus::passed) { request.passing.push_back(test.id); }
    }
    for (const auto& test : evidence_.red_run.tests) {
        if (test.status == TestStatus::failed_assertion) { request.asserting.insert(test.id); }
    }
    if (!quality_.fresh.empty()) {
        AF_CHECK(gate_.parts_.altered.run_with_other_expectations(call_, evidence_, request, quality_, stop_));
        AF_CHECK(gate_.parts_.altered.run_in_another_form(call_, evidence_, quality_, stop_));
        AF_CHECK(gate_.parts_.altered.vary_calls(call_, evidence_, quality_, stop_));
    }
    if (quality_.code_changed && !request.files.empty()) {
        AF_CHECK(gate_.parts_.mutants.try_mutants(call_, request, quality_, stop_));
    }
    find_tests_without_assertions(request.asserting);
    return {};
}

void AfterRedGate::Judgment::find_tests_without_assertions(const std::set<std::string>& asserting) {
    for (const auto* ids : {&quality_.fresh, &quality_.guards}) {
        for (const auto& id : *ids) {
            const auto count = evidence_.run.assertions.find(id);
            if (count != evidence_.run.assertions.end() && count->second == 0 && !asserting.contains(id)) {
                quality_.without_assertions.push_back(id);
            }
        }
    }
}

void AfterRedGate::Judgment::report_surviving_mutants() {
    for (const auto& mutant : quality_.tried) {
        if (mutant.noticed != TriedMutant::Noticed::not_noticed) { continue; }
        report_.violations.push_back({"surviving-mutant", "quality", "minor", mutant.file, mutant.line,
                                      "No new test notices when `" + mutant.before + "` is made `" + mutant.after + "`.",
                                      "A person should check whether that code does what the request asks for."});
    }
}

Result<void> AfterRedGate::Judgment::look_for_special_cases() {
    AF_TRY(const auto measured, gate_.parts_.coverage.measure(red_tree_, call_.tree, evidence_.red_files, true, stop_));
    for (const auto& line : measured.special) { report_special_case(line); }
    AF_TRY(const auto repeats, gate_.parts_.change.repeats_of_tests(red_tree_, call_.tree, evidence_.red_files));
    for (const auto& place : repeats) { report_repeated_value(place); }
    report_.facts["repeated_values"] = json::array(repeats.begin(), repeats.end());
    report_.facts["special_casing"] = json::array(special_.begin(), special_.end());
    report_.facts["coverage"] = measured.summary();
    return {};
}

void AfterRedGate::Judgment::report_special_case(const CoveredLine& line) {
    const std::string tests = joined(line.tests);
    report_.violations.push_back(
        {"special-casing", "pattern", "minor", line.file, line.line,
         "The code compares with " + line.special + ", an input or expected value of the tests; " +
             (tests.empty() ? "the gate did not measure which tests run the code after this comparison."
                            : "these tests run the code after this comparison: " + tests + "."),
         "A person should check whether the code computes its results or only knows the tests' answers."});
    special_.push_back(line.file + ":" + std::to_string(line.line) + " compares with " + line.special + " (" +
                       (tests.empty() ? "not measured" : tests) + ")");
}

void AfterRedGate::Judgment::report_repeated_value(const std::string& place) {
    const auto file = place.substr(0, place.find(':'));
    report_.violations.push_back(
        {"repeated-values", "pattern", "minor", file, std::strtoull(place.c_str() + file.size() + 1, nullptr, 10),
         "The code" + place.substr(place.find(' ')) + ".",
         "A person should check whether the code computes its results or only knows the tests' answers."});
}

std::string AfterRedGate::Judgment::summary() const {
    const auto count = report_.facts.at("passing_tests").as_array().size();
    std::string text = std::to_string(count) + (count == 1 ? " test passes" : " tests pass");
    if (held_out_tests_ != 0) { text += " (" + std::to_string(held_out_tests_) + " of them held out)"; }
    text += ", nothing that passed before fails";
    if (!flaky_since_.empty()) {
        text += " (" + std::to_string(flaky_since_.size()) + " became flaky: " + flaky_since_.front() + ")";
    }
    if (!special_.empty()) {
        text += "; check " + std::to_string(special_.size()) +
                (special_.size() == 1 ? " line that compares" : " lines that compare") + " with the tests' values";
    }
    return text;
}

}  // namespace agentforge::kernel
