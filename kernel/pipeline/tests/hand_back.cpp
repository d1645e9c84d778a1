// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tests/hand_back.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "contracts/names.hpp"
#include "gates/engine/baseline.hpp"
#include "gates/engine/rules.hpp"
#include "gates/test_quality/test_quality.hpp"
#include "pipeline/gate_runs.hpp"
#include "task/exit_gate.hpp"

namespace agentforge::kernel {

namespace {

Error refused(std::string why, std::string remedy = "fix the code, or hand back exactly what the gate's run shows to be wrong") {
    return Error{"AF-ORCH-033", "this cannot be handed back: " + std::move(why), "", std::move(remedy), ErrorKind::invalid};
}

bool contains(const std::vector<std::string>& texts, const std::string& text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
}

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) { all += (all.empty() ? "" : ", ") + text; }
    return all;
}

/// Collapses white space, and removes full stops at the end.
std::string plain(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        const bool space = letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
        if (space && (result.empty() || result.back() == ' ')) { continue; }
        result += space ? ' ' : letter;
    }
    while (result.ends_with(' ') || result.ends_with('.')) { result.pop_back(); }
    return result;
}

struct Criterion {
    std::string requirement;
    std::string text;
};

std::vector<Criterion> criteria_of(const json::object& specification) {
    std::vector<Criterion> criteria;
    for (const json::value& item : list_of(specification, "requirements")) {
        if (!item.is_object()) { continue; }
        const std::string id = text_of(item.get_object(), "id");
        for (std::string& text : texts_of(item.get_object(), "acceptance_criteria")) {
            criteria.push_back({id, std::move(text)});
        }
        criteria.push_back({id, text_of(item.get_object(), "description")});
    }
    return criteria;
}

Result<Criterion> specified(const std::string& claimed, const json::object& specification) {
    const std::vector<Criterion> criteria = criteria_of(specification);
    const std::string wanted = plain(claimed);
    for (const Criterion& each : criteria) {
        const std::string text = plain(each.text);
        if (wanted == text || wanted == each.requirement + ": " + text) { return each; }
    }
    std::string all;
    for (const Criterion& each : criteria) { all += "\n" + each.requirement + ": " + each.text; }
    return refused("`" + ellipsis(claimed, 200) +
                   "` is not a criterion of the specification, word for word. They are:" + ellipsis(all, 1500));
}

bool has_failed(const TestOutcome& test) { return test.status != TestStatus::passed && test.status != TestStatus::skipped; }

struct Named {
    std::string id;
    std::string requirement;
    const TestOutcome* outcome = nullptr;
};

/// True if the compiler's message is only about this file.
bool is_only_about(std::string_view message, const std::string& file) {
    constexpr std::string_view built = "does not build: ";
    if (!message.starts_with(built)) { return false; }
    message.remove_prefix(built.size());
    while (!message.empty()) {
        const auto end = std::min(message.find('\n'), message.size());
        const auto line = message.substr(0, end);
        if (!line.empty() && !line.starts_with(file + ":")) { return false; }
        message.remove_prefix(std::min(message.size(), end + 1));
    }
    return true;
}

struct BuildFault {
    std::uint64_t line = 0;
    std::string message;
};

/// Returns the error that a compiler or type checker reported for a file, if the file itself causes it.
std::optional<BuildFault> build_fault(const GateReport& report, const std::string& file) {
    for (const Violation& each : report.violations) {
        if (each.contract == "types" && each.severity != "minor" && each.file == file) {
            return BuildFault{each.line, "does not build: " + each.message};
        }
    }
    for (const TestOutcome& test : report.tests) {
        if (test.id == file && test.status == TestStatus::error && is_only_about(test.message, file)) {
            return BuildFault{test.line, test.message};
        }
    }
    return std::nullopt;
}

/// Returns RED's tests in a run, by id. Tests of a file that does not build have that file's error.
std::vector<Named> tests_of_red(const json::object& suite, const GateReport& report) {
    std::vector<std::string> problems;
    std::vector<Named> tests;
    for (const DeclaredTest& test : declared_tests(suite, problems)) {
        auto outcomes = outcomes_of(test, report.tests);
        std::erase_if(outcomes, [](const TestOutcome* outcome) { return outcome->status == TestStatus::not_collected; });
        for (const TestOutcome* outcome : outcomes) { tests.push_back({outcome->id, test.requirement, outcome}); }
        if (!outcomes.empty() || !build_fault(report, test.file)) { continue; }
        for (const TestOutcome& each : report.tests) {
            if (each.id == test.file) { tests.push_back({test.file + "::" + test.name, test.requirement, &each}); }
        }
    }
    return tests;
}

/// Returns the tests that passed before the task and fail now. The specification may contradict them. They belong to no
/// requirement.
std::vector<Named> outdated_in(const GateReport& report, const std::vector<TestOutcome>& base_tests) {
    std::vector<Named> tests;
    for (const TestOutcome& test : report.tests) {
        const auto before = std::ranges::find(base_tests, test.id, &TestOutcome::id);
        if (has_failed(test) && before != base_tests.end() && before->status == TestStatus::passed) {
            tests.push_back({test.id, "", &test});
        }
    }
    return tests;
}

/// Resolves a claim: an id or a name means one test, a path means all tests of that file.
Result<std::vector<Named>> tests_of_red(const std::string& claimed, const std::vector<Named>& tests) {
    std::vector<Named> found;
    std::vector<Named> of_file;
    for (const Named& test : tests) {
        if (test.id == claimed) { return std::vector{test}; }
        if (test.id.ends_with("::" + claimed)) { found.push_back(test); }
        if (test.outcome->file == claimed) { of_file.push_back(test); }
    }
    if (!of_file.empty()) { return of_file; }
    if (found.size() == 1) { return found; }
    std::string all;
    for (const Named& test : tests) { all += (all.empty() ? "" : ", ") + test.id; }
    return refused("`" + ellipsis(claimed, 200) + "` " +
                   (found.empty() ? "is neither a test written for this task nor one that passed before it and fails now"
                                  : "is the name of several tests") +
                   "; they are " + ellipsis(all, 1000));
}

/// True if the gate blocks because this test passes: it proves nothing and must be rewritten.
bool proves_nothing(const Named& test, const GateReport& report) {
    return contains(fact_texts(report.facts, "tests_at_fault"), without_parameters(test.id));
}

/// Returns the gate's issue about the test.
std::string why_it_proves_nothing(const Named& test, const GateReport& report) {
    const auto named = std::ranges::find_if(report.blocking_issues, [&](const std::string& issue) {
        return issue.find(without_parameters(test.id)) != std::string::npos;
    });
    return named != report.blocking_issues.end() ? *named : report.summary;
}

Result<void> must_fail(const Named& test, const GateReport& report) {
    if (build_fault(report, test.outcome->file) || proves_nothing(test, report)) { return {}; }
    switch (test.outcome->status) {
        case TestStatus::failed_assertion:
        case TestStatus::error:
            return {};
        case TestStatus::passed:
            return refused(test.id + " passes");
        case TestStatus::failed_skeleton:
            return refused(test.id + " reaches a body that is not written yet", "write it first");
        case TestStatus::skipped:
        case TestStatus::not_collected:
            break;
    }
    return refused(test.id + " was not run (" + std::string(to_string(test.outcome->status)) + ")");
}

/// A test counts as wrong only if everything else passes. The model must first fix other failures.
Result<void> nothing_else_fails(const GateReport& report, const std::vector<Named>& handed_back) {
    const auto before = fact_texts(report.facts, "failed_before");
    const auto flaky = fact_texts(report.facts, "flaky");
    std::vector<std::string> named;
    std::vector<std::string> files;  // Files that do not build.
    for (const Named& test : handed_back) {
        named.push_back(test.id);
        if (build_fault(report, test.outcome->file)) { files.push_back(test.outcome->file); }
    }
    for (const Violation& each : report.violations) {
        if (each.contract != "types" || each.severity == "minor" || contains(files, each.file)) { continue; }
        return refused(
            each.file + ":" + std::to_string(each.line) + " does not build either: " + ellipsis(first_line(each.message), 200),
            "fix it, or name its tests as well");
    }
    for (const TestOutcome& test : report.tests) {
        const bool was_not_run = test.id == test.file || test.status == TestStatus::not_collected;
        if (was_not_run && !files.empty()) { continue; }  // A file that does not build can stop others from running.
        if (!has_failed(test) || contains(named, test.id) || contains(before, test.id) || contains(flaky, test.id)) { continue; }
        return refused(test.id + " fails too: " + ellipsis(first_line(test.message), 200), "make it pass, or name it as well");
    }
    return {};
}

records::MeasuredTest test_json(const Named& test, const GateReport& report) {
    const TestOutcome& outcome = *test.outcome;
    if (const auto fault = build_fault(report, outcome.file)) {
        return {.id = test.id,
                .file = outcome.file,
                .line = fault->line,
                .status = std::string(to_string(TestStatus::error)),
                .message = fault->message};
    }
    const std::string message = proves_nothing(test, report) ? "passes. " + why_it_proves_nothing(test, report) : outcome.message;
    return {.id = test.id,
            .file = outcome.file,
            .line = outcome.line,
            .status = std::string(to_string(outcome.status)),
            .message = message};
}

std::string place_of(const records::MeasuredTest& test) {
    return *test.id + (*test.line > 0 ? " (line " + std::to_string(*test.line) + ")" : "");
}

std::string ended(std::string sentence) { return sentence.ends_with('.') ? sentence : sentence + "."; }

using Requirements = std::map<std::string, json::object, std::less<>>;

Requirements requirements_of(const json::object& specification) {
    Requirements all;
    for (const json::value& item : list_of(specification, "requirements")) {
        if (item.is_object()) { all.emplace(text_of(item.get_object(), "id"), item.get_object()); }
    }
    return all;
}

std::vector<std::string> faults_of_specification(const HandBack& hand_back, const json::object& before,
                                                 const json::object& after) {
    std::vector<std::string> faults;
    const Requirements now = requirements_of(after);
    for (const auto& [id, requirement] : requirements_of(before)) {
        const auto found = now.find(id);
        if (found == now.end()) {
            faults.push_back("requirement " + id + " is missing; correct what was handed back, and leave nothing out");
        } else if (text_of(found->second, "verification_method") != text_of(requirement, "verification_method")) {
            faults.push_back("requirement " + id + " has a different verification_method; only its criteria may be corrected");
        } else if (id != hand_back.requirement && found->second != requirement) {
            faults.push_back("requirement " + id + " has changed, and only " + hand_back.requirement + " was handed back");
        }
    }
    return faults;
}

/// True if a declared test was handed back.
bool was_handed_back(const DeclaredTest& test, const std::vector<std::string>& ids) {
    std::vector<TestOutcome> outcomes;
    for (const std::string& id : ids) {
        TestOutcome outcome;
        outcome.id = id;
        outcome.file = id.substr(0, id.find("::"));
        outcome.name = id.substr(id.rfind(':') + 1);
        outcomes.push_back(std::move(outcome));
    }
    return !outcomes_of(test, outcomes).empty();
}

std::vector<std::string> faults_of_suite(const HandBack& hand_back, const json::object& before, const json::object& after) {
    std::vector<std::string> faults;
    std::vector<std::string> problems;
    const std::vector<DeclaredTest> now = declared_tests(after, problems);
    std::map<std::string, int> missing;  // Requirement -> new tests fewer than before.
    for (const DeclaredTest& test : now) { missing[test.requirement] -= test.kind == TestKind::fresh ? 1 : 0; }
    for (const DeclaredTest& test : declared_tests(before, problems)) {
        missing[test.requirement] += test.kind == TestKind::fresh ? 1 : 0;
        const bool kept = std::any_of(now.begin(), now.end(), [&](const DeclaredTest& each) {
            return each.file == test.file && each.name == test.name && each.requirement == test.requirement &&
                   each.kind == test.kind;
        });
        if (!kept && !was_handed_back(test, hand_back.tests)) {
            faults.push_back(test.file + "::" + test.name + " (" + test.requirement +
                             ") was not handed back; submit it unchanged");
        }
    }
    for (const auto& [requirement, count] : missing) {
        if (count > 0) {
            faults.push_back(requirement +
                             " has fewer new tests than before; correct those that were handed back, and remove none");
        }
    }
    return faults;
}

std::string changes_between(const std::vector<TreeChange>& changes) {
    std::vector<std::string> paths;
    for (const TreeChange& change : changes) { paths.push_back(change.path); }
    return joined(paths);
}

/// True if `to` means this stage: `tests`, `specification` or the name of a stage.
bool is_meant(const StageTemplate& stage, std::string_view to) {
    if (to == hand_back_to::tests) { return writes_tests(stage); }
    if (to == hand_back_to::specification) { return makes(stage, contract_name::specification); }
    return stage.name == to && (writes_tests(stage) || makes(stage, contract_name::specification));
}

}  // namespace

const json::object* hand_back_of(const json::object& artifact) {
    const json::value* claim = artifact.if_contains("hand_back");
    return claim == nullptr ? nullptr : claim->if_object();
}

Result<records::HandBackEvidence> judge_hand_back(const json::object& claim, const HandBackGround& ground) {
    if (ground.green.passed) { return refused("every test passes", "hand in the work without hand_back"); }
    if (ground.changed.empty()) {
        return refused("nothing was implemented; a test is wrong only where code does all the rest", "write the code first");
    }
    if (ground.green.tests.empty()) { return refused("no test could be run: " + ellipsis(ground.green.summary, 300)); }
    AF_TRY(const Criterion criterion, specified(text_of(claim, "criterion"), ground.specification));
    const std::string to(hand_back_to::current_word(text_of(claim, "to")));
    std::vector<Named> tests = tests_of_red(ground.suite, ground.green);
    if (to == hand_back_to::tests) {
        for (Named& test : outdated_in(ground.green, ground.base_tests)) {
            if (std::ranges::find(tests, test.id, &Named::id) == tests.end()) { tests.push_back(std::move(test)); }
        }
    }
    std::vector<Named> named;
    std::vector<std::string> ids;
    std::vector<std::string> of_others;
    std::vector<records::MeasuredTest> measured;
    for (const std::string& each : texts_of(claim, "tests")) {
        AF_TRY(auto meant, tests_of_red(each, tests));
        std::move(meant.begin(), meant.end(), std::back_inserter(named));
    }
    for (const Named& test : named) {
        AF_CHECK(must_fail(test, ground.green));
        if (!test.requirement.empty() && test.requirement != criterion.requirement) {
            of_others.push_back(test.id + " is of " + test.requirement);
        }
        ids.push_back(test.id);
        measured.push_back(test_json(test, ground.green));
    }
    AF_CHECK(nothing_else_fails(ground.green, named));
    const bool builds = std::none_of(
        named.begin(), named.end(), [&](const Named& test) { return build_fault(ground.green, test.outcome->file).has_value(); });
    const json::value* trusted = ground.green.facts.if_contains("believed");
    if (builds && trusted != nullptr && *trusted == json::value(false)) {
        return refused("the run is not trusted: " + ellipsis(ground.green.summary, 300));
    }
    if (to == hand_back_to::specification && !of_others.empty()) {
        return refused("the criterion is of " + criterion.requirement + ", and " + joined(of_others));
    }
    return records::HandBackEvidence{.to = to,
                                     .tests = ids,
                                     .requirement = criterion.requirement,
                                     .criterion = criterion.text,
                                     .reason = text_of(claim, "reason"),
                                     .measured = std::move(measured),
                                     .changed = ground.changed,
                                     .red_tree = "",  // The controller adds the trees and the patch.
                                     .work_tree = "",
                                     .patch = ""};
}

Result<records::HandBackEvidence> hand_back_evidence(const TaskSession& session, TaskTrees& trees, const json::object& claim,
                                                     const std::string& tree) {
    const TaskState& state = session.state();
    const std::string to = text_of(claim, "to");
    const auto stage = stage_handed_back_to(state, to);
    const std::string gate = hand_back_gate(state.stage_template());
    if (gate.empty() || !stage || state.red_tree.empty()) {
        return refused("stage `" + state.stage().name + "` has no earlier stage `" + to + "` whose work it tries",
                       "hand in the work without hand_back");
    }
    if (const std::string unmeasured = unmeasured_gate(state, gate, tree); !unmeasured.empty()) { return refused(unmeasured); }
    AF_TRY(const auto report, newest_report(session, gate));
    AF_TRY(const auto suite, session.test_suite());
    AF_TRY(const auto specification, session.artifact_of(contract_name::specification));
    if (!report || !suite || !specification) { return refused("there is no suite or no specification"); }
    AF_TRY(const auto changes, trees.diff(state.red_tree, tree));
    AF_TRY(const auto before, newest_report(session, gate_name::baseline));
    HandBackGround ground{*specification, *suite, *report, {}, before ? before->tests : std::vector<TestOutcome>()};
    for (const TreeChange& change : changes) { ground.changed.push_back(change.path); }
    json::object meant = claim;
    meant["to"] =
        makes(state.pipeline.stages[*stage], contract_name::specification) ? hand_back_to::specification : hand_back_to::tests;
    return judge_hand_back(meant, ground);
}

std::string hand_back_words(const records::HandBackEvidence& evidence) {
    std::string words = ended(*evidence.reason);
    words += " Specified (" + evidence.requirement + "): " + *evidence.criterion + ".";
    words += " Measured on an implementation that passes all other tests:";
    for (const records::MeasuredTest& test : *evidence.measured) {
        words += " " + place_of(test) + ": " + ellipsis(*test.message, 500) + ";";
    }
    words.back() = '.';
    return words;
}

std::optional<std::size_t> stage_handed_back_to(const TaskState& state, std::string_view named) {
    const std::string_view to = hand_back_to::current_word(named);
    for (std::size_t index = state.stage_index; index-- > 0;) {
        if (is_meant(state.pipeline.stages[index], to)) { return index; }
    }
    return std::nullopt;
}

std::optional<Correction> correction_asked(const TaskState& state) {
    const auto stage = state.hand_back ? state.pipeline.index_of(state.hand_back->to) : std::nullopt;
    if (!stage) { return std::nullopt; }
    return makes(state.pipeline.stages[*stage], contract_name::specification) ? Correction::specification : Correction::tests;
}

std::vector<std::string> faults_of_correction(Correction what, const HandBack& hand_back, const json::object& before,
                                              const json::object& after) {
    return what == Correction::specification ? faults_of_specification(hand_back, before, after)
                                             : faults_of_suite(hand_back, before, after);
}

Result<std::vector<std::string>> faults_of_correction(const TaskSession& session, const json::object& artifact) {
    const TaskState& state = session.state();
    const bool by_a_person = state.feedback || !state.resolution_blob.empty();
    if (!state.hand_back || state.hand_back->to != state.stage().name || by_a_person) { return std::vector<std::string>(); }
    AF_TRY(const json::value before, session.get(state.hand_back->artifact_blob));
    if (!before.is_object()) { return std::vector<std::string>(); }
    return faults_of_correction(*correction_asked(state), *state.hand_back, before.get_object(), artifact);
}

Result<void> reapply_work(TaskSession& session, TaskTrees& trees) {
    const TaskState& state = session.state();
    if (!state.hand_back || state.hand_back->from != state.stage().name || state.hand_back->work_tree.empty()) { return {}; }
    AF_TRY(const TreeMerge merged, trees.merge(state.hand_back->base_tree, state.tree, state.hand_back->work_tree));
    const bool fits = merged.conflicts.empty();
    const std::string tree = fits ? merged.tree : state.tree;
    AF_CHECK(trees.keep("seq-" + std::to_string(state.seq + 1), tree));
    AF_CHECK(session.record(
        records::Snapshot{.stage = state.stage().name,
                          .tree = tree,
                          .reason = fits ? "the earlier work is restored" : "the earlier work conflicts with the correction",
                          .put_back = fits,
                          .conflicts = merged.conflicts}));
    return trees.restore(tree);
}

Result<std::string> hand_back_note(const TaskSession& session, TaskTrees& trees) {
    const TaskState& state = session.state();
    if (!state.hand_back) { return std::string(); }
    const HandBack& open = *state.hand_back;
    const std::string tests = joined(open.tests);
    if (open.to == state.stage().name && correction_asked(state) == Correction::specification) {
        return "Correct requirement " + open.requirement +
               " alone, where it cannot hold; all others stay as they are. Where it is right, hand in the specification as it was.";
    }
    if (open.to == state.stage().name) {
        return "Your tests are in the workspace. Correct only " + tests +
               ", and only where they contradict the specification; all others stay as they are. Where they are right, hand in the suite as it was.";
    }
    if (open.from != state.stage().name) { return std::string(); }
    AF_TRY(const auto changes, trees.diff(open.base_tree, state.red_tree));
    const std::string changed = changes_between(changes);
    return "You handed back " + tests + " to " + open.to + ". " +
           (changed.empty() ? "The tests were checked again and did not change: do what they say."
                            : "Changed since: " + changed + ".") +
           " Your earlier work is in the workspace where it still fits; continue from there.";
}

Result<std::vector<std::string>> hand_back_lines(const TaskSession& session, TaskTrees& trees) {
    std::vector<std::string> lines;
    for (const auto& [from, to, evidence] : session.state().resumption.hand_backs) {
        AF_TRY(const auto changes, trees.diff(*evidence.red_tree, session.state().red_tree));
        const auto index = session.state().pipeline.index_of(to);
        const bool of_specification = index && makes(session.state().pipeline.stages[*index], contract_name::specification);
        const std::string what =
            of_specification ? evidence.requirement + " (" + joined(evidence.tests) + ")" : joined(evidence.tests);
        lines.push_back(upper_case(from) + " handed " + what + " back to " + upper_case(to) + ": " +
                        ended(ellipsis(*evidence.reason, 200)) + " " +
                        (changes.empty() ? "The tests did not change." : "Changed since: " + changes_between(changes) + "."));
    }
    return lines;
}

}  // namespace agentforge::kernel
