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

/// One judgment of RED. Its parts add to the evidence and to the report, in the order of `judge`.
class GateEngine::RedGate {
public:
    RedGate(GateEngine& engine, const GateCall& call, const Stop& stop)
        : engine_(engine),
          call_(call),
          stop_(stop),
          baseline_(*call.baseline),
          before_tree_(baseline_.compared_tree()),
          checkout_(*engine.checkout_) {}

    Result<GateReport> judge();

private:
    void gather_declared();
    Result<void> find_kernel_files();
    Result<void> sort_changes();
    Result<void> sort_path(const std::string& path);
    [[nodiscard]] bool is_kernel_file(const std::string& path, const std::string& content) const;
    Result<void> sort_file_with_tests(const std::string& path, const std::string& content);
    Result<void> sort_test_file(const std::string& path, const std::optional<std::string>& content);
    Result<void> refuse_links();
    Result<void> find_declared_files();
    Result<void> run_tests();
    void judge_tests();
    Result<void> check_rules();
    [[nodiscard]] std::string summary() const;

    GateEngine& engine_;
    const GateCall& call_;
    const Stop& stop_;
    const GateBaseline& baseline_;
    const std::string before_tree_;
    TreeCheckout& checkout_;

    const Language* language_ = nullptr;
    std::map<std::string, std::string> kernel_files_;  ///< Path → content, as the kernel writes them: skeletons, a suite's begin.
    std::set<std::string> files_;                      ///< RED's test files.
    RedEvidence evidence_;
    GateReport report_;
};

Result<GateReport> GateEngine::red(const GateCall& call, const Stop& stop) { return RedGate(*this, call, stop).judge(); }

Result<GateReport> GateEngine::RedGate::judge() {
    AF_TRY(language_, engine_.language(call_.tree));
    gather_declared();
    AF_CHECK(find_kernel_files());
    AF_CHECK(sort_changes());
    AF_CHECK(refuse_links());
    AF_CHECK(find_declared_files());
    if (!files_.empty()) { AF_CHECK(run_tests()); }
    judge_tests();
    if (!evidence_.test_paths.empty()) { AF_CHECK(check_rules()); }
    report_.facts["believed"] = evidence_.run.trusted || files_.empty();
    conclude(report_, summary());
    return std::move(report_);
}

void GateEngine::RedGate::gather_declared() {
    evidence_.intent = baseline_.intent;
    evidence_.asked_without = engine_.commands_->settings().without_new_test || asks_for_no_behaviour(baseline_.request);
    evidence_.declared = declared_tests(baseline_.test_suite, evidence_.problems);
    evidence_.requirements = testable_requirements(baseline_.specification);
    evidence_.base_tests = baseline_.base_tests;
    evidence_.outdated = {baseline_.outdated.begin(), baseline_.outdated.end()};
}

Result<void> GateEngine::RedGate::find_kernel_files() {
    auto generated = engine_.skeleton(before_tree_, declarable_interfaces(baseline_.specification), stop_);
    if (!generated.ok() && generated.error().code != "AF-GATE-030") { return std::move(generated).error(); }
    if (generated.ok()) { kernel_files_.insert(generated->begin(), generated->end()); }
    // Without a suite, the kernel itself has started one.
    AF_TRY(const auto begun, engine_.scaffold(before_tree_));
    for (const auto& [path, content] : begun) { kernel_files_.try_emplace(path, content); }
    return {};
}

Result<void> GateEngine::RedGate::sort_changes() {
    AF_TRY(const auto changes, checkout_.changes(before_tree_, call_.tree));
    for (const auto& change : changes) {
        for (const auto* path : {&change.old_path, &change.path}) {
            if (!path->empty()) { AF_CHECK(sort_path(*path)); }
        }
    }
    return {};
}

Result<void> GateEngine::RedGate::sort_path(const std::string& path) {
    AF_TRY(const auto content, checkout_.file(call_.tree, path));
    if (!content) { evidence_.deleted_paths.push_back(path); }
    if (content && is_kernel_file(path, *content)) {
        evidence_.skeleton_paths.push_back(path);
        return {};
    }
    if (language_->may_hold_tests(path)) { return sort_file_with_tests(path, content.value_or("")); }
    if (language_->belongs_to_tests(path)) { return sort_test_file(path, content); }
    evidence_.foreign_paths.push_back(path);
    return {};
}

bool GateEngine::RedGate::is_kernel_file(const std::string& path, const std::string& content) const {
    const auto known = kernel_files_.find(path);
    return known != kernel_files_.end() && known->second == content;
}

/// RED may write the tests in it, but not the rest.
Result<void> GateEngine::RedGate::sort_file_with_tests(const std::string& path, const std::string& content) {
    AF_TRY(const auto base, checkout_.file(before_tree_, path));
    const auto declared = kernel_files_.find(path);
    const auto before =
        split_inline_tests(declared != kernel_files_.end() ? declared->second : base.value_or(""), language_->inline_begins);
    const auto after = split_inline_tests(content, language_->inline_begins);
    (before.code == after.code ? evidence_.test_paths : evidence_.foreign_paths).push_back(path);
    if (base) { add_changed_tests(evidence_, path, before.tests, after.tests); }
    if (!after.tests.empty()) { files_.insert(path); }
    return {};
}

Result<void> GateEngine::RedGate::sort_test_file(const std::string& path, const std::optional<std::string>& content) {
    evidence_.test_paths.push_back(path);
    AF_TRY(const auto base, checkout_.file(before_tree_, path));
    if (!content) { return {}; }
    const auto there = evidence_.asked_without && base ? with_new_names(*base, *content, baseline_.request) : base.value_or("");
    add_changed_tests(evidence_, path, there, *content);
    if (language_->tests.matches(path)) { files_.insert(path); }
    return {};
}

Result<void> GateEngine::RedGate::refuse_links() {
    if (!evidence_.test_paths.empty()) { AF_CHECK(checkout_.check_out(call_.tree)); }
    for (const auto& path : evidence_.test_paths) {
        if (!engine_.is_link(path)) { continue; }
        evidence_.problems.push_back(path + " is a link; make tests regular files, so that their content is locked with them.");
    }
    return {};
}

Result<void> GateEngine::RedGate::find_declared_files() {
    for (const auto& test : evidence_.declared) {
        AF_TRY(const auto content, checkout_.file(call_.tree, test.file));
        const bool inlined = content && language_->may_hold_tests(test.file) &&
                             !split_inline_tests(*content, language_->inline_begins).tests.empty();
        if (!language_->tests.matches(test.file) && !inlined) {
            evidence_.problems.push_back(test.file + " is not where " + language_->name + " tests are looked for (" +
                                         language_->test_patterns.front() + ").");
        } else if (content) {
            files_.insert(test.file);
        }
    }
    return {};
}

Result<void> GateEngine::RedGate::run_tests() {
    AF_TRY(evidence_.run, engine_.run_red_tests(call_.tree, {files_.begin(), files_.end()}, false, stop_));
    AF_TRY(evidence_.declared_names, engine_.declared_names(*language_, baseline_.specification, call_.tree));
    evidence_.waiting_files = waiting_files(*language_, baseline_.specification, evidence_.run, evidence_.declared_names);
    report_.facts["confinement"] = evidence_.run.confinement;
    report_.facts["notes"] = json::array(evidence_.run.notes.begin(), evidence_.run.notes.end());
    return {};
}

void GateEngine::RedGate::judge_tests() {
    auto facts_of_run = report_.facts;
    take_over(report_, judge_red(evidence_));
    report_.facts["changed_tests"] = changed_tests_json(evidence_, baseline_.specification);
    for (auto& fact : facts_of_run) { report_.facts[fact.key()] = std::move(fact.value()); }
}

/// The last time that tests can be fixed: checks all rules, including those of a phase's end.
Result<void> GateEngine::RedGate::check_rules() {
    GateCall rules = call_;
    rules.request.paths = evidence_.test_paths;
    AF_TRY(auto judged, engine_.conformance(rules, Enforcement::phase_end, stop_));
    take_over(report_, std::move(judged), {"conformance_passing", "checks_total", "checks_passing"});
    return {};
}

std::string GateEngine::RedGate::summary() const {
    const auto count = report_.facts.at("failing_tests").as_array().size();
    const auto waiting = report_.facts.at("waiting_tests").as_array().size();
    return std::to_string(count) + (count == 1 ? " new test fails, as it should" : " new tests fail, as they should") +
           (waiting == 0 ? "" : " (" + std::to_string(waiting) + " of them do not load before the implementation exists)");
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

/// Judges whether a violation was fixed.
class GateEngine::ViolationFix {
public:
    ViolationFix(GateEngine& engine, const GateCall& call, GateReport& report, const Stop& stop)
        : engine_(engine), call_(call), report_(report), stop_(stop) {}

    Result<void> judge();

private:
    Result<void> gather_paths();
    Result<void> look_for_target(const std::vector<Finding>& before, const std::vector<Finding>& now);
    void report_left(const Violation& violation);
    void report_new(const Finding& finding);
    [[nodiscard]] bool is_target(const NamedViolation& one) const { return !wanted_.empty() && one.id == wanted_.front().id; }
    [[nodiscard]] bool is_reported(const Violation& violation) const;

    GateEngine& engine_;
    const GateCall& call_;
    GateReport& report_;
    const Stop& stop_;
    std::set<std::string> paths_;         ///< What the task changed, and the violation's file.
    std::vector<NamedViolation> wanted_;  ///< The violation to fix, if the call names one.
    bool gone_ = true;
    bool nothing_new_ = true;
};

Result<void> GateEngine::judge_violation(const GateCall& call, GateReport& report, const Stop& stop) {
    return ViolationFix(*this, call, report, stop).judge();
}

Result<void> GateEngine::ViolationFix::judge() {
    AF_CHECK(gather_paths());
    if (!paths_.empty()) {
        const std::vector<std::string> files(paths_.begin(), paths_.end());
        AF_TRY(const auto before, engine_.findings(call_.baseline->base_tree, files, stop_));
        AF_TRY(const auto now, engine_.findings(call_.tree, files, stop_));
        AF_CHECK(look_for_target(before, now));
        for (const auto& finding : only_new(now, before)) { report_new(finding); }
    }
    report_.facts["violation_gone"] = gone_;
    report_.facts["no_new_violations"] = nothing_new_;
    return {};
}

Result<void> GateEngine::ViolationFix::gather_paths() {
    AF_TRY(const auto changes, engine_.checkout_->changes(call_.baseline->base_tree, call_.tree));
    for (const auto& change : changes) {
        paths_.insert(change.path);
        if (!change.old_path.empty()) { paths_.insert(change.old_path); }
    }
    const auto* target = call_.request.parameters.if_contains("violation");
    if (target == nullptr) { return {}; }
    AF_TRY(auto named, named_violation_from_json(target->as_object(), "the task"));
    paths_.insert(named.violation.file);
    wanted_.push_back(std::move(named));
    return {};
}

Result<void> GateEngine::ViolationFix::look_for_target(const std::vector<Finding>& before, const std::vector<Finding>& now) {
    const auto same = [this](const NamedViolation& one) { return is_target(one); };
    // The right one is found by its neighbours among others with the same text. Names them all, so that none is mistaken for
    // it.
    const auto known = name_violations(before, wanted_);
    std::optional<LineRange> part;
    const auto target_before = std::ranges::find_if(known, same);
    if (target_before != known.end()) { AF_TRY(part, engine_.current_part(call_, *target_before)); }
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
        if (is_left) { report_left(each.violation); }
    }
    return {};
}

void GateEngine::ViolationFix::report_left(const Violation& violation) {
    gone_ = false;
    report_.blocking_issues.push_back(violation.file + ":" + std::to_string(violation.line) +
                                      ": the violation is still there: " + violation.message + " (" + violation.check_id + ")" +
                                      (violation.fix_hint.empty() ? "" : ". " + violation.fix_hint));
}

void GateEngine::ViolationFix::report_new(const Finding& finding) {
    nothing_new_ = false;
    const auto& violation = finding.violation;
    const bool known = is_reported(violation);
    if (!known) { report_.violations.push_back(violation); }
    if (known && finding.blocks) { return; }
    report_.blocking_issues.push_back(violation.file + ":" + std::to_string(violation.line) + ": " + violation.message + " (" +
                                      violation.check_id + "). It is new, and a fix adds no violation, whatever its severity" +
                                      (violation.fix_hint.empty() ? "." : ". " + violation.fix_hint));
}

bool GateEngine::ViolationFix::is_reported(const Violation& violation) const {
    return std::any_of(report_.violations.begin(), report_.violations.end(), [&](const Violation& each) {
        return each.check_id == violation.check_id && each.file == violation.file && each.line == violation.line;
    });
}

}  // namespace agentforge::kernel
