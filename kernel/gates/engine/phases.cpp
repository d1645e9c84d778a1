// SPDX-License-Identifier: Apache-2.0
// Gathers the evidence for judging RED and a fixed violation, from recorded trees only.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>

#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "gates/engine/gate_engine.hpp"
#include "gates/engine/held_out.hpp"
#include "gates/engine/report_parts.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

std::vector<SkeletonInterface> declarable_interfaces(const json::object& specification) {
    std::vector<SkeletonInterface> result;
    const auto* interfaces = specification.if_contains("interfaces");
    if (interfaces == nullptr || !interfaces->is_array()) { return result; }
    for (const auto& item : interfaces->get_array()) {
        const auto* interface = item.if_object();
        if (interface == nullptr) { continue; }
        SkeletonInterface each{text_of(*interface, "name"), text_of(*interface, "file"), text_of(*interface, "signature")};
        const auto type = text_of(*interface, "type");
        if (!each.name.empty() && !each.file.empty() && !each.signature.empty() && (type.empty() || type == "api")) {
            result.push_back(std::move(each));
        }
    }
    return result;
}

Result<std::vector<std::string>> GateEngine::changed_runner_configuration(const Language& language, const std::string& old_tree,
                                                                          const std::vector<TreeChange>& changes,
                                                                          const std::string& tree) {
    std::set<std::string> changed;
    for (const auto& change : changes) {
        for (const auto* path : {&change.path, &change.old_path}) {
            if (path->empty()) { continue; }
            if (language.runner_files.matches(*path)) { changed.insert(*path); }
            for (const auto& section : language.runner_sections) {
                if (!path_matches(section.file, *path)) { continue; }
                AF_TRY(const auto before, checkout_->file(old_tree, *path));
                AF_TRY(const auto after, checkout_->file(tree, *path));
                if (section_text(before.value_or(""), section) != section_text(after.value_or(""), section)) {
                    changed.insert(*path);
                }
            }
        }
    }
    return std::vector<std::string>(changed.begin(), changed.end());
}

bool GateEngine::is_link(const std::string& path) const {
    std::error_code none;
    return std::filesystem::is_symlink(std::filesystem::symlink_status(checkout_->path() / path, none));
}

Result<std::map<std::string, std::string>> GateEngine::behind_links(const Language& language, const std::string& tree) {
    if (const auto known = behind_.find(tree); known != behind_.end()) { return known->second; }
    namespace fs = std::filesystem;
    std::map<std::string, std::string> behind;
    AF_TRY(const auto files, checkout_->files(tree));
    AF_CHECK(checkout_->check_out(tree));
    for (const auto& file : files) {
        if (!language.belongs_to_tests(file) || !is_link(file)) { continue; }
        // Every name on the way: a chain of links can be redirected at each of them.
        fs::path at = file;
        for (int hops = 0; hops < 20; ++hops) {
            fs::path so_far;
            bool turned = false;
            for (auto part = at.begin(); part != at.end() && !turned; ++part) {
                so_far /= *part;
                if (!is_link(so_far.string())) { continue; }
                if (so_far != fs::path(file)) { behind.emplace(so_far.string(), file); }
                std::error_code none;
                fs::path next = so_far.parent_path() / fs::read_symlink(checkout_->path() / so_far, none);
                while (++part != at.end()) { next /= *part; }
                at = next.lexically_normal();
                turned = true;
                break;
            }
            if (!turned || at.is_absolute() || at.string().starts_with("..")) { break; }
        }
        if (at.is_relative() && !at.string().starts_with("..") && at != fs::path(file)) { behind.emplace(at.string(), file); }
    }
    return behind_.emplace(tree, std::move(behind)).first->second;
}

namespace {

/// Adds the existing tests of a file with changed or removed lines.
void add_changed_tests(RedEvidence& evidence, const std::string& file, std::string_view before, std::string_view now) {
    std::vector<TestOutcome> tests;
    std::ranges::copy_if(evidence.base_tests, std::back_inserter(tests),
                         [&](const TestOutcome& test) { return test.file == file; });
    for (ChangedTest& test : changed_tests(before, now, tests)) {
        test.file = file;
        evidence.changed.push_back(std::move(test));
    }
}

/// Returns why the specification calls a test outdated.
std::string reason_of(const json::object& specification, const std::string& id) {
    for (const json::object& each : objects_of(specification, "outdated_tests")) {
        TestOutcome test;
        test.id = id;
        if (!tests_named({text_of(each, "test")}, {test}).empty()) {
            return text_of(each, "requirement_ref") + ", " + text_of(each, "reason");
        }
    }
    return {};
}

/// For the report: changed tests as they are shown to a person.
json::array changed_tests_json(const RedEvidence& evidence, const json::object& specification) {
    json::array lines;
    for (const ChangedTest& test : evidence.changed) {
        if (!test.id.empty()) { lines.push_back(json::value(changed_test_line(test, reason_of(specification, test.id)))); }
    }
    return lines;
}

}  // namespace

Result<GateReport> GateEngine::red(const GateCall& call, const Stop& stop) {
    GateReport report;
    const auto& baseline = *call.baseline;
    const auto& before_tree = baseline.compared_tree();
    AF_TRY(const auto* found, language(call.tree));
    RedEvidence evidence;
    evidence.intent = baseline.intent;
    evidence.asked_without = commands_->settings().without_new_test || asks_for_no_behaviour(baseline.request);
    evidence.declared = declared_tests(baseline.test_suite, evidence.problems);
    evidence.requirements = testable_requirements(baseline.specification);
    evidence.base_tests = baseline.base_tests;
    evidence.outdated = {baseline.outdated.begin(), baseline.outdated.end()};

    auto generated = skeleton(before_tree, declarable_interfaces(baseline.specification), stop);
    if (!generated.ok() && generated.error().code != "AF-GATE-030") { return std::move(generated).error(); }
    std::map<std::string, std::string> expected;
    if (generated.ok()) { expected.insert(generated->begin(), generated->end()); }
    // Without a suite, the kernel itself has started one.
    AF_TRY(const auto begun, scaffold(before_tree));
    for (const auto& [path, content] : begun) { expected.try_emplace(path, content); }

    AF_TRY(const auto changes, checkout_->changes(before_tree, call.tree));
    std::set<std::string> files;
    for (const auto& change : changes) {
        for (const auto* path : {&change.old_path, &change.path}) {
            if (path->empty()) { continue; }
            AF_TRY(const auto content, checkout_->file(call.tree, *path));
            if (!content) { evidence.deleted_paths.push_back(*path); }
            const auto declared = expected.find(*path);
            if (content && declared != expected.end() && declared->second == *content) {
                evidence.skeleton_paths.push_back(*path);
            } else if (found->may_hold_tests(*path)) {
                // RED may write the tests in it, but not the rest.
                AF_TRY(const auto base, checkout_->file(before_tree, *path));
                const auto before =
                    split_inline_tests(declared != expected.end() ? declared->second : base.value_or(""), found->inline_begins);
                const auto after = split_inline_tests(content.value_or(""), found->inline_begins);
                (before.code == after.code ? evidence.test_paths : evidence.foreign_paths).push_back(*path);
                if (base) { add_changed_tests(evidence, *path, before.tests, after.tests); }
                if (!after.tests.empty()) { files.insert(*path); }
            } else if (found->belongs_to_tests(*path)) {
                evidence.test_paths.push_back(*path);
                AF_TRY(const auto base, checkout_->file(before_tree, *path));
                const auto there = evidence.asked_without && base && content ? with_new_names(*base, *content, baseline.request)
                                                                             : base.value_or("");
                if (content) { add_changed_tests(evidence, *path, there, *content); }
                if (content && found->tests.matches(*path)) { files.insert(*path); }
            } else {
                evidence.foreign_paths.push_back(*path);
            }
        }
    }
    if (!evidence.test_paths.empty()) { AF_CHECK(checkout_->check_out(call.tree)); }
    for (const auto& path : evidence.test_paths) {
        if (is_link(path)) {
            evidence.problems.push_back(
                path + " is a link; write tests as files of their own, so that what they say is locked with them.");
        }
    }
    for (const auto& test : evidence.declared) {
        AF_TRY(const auto content, checkout_->file(call.tree, test.file));
        const bool inlined =
            content && found->may_hold_tests(test.file) && !split_inline_tests(*content, found->inline_begins).tests.empty();
        if (!found->tests.matches(test.file) && !inlined) {
            evidence.problems.push_back(test.file + " is not where " + found->name + " tests are looked for (" +
                                        found->test_patterns.front() + ").");
        } else if (content) {
            files.insert(test.file);
        }
    }
    if (!files.empty()) {
        AF_TRY(evidence.run, run_red_tests(call.tree, {files.begin(), files.end()}, false, stop));
        AF_TRY(evidence.declared_names, declared_names(*found, baseline.specification, call.tree));
        evidence.waiting_files = waiting_files(*found, baseline.specification, evidence.run, evidence.declared_names);
        report.facts["confinement"] = evidence.run.confinement;
        report.facts["notes"] = json::array(evidence.run.notes.begin(), evidence.run.notes.end());
    }
    auto confinement = report.facts;
    take_over(report, judge_red(evidence));
    report.facts["changed_tests"] = changed_tests_json(evidence, baseline.specification);
    for (auto& fact : confinement) { report.facts[fact.key()] = std::move(fact.value()); }
    if (!evidence.test_paths.empty()) {
        // The last time that tests can be fixed: checks all rules, including those of a phase's end.
        GateCall rules = call;
        rules.request.paths = evidence.test_paths;
        AF_TRY(auto judged, conformance(rules, Enforcement::phase_end, stop));
        take_over(report, std::move(judged), {"conformance_passing", "checks_total", "checks_passing"});
    }
    report.facts["believed"] = evidence.run.trusted || files.empty();
    const auto count = report.facts.at("failing_tests").as_array().size();
    const auto waiting = report.facts.at("waiting_tests").as_array().size();
    conclude(report,
             std::to_string(count) + (count == 1 ? " new test fails, as it should" : " new tests fail, as they should") +
                 (waiting == 0 ? "" : " (" + std::to_string(waiting) + " of them do not load before the implementation exists)"));
    return report;
}

Result<void> GateEngine::take_back(const Language& language, const std::string& red_tree, const std::string& tree,
                                   GreenEvidence& evidence, TestQualityEvidence& meaning, const Stop& stop) {
    TestSelection selection{
        .files = evidence.red_files, .names = {}, .judged = true, .timeout = {}, .purpose = "change-taken-back"};
    AF_TRY(selection.instead, change_as_comments(language, red_tree, tree));
    const bool commented = !selection.instead.empty();
    AF_TRY(auto run, commands_->run_tests(language, red_tree, selection, stop));
    AF_CHECK(mark_stub_failures(language, red_tree, evidence.red_files, run, stop));
    const auto fresh = red_ids(evidence.declared, evidence.red_run.tests, evidence.base_tests).fresh;
    const auto fails = [&](const TestOutcome& test) {
        return test.status == TestStatus::failed_assertion || test.status == TestStatus::failed_skeleton;
    };
    std::size_t failing = 0;
    std::vector<std::string> passing;
    for (const auto& test : run.tests) {
        if (std::find(fresh.begin(), fresh.end(), test.id) == fresh.end()) { continue; }
        failing += fails(test) ? 1 : 0;
        if (test.status == TestStatus::passed) { passing.push_back(test.id); }
    }
    if (commented && (!run.trusted || failing < fresh.size())) {
        // The comments may be to blame, so the bare tree decides; a test that passed only beside comments is reported.
        const bool trusted = run.trusted;
        AF_TRY(run, run_red_tests(red_tree, evidence.red_files, true, stop));
        for (const auto& test : run.tests) {
            if (trusted && fails(test) && std::find(passing.begin(), passing.end(), test.id) != passing.end()) {
                meaning.text_tests.push_back(test.id);
            }
        }
    }
    evidence.red_run = std::move(run);
    return {};
}

Result<std::vector<std::string>> GateEngine::repeats_of_tests(const std::string& red_tree, const std::string& tree,
                                                              const std::vector<std::string>& tests) {
    std::vector<std::string> repeats;
    AF_TRY(const auto* found, language(tree));
    std::vector<TestLine> lines;
    for (const auto& file : tests) {
        AF_TRY(const auto content, checkout_->file(tree, file));
        if (!content) { continue; }
        const auto text = found->may_hold_tests(file) ? split_inline_tests(*content, found->inline_begins).tests : *content;
        auto some = test_lines(file, read_code(text, found->code));
        std::move(some.begin(), some.end(), std::back_inserter(lines));
    }
    AF_TRY(const auto changes, checkout_->changes(red_tree, tree));
    for (const auto& change : changes) {
        if (change.status == 'D' || !found->sources.matches(change.path) || found->belongs_to_tests(change.path)) { continue; }
        AF_TRY(const auto now, checkout_->file(tree, change.path));
        AF_TRY(const auto before, checkout_->file(red_tree, change.old_path.empty() ? change.path : change.old_path));
        const auto code = found->may_hold_tests(change.path) ? split_inline_tests(now.value_or(""), found->inline_begins).lines
                                                             : now.value_or("");
        for (const auto& each :
             repeated_values(read_code(code, found->code), changed_line_numbers(code, before.value_or("")), lines)) {
            repeats.push_back(change.path + ":" + std::to_string(each.line) + " repeats " + ellipsis(each.what, 200));
        }
    }
    return repeats;
}

Result<Verdict> GateEngine::held_out(const GateCall& call, const Stop& stop) {
    const auto& held = call.baseline->held_out;
    AF_TRY(const auto* found, language(call.tree));
    const auto key = held.tree + hash_of(json::array(held.files.begin(), held.files.end())) + "/held out";
    if (const auto known = runs_.find(key); known != runs_.end()) {
        return judge_held_out(held, call.baseline->specification, known->second);
    }
    // Built in the folder of the tree without them. Only what is delivered, with them, is built from scratch.
    const TestSelection selection{.files = held.files, .names = {}, .judged = true, .timeout = {}, .built_in = call.tree};
    AF_TRY(const auto run, commands_->run_tests(*found, held.tree, selection, stop));
    if (run.trusted) { runs_.emplace(key, run); }
    return judge_held_out(held, call.baseline->specification, run);
}

namespace {

bool is_same_kind(const NamedViolation& one, const NamedViolation& other) {
    return one.violation.file == other.violation.file && one.violation.check_id == other.violation.check_id &&
           one.text == other.text;
}

}  // namespace

/// Returns the lines that a violation's line became. Empty if its file is gone or was moved, or if that cannot be told.
Result<std::optional<LineRange>> GateEngine::current_part(const GateCall& call, const NamedViolation& before) {
    AF_TRY(const auto then, checkout_->file(call.baseline->base_tree, before.violation.file));
    AF_TRY(const auto now, checkout_->file(call.tree, before.violation.file));
    if (!then || !now) { return std::optional<LineRange>(); }
    return part_of_line(*then, *now, before.violation.line);
}

Result<void> GateEngine::judge_violation(const GateCall& call, GateReport& report, const Stop& stop) {
    const auto& base_tree = call.baseline->base_tree;
    AF_TRY(const auto changes, checkout_->changes(base_tree, call.tree));
    std::set<std::string> paths;
    for (const auto& change : changes) {
        paths.insert(change.path);
        if (!change.old_path.empty()) { paths.insert(change.old_path); }
    }
    const auto* target = call.request.parameters.if_contains("violation");
    std::vector<NamedViolation> wanted;
    if (target != nullptr) {
        AF_TRY(auto named, named_violation_from_json(target->as_object(), "the task"));
        paths.insert(named.violation.file);
        wanted.push_back(std::move(named));
    }
    bool gone = true;
    bool nothing_new = true;
    if (!paths.empty()) {
        const std::vector<std::string> files(paths.begin(), paths.end());
        AF_TRY(const auto before, findings(base_tree, files, stop));
        AF_TRY(const auto now, findings(call.tree, files, stop));
        // The right one is found by its neighbours among others with the same text. Names them all, so that none is mistaken for
        // it.
        const auto known = name_violations(before, wanted);
        std::optional<LineRange> part;
        const auto same = [&](const NamedViolation& one) { return !wanted.empty() && one.id == wanted.front().id; };
        const auto target_before = std::ranges::find_if(known, same);
        if (target_before != known.end()) { AF_TRY(part, current_part(call, *target_before)); }
        const auto named_now = name_violations(now, known);
        if (part) {
            const auto alike = [&](const NamedViolation& each) { return is_same_kind(each, *target_before); };
            // It went to another place of the file if there are as many as before.
            if (std::ranges::count_if(named_now, alike) >= std::ranges::count_if(known, alike)) { part.reset(); }
        }
        const bool by_id = !part && std::ranges::any_of(named_now, same);
        for (const auto& each : named_now) {
            // Where the same text violates the check several times, ids may have moved to the ones that are left.
            const bool is_left = by_id ? same(each)
                                       : part && is_same_kind(each, *target_before) && each.violation.line >= part->first &&
                                             each.violation.line <= part->last;
            if (!is_left) { continue; }
            gone = false;
            report.blocking_issues.push_back(each.violation.file + ":" + std::to_string(each.violation.line) +
                                             ": the violation is still there: " + each.violation.message + " (" +
                                             each.violation.check_id + ")" +
                                             (each.violation.fix_hint.empty() ? "" : ". " + each.violation.fix_hint));
        }
        for (const auto& finding : only_new(now, before)) {
            nothing_new = false;
            const auto& violation = finding.violation;
            const bool is_reported = std::any_of(report.violations.begin(), report.violations.end(), [&](const Violation& each) {
                return each.check_id == violation.check_id && each.file == violation.file && each.line == violation.line;
            });
            if (!is_reported) { report.violations.push_back(violation); }
            if (is_reported && finding.blocks) { continue; }
            report.blocking_issues.push_back(violation.file + ":" + std::to_string(violation.line) + ": " + violation.message +
                                             " (" + violation.check_id +
                                             "). It is new, and a fix adds no violation, whatever its severity" +
                                             (violation.fix_hint.empty() ? "." : ". " + violation.fix_hint));
        }
    }
    report.facts["violation_gone"] = gone;
    report.facts["no_new_violations"] = nothing_new;
    return {};
}

}  // namespace agentforge::kernel
