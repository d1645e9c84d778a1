// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/red_gate.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "gates/engine/report_parts.hpp"
#include "gates/failures.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/language/source_text.hpp"
#include "gates/stubs/declarable_interfaces.hpp"
#include "gates/stubs/scaffold.hpp"
#include "gates/stubs/waiting.hpp"
#include "gates/test_quality/leaving_tests.hpp"
#include "gates/test_quality/left_cases.hpp"
#include "gates/test_quality/outdated_tests.hpp"
#include "gates/test_quality/test_quality.hpp"

namespace agentforge::kernel {

namespace {

/// Adds the existing tests of a file with changed or removed lines. `elsewhere`: for a file without outdated tests.
void add_changed_tests(RedEvidence& evidence, const std::string& file, std::string_view before, std::string_view now,
                       const CodeRules& rules, const UsesElsewhere* elsewhere = nullptr) {
    std::vector<TestOutcome> tests;
    std::ranges::copy_if(evidence.base_tests, std::back_inserter(tests),
                         [&](const TestOutcome& test) { return test.file == file; });
    std::set<std::string> outdated;
    for (const auto& id : evidence.outdated) { outdated.insert(without_parameters(id)); }
    for (ChangedTest& test : changed_tests(before, now, tests, outdated, rules, elsewhere)) {
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

std::vector<ChangedTestNote> notes_of_changed_tests(const RedEvidence& evidence, const json::object& specification) {
    std::vector<ChangedTestNote> notes;
    for (const ChangedTest& test : evidence.changed) {
        if (test.id.empty() || test.gained_cases) { continue; }
        notes.push_back({.test = test.id, .description = changed_test_line(test, reason_of(specification, test.id))});
    }
    return notes;
}

std::vector<std::string> texts_of_lines(std::string_view text) {
    const auto lines = lines_of(text);
    return {lines.begin(), lines.end()};
}

}  // namespace

/// One judgment of RED. Its parts add to the evidence and to the report, in the order of `judge`.
class RedGate::Judgment {
public:
    Judgment(RedGate& gate, const GateCall& call, const Stop& stop)
        : gate_(gate),
          call_(call),
          stop_(stop),
          baseline_(*call.baseline),
          before_tree_(baseline_.compared_tree()),
          checkout_(gate.checkout_) {}

    Result<GateReport> judge();

private:
    void gather_declared();
    Result<void> find_kernel_files();
    Result<void> sort_changes();
    Result<void> sort_path(const std::string& path);
    [[nodiscard]] bool is_kernel_file(const std::string& path, const std::string& content) const;
    Result<void> sort_file_with_tests(const std::string& path, const std::string& content);
    Result<void> sort_test_file(const std::string& path, const std::optional<std::string>& content);
    Result<void> judge_support_files();
    Result<UsesElsewhere> uses_outside(const std::string& path);
    Result<void> refuse_links();
    Result<void> find_declared_files();
    Result<void> run_tests();
    Result<void> run_with_former_signatures();
    Result<void> run_former_tests();
    void judge_tests();
    Result<void> check_rules();
    [[nodiscard]] std::string summary() const;

    RedGate& gate_;
    const GateCall& call_;
    const Stop& stop_;
    const GateBaseline& baseline_;
    const std::string before_tree_;
    TreeCheckout& checkout_;

    const Language* language_ = nullptr;
    std::map<std::string, std::string>
        kernel_files_;             ///< Path → content of what the kernel wrote: skeletons, the start of a suite.
    std::set<std::string> files_;  ///< RED's test files.
    std::map<std::string, std::pair<std::string, std::string>> support_;  ///< Changed files without outdated tests: before, now.
    RedEvidence evidence_;
    GateReport report_;
};

Result<GateReport> RedGate::judge(const GateCall& call, const Stop& stop) { return Judgment(*this, call, stop).judge(); }

Result<GateReport> RedGate::Judgment::judge() {
    AF_TRY(language_, gate_.languages_.of(call_.tree));
    gather_declared();
    AF_CHECK(find_kernel_files());
    AF_CHECK(sort_changes());
    AF_CHECK(judge_support_files());
    AF_CHECK(refuse_links());
    AF_CHECK(find_declared_files());
    if (!files_.empty()) {
        AF_CHECK(run_tests());
        AF_CHECK(run_with_former_signatures());
        AF_CHECK(run_former_tests());
    }
    judge_tests();
    if (!evidence_.test_paths.empty()) { AF_CHECK(check_rules()); }
    report_.facts["believed"] = evidence_.run.trusted || files_.empty();
    conclude(report_, summary());
    return std::move(report_);
}

void RedGate::Judgment::gather_declared() {
    evidence_.intent = baseline_.intent;
    evidence_.without_new_test = gate_.commands_.settings().without_new_test || may_keep_behaviour(baseline_.request);
    evidence_.declared = declared_tests(baseline_.test_suite, evidence_.problems);
    evidence_.requirements = testable_requirements(baseline_.specification);
    evidence_.staying = staying_requirements(baseline_.specification);
    evidence_.base_tests = baseline_.base_tests;
    evidence_.outdated = {baseline_.outdated.begin(), baseline_.outdated.end()};
}

Result<void> RedGate::Judgment::find_kernel_files() {
    auto generated = gate_.declarations_.skeleton(before_tree_, declarable_interfaces(baseline_.specification), stop_);
    if (!generated.ok() && !is_undeclarable(generated.error())) { return std::move(generated).error(); }
    if (generated.ok()) { kernel_files_.insert(generated->begin(), generated->end()); }
    // The project had no suite, so the kernel started one.
    AF_TRY(const auto begun, scaffold_of(checkout_, gate_.languages_, before_tree_));
    for (const auto& [path, content] : begun) { kernel_files_.try_emplace(path, content); }
    return {};
}

Result<void> RedGate::Judgment::sort_changes() {
    AF_TRY(const auto changes, checkout_.changes(before_tree_, call_.tree));
    for (const auto& change : changes) {
        for (const auto* path : {&change.old_path, &change.path}) {
            if (!path->empty()) { AF_CHECK(sort_path(*path)); }
        }
    }
    return {};
}

Result<void> RedGate::Judgment::sort_path(const std::string& path) {
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

bool RedGate::Judgment::is_kernel_file(const std::string& path, const std::string& content) const {
    const auto known = kernel_files_.find(path);
    return known != kernel_files_.end() && known->second == content;
}

/// Checks a file with inline tests: RED may write the tests, but not the rest.
Result<void> RedGate::Judgment::sort_file_with_tests(const std::string& path, const std::string& content) {
    AF_TRY(const auto base, checkout_.file(before_tree_, path));
    const auto declared = kernel_files_.find(path);
    const auto before =
        split_inline_tests(declared != kernel_files_.end() ? declared->second : base.value_or(""), language_->inline_begins);
    const auto after = split_inline_tests(content, language_->inline_begins);
    (before.code == after.code ? evidence_.test_paths : evidence_.foreign_paths).push_back(path);
    if (base) { add_changed_tests(evidence_, path, before.tests, after.tests, language_->code); }
    if (!after.tests.empty()) { files_.insert(path); }
    return {};
}

Result<void> RedGate::Judgment::sort_test_file(const std::string& path, const std::optional<std::string>& content) {
    evidence_.test_paths.push_back(path);
    AF_TRY(const auto base, checkout_.file(before_tree_, path));
    if (!content) { return {}; }
    const bool has_outdated =
        std::ranges::any_of(evidence_.outdated, [&](const std::string& id) { return id.substr(0, id.find("::")) == path; });
    if (base && !has_outdated && !evidence_.outdated.empty() && language_->sources.matches(path)) {
        support_.emplace(path, std::pair(*base, *content));
        return {};
    }
    const auto there =
        evidence_.without_new_test && base ? with_new_names(*base, *content, baseline_.request) : base.value_or("");
    const bool lists_sources = path == "CMakeLists.txt" || path.ends_with("/CMakeLists.txt");
    add_changed_tests(evidence_, path, there, lists_sources ? without_added_sources(there, *content) : *content, language_->code);
    if (language_->tests.matches(path)) { files_.insert(path); }
    return {};
}

/// A fixture or helper that only outdated tests use may be in another file.
Result<void> RedGate::Judgment::judge_support_files() {
    for (const auto& [path, texts] : support_) {
        AF_TRY(const auto elsewhere, uses_outside(path));
        const auto there =
            evidence_.without_new_test ? with_new_names(texts.first, texts.second, baseline_.request) : texts.first;
        add_changed_tests(evidence_, path, there, texts.second, language_->code, &elsewhere);
        if (language_->tests.matches(path)) { files_.insert(path); }
    }
    return {};
}

Result<UsesElsewhere> RedGate::Judgment::uses_outside(const std::string& path) {
    UsesElsewhere elsewhere;
    std::set<std::string> files;
    std::set<std::string> outdated;
    for (const auto& id : evidence_.outdated) {
        files.insert(id.substr(0, id.find("::")));
        outdated.insert(without_parameters(id));
    }
    for (const auto& file : files) {
        AF_TRY(const auto before, checkout_.file(before_tree_, file));
        AF_TRY(const auto now, checkout_.file(call_.tree, file));
        std::vector<TestOutcome> tests;
        std::ranges::copy_if(evidence_.base_tests, std::back_inserter(tests),
                             [&](const TestOutcome& test) { return test.file == file; });
        const LeavingTests leaving(before.value_or(""), now.value_or(""), tests, outdated, language_->code);
        for (const auto& part : leaving.parts()) {
            if (part.kind == LeavingPart::Kind::test && elsewhere.test.empty()) { elsewhere.test = part.id; }
        }
        elsewhere.leaving += leaving.left();
    }
    constexpr std::size_t most_files = 2000;
    AF_TRY(const auto all, checkout_.files(call_.tree));
    for (const auto& file : all) {
        if (file == path || !language_->belongs_to_tests(file) || elsewhere.staying.size() >= most_files) { continue; }
        AF_TRY(auto content, checkout_.file(call_.tree, file));
        if (content) { elsewhere.staying.push_back(std::move(*content)); }
    }
    return elsewhere;
}

Result<void> RedGate::Judgment::refuse_links() {
    if (!evidence_.test_paths.empty()) { AF_CHECK(checkout_.check_out(call_.tree)); }
    for (const auto& path : evidence_.test_paths) {
        if (!is_link(checkout_, path)) { continue; }
        evidence_.problems.push_back(path + " is a link; use regular files for tests, so that their content is locked.");
    }
    return {};
}

Result<void> RedGate::Judgment::find_declared_files() {
    for (const auto& test : evidence_.declared) {
        AF_TRY(const auto content, checkout_.file(call_.tree, test.file));
        const bool inlined = content && language_->may_hold_tests(test.file) &&
                             !split_inline_tests(*content, language_->inline_begins).tests.empty();
        if (!language_->tests.matches(test.file) && !inlined) {
            evidence_.problems.push_back(test.file + " is not in a place for " + language_->name + " tests (" +
                                         language_->test_patterns.front() + ").");
        } else if (content) {
            files_.insert(test.file);
        }
    }
    return {};
}

Result<void> RedGate::Judgment::run_tests() {
    AF_TRY(evidence_.run, gate_.red_runs_.run(call_.tree, {files_.begin(), files_.end()}, false, stop_));
    AF_TRY(evidence_.declared_names, declared_names(checkout_, *language_, baseline_.specification, call_.tree));
    evidence_.waiting_files = waiting_files(*language_, baseline_.specification, evidence_.run, evidence_.declared_names);
    report_.facts["confinement"] = evidence_.run.confinement;
    report_.facts["notes"] = json::array(evidence_.run.notes.begin(), evidence_.run.notes.end());
    return {};
}

/// A test that an argument is gone already passes on the skeleton, which has the new signature. Runs such tests on a tree with
/// the former signatures and everything else that the specification declares.
Result<void> RedGate::Judgment::run_with_former_signatures() {
    if (!asks_to_remove(baseline_.request) || !evidence_.run.trusted || evidence_.skeleton_paths.empty()) { return {}; }
    std::set<std::string> passing;
    for (const auto& test : evidence_.declared) {
        if (test.kind != TestKind::fresh) { continue; }
        for (const auto* outcome : outcomes_of(test, evidence_.run.tests)) {
            if (outcome->status == TestStatus::passed) { passing.insert(outcome->id); }
        }
    }
    if (passing.empty()) { return {}; }
    std::vector<SkeletonInterface> added;
    bool any_changes = false;
    for (const auto& interface : declarable_interfaces(baseline_.specification)) {
        const auto alone = gate_.declarations_.skeleton(before_tree_, {interface}, stop_);
        if (!alone.ok() && !is_undeclarable(alone.error())) { return alone.error(); }
        bool changes = !alone.ok();
        for (const auto& [path, content] : alone.ok() ? *alone : std::vector<std::pair<std::string, std::string>>{}) {
            AF_TRY(const auto base, checkout_.file(before_tree_, path));
            changes = changes || !changed_line_numbers(base.value_or(""), content).empty();
        }
        any_changes = any_changes || changes;
        if (!changes) { added.push_back(interface); }
    }
    if (!any_changes) { return {}; }
    TestSelection selection{.files = {files_.begin(), files_.end()}, .names = {}, .judged = true, .timeout = {}};
    selection.purpose = "former-signatures";
    for (const auto& path : evidence_.skeleton_paths) {
        AF_TRY(auto base, checkout_.file(before_tree_, path));
        if (base) { selection.instead[path] = std::move(*base); }
    }
    if (!added.empty()) {
        const auto declared = gate_.declarations_.skeleton(before_tree_, added, stop_);
        if (!declared.ok() && !is_undeclarable(declared.error())) { return declared.error(); }
        if (declared.ok()) {
            for (const auto& [path, content] : *declared) { selection.instead[path] = content; }
        }
    }
    AF_TRY(const auto run, gate_.commands_.run_tests(*language_, call_.tree, selection, stop_));
    for (const auto& test : run.tests) {
        if (run.trusted && passing.contains(test.id) && test.status == TestStatus::failed_assertion) {
            evidence_.failed_before_signature.insert(test.id);
        }
    }
    return {};
}

/// Tests must follow a declared signature, and pass again once they do: the skeleton keeps what the function does. Runs their
/// former versions, which must fail with the skeleton.
Result<void> RedGate::Judgment::run_former_tests() {
    if (evidence_.skeleton_paths.empty() || !evidence_.run.trusted) { return {}; }
    std::set<std::string> functions;
    for (const auto& interface : declarable_interfaces(baseline_.specification)) {
        functions.insert(interface.name.substr(interface.name.find_last_of(".:") + 1));
    }
    std::vector<ChangedTest*> following;
    TestSelection selection{.files = {}, .names = {}, .judged = true, .timeout = {}};
    selection.purpose = "former-tests";
    for (ChangedTest& test : evidence_.changed) {
        const bool outdated =
            std::ranges::any_of(evidence_.outdated, [&](const std::string& id) { return without_parameters(id) == test.id; });
        if (!outdated || language_->may_hold_tests(test.file)) { continue; }
        AF_TRY(auto base, checkout_.file(before_tree_, test.file));
        AF_TRY(const auto now, checkout_.file(call_.tree, test.file));
        if (!base || !now) { continue; }
        // If all tests of a suite are outdated, its own lines count as those of the first one.
        if (!only_gained_arguments(test.before, test.after, functions) &&
            !only_gained_arguments(texts_of_lines(*base), texts_of_lines(*now), functions)) {
            continue;
        }
        following.push_back(&test);
        if (selection.instead.emplace(test.file, std::move(*base)).second) { selection.files.push_back(test.file); }
    }
    if (following.empty()) { return {}; }
    AF_TRY(const auto run, gate_.commands_.run_tests(*language_, call_.tree, selection, stop_));
    for (ChangedTest* test : following) {
        const bool passes = std::ranges::any_of(run.tests, [&](const TestOutcome& outcome) {
            return without_parameters(outcome.id) == test->id && outcome.status == TestStatus::passed;
        });
        test->follows_signature = run.trusted && !passes;
    }
    return {};
}

void RedGate::Judgment::judge_tests() {
    for (ChangedTest& test : evidence_.changed) {
        // GREEN runs the former version of a test file, but not of tests in a source file.
        if (test.id.empty() || language_->may_hold_tests(test.file)) { continue; }
        test.lost_cases = lost_only_removed_cases(test.before, test.after, baseline_.request);
        const bool outdated =
            std::ranges::any_of(evidence_.outdated, [&](const std::string& id) { return without_parameters(id) == test.id; });
        test.gained_cases = !outdated && only_gained_cases(test.before, test.after);
    }
    auto facts_of_run = report_.facts;
    take_over(report_, judge_red(evidence_));
    report_.facts["changed_tests"] = changed_tests_fact(notes_of_changed_tests(evidence_, baseline_.specification));
    for (auto& fact : facts_of_run) { report_.facts[fact.key()] = std::move(fact.value()); }
}

/// Checks all conformance rules, also those for the end of a phase, because the tests cannot be changed later.
Result<void> RedGate::Judgment::check_rules() {
    GateCall rules = call_;
    rules.request.paths = evidence_.test_paths;
    AF_TRY(auto judged, gate_.conformance_.measure(rules, Enforcement::phase_end, stop_));
    take_over(report_, std::move(judged), {"conformance_passing", "checks_total", "checks_passing"});
    return {};
}

std::string RedGate::Judgment::summary() const {
    const auto count = report_.facts.at("failing_tests").as_array().size();
    const auto waiting = report_.facts.at("waiting_tests").as_array().size();
    return std::to_string(count) + (count == 1 ? " new test fails, as it should" : " new tests fail, as they should") +
           (waiting == 0 ? "" : " (" + std::to_string(waiting) + " of them do not load before the implementation exists)");
}

}  // namespace agentforge::kernel
