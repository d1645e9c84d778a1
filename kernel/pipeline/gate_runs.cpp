// SPDX-License-Identifier: Apache-2.0
#include "pipeline/gate_runs.hpp"

#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "config/verification.hpp"
#include "contracts/names.hpp"
#include "gates/engine/baseline.hpp"
#include "gates/failures.hpp"
#include "pipeline/delivery/delivery.hpp"
#include "pipeline/people/acting_changes.hpp"
#include "pipeline/tests/changed_tests.hpp"
#include "pipeline/tests/hand_back.hpp"
#include "pipeline/tests/held_out.hpp"
#include "pipeline/tests/suspicions.hpp"
#include "tools/workspace/role_workspace.hpp"

namespace agentforge::kernel {

namespace {

/// Returns the violation that the task is to fix. The command that started the task put it into its template. Empty if there is
/// none.
json::object violation_of(const TaskState& state) {
    for (const StageTemplate& stage : state.pipeline.stages) {
        const json::value* violation = stage.config.if_contains("violation");
        if (exit_gate(stage) == gate_name::fix && violation != nullptr && violation->is_object()) {
            return violation->get_object();
        }
    }
    return {};
}

/// Returns the reasons why a report does not pass, without the values in them: the failing tests, or the issues if no test fails.
/// A gate that judges tests expects them to fail.
std::set<std::string> complaints(const GateReport& report) {
    std::set<std::string> failing;
    for (const TestOutcome& test : report.tests) {
        const bool fails = test.status != TestStatus::passed && test.status != TestStatus::skipped;
        if (fails && !gate_facts(report.gate).judges_tests) { failing.insert(test.id); }
    }
    if (failing.empty()) {
        for (std::string issue : report.blocking_issues) {
            std::erase_if(issue, [](unsigned char letter) { return std::isdigit(letter) != 0; });
            failing.insert(std::move(issue));
        }
    }
    return failing;
}

std::string fingerprint(const std::set<std::string>& complaints) {
    std::string all;
    for (const std::string& each : complaints) { all += each + "\n"; }
    return sha256(all).substr(0, 16);
}

std::vector<records::CommandRun> runs_of(const std::vector<GateCommand>& commands) {
    std::vector<records::CommandRun> runs;
    for (const GateCommand& each : commands) {
        records::CommandRun run{each.command, each.tree, static_cast<std::uint64_t>(each.duration.count())};
        if (!each.purpose.empty()) { run.purpose = each.purpose; }
        std::string argv;
        for (const std::string& word : each.argv) { argv += (argv.empty() ? "" : " ") + word; }
        if (!argv.empty()) { run.argv = ellipsis(sanitize_utf8(argv), 300); }
        runs.push_back(std::move(run));
    }
    return runs;
}

/// Journals a report under `name`.
Result<void> keep_report(TaskSession& session, TaskGates& gates, std::string_view name, bool partial, const std::string& inputs,
                         GateReport& report) {
    if (json::value value = to_json(report); session.redactor().finds(value)) {
        session.redactor().redact(value);
        AF_TRY(report, gate_report_from_json(value.get_object()));
    }
    records::Gate gate = gate_record(session, report, name);
    gate.partial = partial;
    if (!report.passed) {
        const auto failing = complaints(report);
        gate.failing = fingerprint(failing);
        gate.failures = std::max<std::size_t>(1, failing.size());
    }
    if (auto held_out = fact_texts(report.facts, "held_out_failing"); !held_out.empty()) {
        gate.held_out_failing = std::move(held_out);
    }
    if (!inputs.empty()) { gate.inputs = inputs; }
    if (const auto commands = gates.take_gate_commands(); !commands.empty()) { gate.commands = runs_of(commands); }
    if (!report.tests.empty()) {
        gate.tests = report.tests.size();
        gate.tests_passed =
            static_cast<std::uint64_t>(std::ranges::count(report.tests, TestStatus::passed, &TestOutcome::status));
    }
    if (const json::value* passing = report.facts.if_contains("conformance_passing"); passing != nullptr && passing->is_bool()) {
        gate.conformance = passing->get_bool();
    }
    if (report.facts.contains("checks_total")) {
        gate.checks = static_cast<std::uint64_t>(number_of(report.facts, "checks_total"));
        gate.checks_passed = static_cast<std::uint64_t>(number_of(report.facts, "checks_passing"));
    }
    AF_TRY(gate.report, session.keep(to_json(report)));
    return session.record(gate);
}

/// Checks the template's exit criteria beyond the gate's own verdict. Does so only if the gate passed, because a failed gate may
/// have stopped before it measured a fact.
Result<void> hold_against_criteria(const TaskState& state, GateReport& report) {
    AF_TRY(const auto criteria, exit_criteria(state.stage_template().config));
    if (criteria.empty() || !report.passed) { return {}; }
    const auto judged = judge_criteria(criteria, report.facts);
    for (const JudgedCriterion& one : judged) {
        if (!one.met) { report.blocking_issues.push_back(unmet_text(one)); }
    }
    report.facts["exit_criteria"] = to_json(judged);
    if (report.blocking_issues.empty()) { return {}; }
    report.passed = false;
    report.summary = report.blocking_issues.front();
    return {};
}

bool is_exit_gate(const TaskState& state, std::string_view gate) { return gate == closing_gate(state.stage_template()); }

json::object artifact_or_empty(const std::map<std::string, json::object, std::less<>>& artifacts, std::string_view stage) {
    const auto found = artifacts.find(stage);
    return found == artifacts.end() ? json::object() : found->second;
}

std::string intent_of(const json::object& intake) {
    const json::value* intent = intake.if_contains("extracted_intent");
    if (intent == nullptr || !intent->is_object()) { return {}; }
    const json::value* action = intent->get_object().if_contains("action");
    return action != nullptr && action->is_string() ? std::string(action->get_string()) : std::string();
}

std::vector<std::string> files_of_suite(const json::object& suite) {
    std::vector<std::string> files;
    const json::value* list = suite.if_contains("test_files");
    if (list == nullptr || !list->is_array()) { return files; }
    for (const json::value& entry : list->get_array()) {
        if (!entry.is_object()) { continue; }
        const json::value* path = entry.get_object().if_contains("path");
        if (path != nullptr && path->is_string()) { files.emplace_back(path->get_string()); }
    }
    return files;
}

std::string note_for(const json::object& artifact, std::string_view path) {
    const json::value* notes = artifact.if_contains("file_notes");
    if (notes == nullptr || !notes->is_object()) { return {}; }
    const json::value* note = notes->get_object().if_contains(path);
    return note != nullptr && note->is_string() ? std::string(note->get_string()) : std::string();
}

void add_file_facts(json::object& facts, const std::vector<TreeChange>& changes, const std::vector<std::string>& tests,
                    const json::object& artifact) {
    json::array created;
    json::array modified;
    json::array all;
    for (const TreeChange& change : changes) {
        all.emplace_back(change.path);
        if (std::find(tests.begin(), tests.end(), change.path) != tests.end()) { continue; }
        if (change.status == 'A') {
            created.push_back(
                json::object{{"path", change.path}, {"purpose", note_for(artifact, change.path)}, {"lines", change.lines_added}});
        } else {
            modified.push_back(json::object{{"path", change.path},
                                            {"changes_summary", note_for(artifact, change.path)},
                                            {"lines_added", change.lines_added},
                                            {"lines_removed", change.lines_removed}});
        }
    }
    facts["files_created"] = std::move(created);
    facts["files_modified"] = std::move(modified);
    facts["final_files"] = std::move(all);
}

}  // namespace

/// Returns the tree that the last of GREEN and REFACTOR passed with. Empty if there is none.
std::string verified_tree(const TaskState& state) {
    for (const std::string_view gate : {gate_name::refactor, gate_name::green}) {
        const auto found = state.gates.find(std::string(gate));
        if (found != state.gates.end() && found->second.passed && !found->second.partial) { return found->second.tree; }
    }
    return {};
}

Result<GateBaseline> gate_baseline(const TaskSession& session, std::string_view gate, const json::object* candidate) {
    GateBaseline baseline;
    // Excludes what existed before the task.
    baseline.base_tree = session.state().base_tree;
    if (compared_tree(session.state().stage_template(), gate) == ComparedTree::locked_tests) {
        baseline.red_tree = session.state().red_tree;
    }
    baseline.request = session.state().request;
    const GateFacts facts = gate_facts(gate);
    const bool judges = facts.judges_a_stage;
    if (!judges && gate != gate_name::tests) { return baseline; }
    AF_TRY(const auto artifacts, session.artifacts_by_contract());
    AF_TRY(const auto suite, session.test_suite());
    baseline.test_suite = suite.value_or(json::object());
    if (gate == gate_name::deliver) { baseline.verified_tree = verified_tree(session.state()); }
    if (judges) {
        baseline.specification = artifact_or_empty(artifacts, contract_name::specification);
        baseline.intent = intent_of(artifact_or_empty(artifacts, contract_name::intake_record));
        if (facts.judges_tests) {
            if (candidate != nullptr) { baseline.test_suite = *candidate; }
        } else if (!baseline.red_tree.empty()) {
            AF_TRY(auto red, newest_report(session, gate_name::red));
            if (red) { baseline.red_tests = std::move(red->tests); }
        }
    }
    baseline.test_files = files_of_suite(baseline.test_suite);
    AF_TRY(auto before, newest_report(session, gate_name::baseline));
    if (before) {
        baseline.flaky = fact_texts(before->facts, "flaky");
        baseline.base_tests = std::move(before->tests);
        if (judges) { baseline.outdated = outdated_tests(session.state(), baseline.specification, baseline.base_tests); }
    }
    return baseline;
}

Result<GateReport> run_and_record_gate(TaskSession& session, TaskWorkspace& task_workspace, EventSink& events,
                                       const GateRequest& request, const std::string& tree, const json::object* candidate,
                                       const Stop& stop) {
    if (gate_facts(request.gate).judges_a_stage) { AF_CHECK(ensure_baseline(session, task_workspace, events, stop)); }
    AF_TRY(GateBaseline baseline, gate_baseline(session, request.gate, candidate));
    AF_CHECK(hold_out(session.state(), task_workspace, tree, baseline));
    GateCall call;
    call.request = request;
    if (request.gate == gate_name::fix) { call.request.parameters["violation"] = violation_of(session.state()); }
    call.tree = tree;
    call.baseline = &baseline;
    events.event(event::GateStarted{request.gate, session.state().stage().name});
    AF_TRY(GateReport report, task_workspace.gate(call, stop));
    if (const std::string& reason = session.state().held_out.reason;
        !reason.empty() && (request.gate == gate_name::green || request.gate == gate_name::refactor)) {
        report.facts["held_out"] = reason;
    }
    if (request.paths.empty() && !request.parameters.contains("scope") && is_exit_gate(session.state(), request.gate)) {
        AF_CHECK(hold_against_criteria(session.state(), report));
    }
    AF_TRY(const std::string inputs, task_workspace.gate_inputs());
    AF_CHECK(keep_report(session, task_workspace, request.gate, !request.paths.empty() || request.parameters.contains("scope"),
                         inputs, report));
    return report;
}

Result<GateReport> run_suite(TaskGates& gates, const std::string& tree, std::int64_t number, const Stop& stop) {
    GateCall call;
    call.request.gate = gate_name::tests;
    call.request.parameters["run"] = number;
    call.tree = tree;
    auto measured = gates.gate(call, stop);
    if (measured.ok() || !has_no_language(measured.error())) { return measured; }
    GateReport none;  // There is no source file yet.
    none.facts = {{"tests_found", false}, {"language", nullptr}};
    return none;
}

Result<void> ensure_baseline(TaskSession& session, TaskGates& gates, EventSink& events, const Stop& stop) {
    AF_TRY(const std::string inputs, gates.gate_inputs());
    if (measured_with(session, gate_name::baseline, inputs)) {
        AF_TRY(const auto known, newest_report(session, gate_name::baseline));
        // Measures again if nothing could be measured: the user may have fixed something outside the repository.
        if (known && check_suite_was_measured(*known).ok()) { return {}; }
    }
    std::vector<GateReport> runs;
    events.event(event::GateStarted{std::string(gate_name::baseline), session.state().stage().name});
    for (std::int64_t run = 1; run <= gates.baseline_runs(); ++run) {
        AF_TRY(GateReport report, run_suite(gates, session.state().base_tree, run, stop));
        const json::value* found = report.facts.if_contains("tests_found");
        runs.push_back(std::move(report));
        if (found != nullptr && *found == json::value(false)) { break; }  // A second run could not change this.
    }
    GateReport report = baseline_report(std::move(runs));
    report.tree = session.state().base_tree;
    AF_CHECK(keep_report(session, gates, gate_name::baseline, false, inputs, report));
    return check_suite_was_measured(report);
}

records::Gate gate_record(const TaskSession& session, const GateReport& report, std::string_view name) {
    records::Gate gate{.stage = session.state().stage().name,
                       .gate = std::string(name),
                       .tree = report.tree,
                       .passed = report.passed,
                       .partial = false,
                       .summary = report.summary,
                       .duration_ms = static_cast<std::uint64_t>(report.duration.count()),
                       .report = {}};
    // The sandbox of the commands is part of the measurement.
    if (const json::value* confinement = report.facts.if_contains("confinement")) { gate.confinement = *confinement; }
    return gate;
}

bool measured_with(const TaskSession& session, std::string_view gate, const std::string& inputs) {
    const auto& reports = session.state().resumption.reports;
    const auto found = reports.find(gate);
    return session.state().gates.contains(gate) && found != reports.end() && found->second.inputs == inputs;
}

Result<std::vector<std::string>> begin_suite(TaskSession& session, TaskWorkspace& task_workspace, const Redactor& redactor) {
    std::vector<std::string> paths;
    const TaskState& state = session.state();
    if (!writes_tests(state.stage_template())) { return paths; }
    AF_TRY(const auto before, newest_report(session, gate_name::baseline));
    const json::value* found = before ? before->facts.if_contains("tests_found") : nullptr;
    if (found == nullptr || *found != json::value(false)) { return paths; }
    AF_TRY(const auto files, task_workspace.scaffold(state.tree));
    if (files.empty()) { return paths; }
    // The kernel itself writes these, so no role's rules apply; protected places stay closed.
    AF_TRY(RolePaths rules, RolePaths::make("kernel", {}));
    AF_TRY(auto workspace, RoleWorkspace::open(task_workspace.root(), std::move(rules), redactor));
    workspace->pin(task_workspace.submodules());
    for (const auto& [path, content] : files) {
        AF_CHECK(workspace->create(path, content, true));
        paths.push_back(path);
    }
    AF_TRY(const std::string tree, task_workspace.snapshot(paths));
    AF_CHECK(task_workspace.keep("seq-" + std::to_string(state.seq + 1), tree));
    AF_CHECK(session.record(
        records::Snapshot{.stage = state.stage().name, .tree = tree, .reason = "a test suite was begun", .paths = paths}));
    return paths;
}

bool needs_baseline(const StageTemplate& stage) { return gate_facts(closing_gate(stage)).judges_a_stage; }

bool will_need_baseline(const TaskState& state) {
    for (std::size_t index = state.stage_index; index < state.pipeline.stages.size(); ++index) {
        const StageTemplate& stage = state.pipeline.stages[index];
        if (needs_baseline(stage)) { return true; }
        if (stage.name == state.exit_after.value_or(state.pipeline.exit_stage)) { break; }
    }
    return false;
}

Result<std::optional<GateReport>> newest_report(const TaskSession& session, std::string_view gate) {
    const auto found = session.state().gates.find(gate);
    if (found == session.state().gates.end()) { return std::optional<GateReport>(); }
    const Sequence seq = found->second.seq;
    AF_TRY(const json::value value, session.kept(session.state().resumption.reports.find(gate)->second.report));
    if (!value.is_object()) {
        return Error{"AF-ORCH-021", "the report of gate " + std::string(gate) + " is not a map", "record " + std::to_string(seq),
                     "report this", ErrorKind::corrupt};
    }
    AF_TRY(GateReport report, gate_report_from_json(value.get_object()));
    return std::optional<GateReport>(std::move(report));
}

Result<json::object> current_verification(const TaskSession& session, const std::string& inputs) {
    std::vector<GateReport> reports;
    json::array stale;
    for (const auto& [name, gate] : session.state().gates) {
        const GateFacts facts = gate_facts(name);
        if (facts.name.empty()) { continue; }
        if (gate.tree != session.state().tree || !measured_with(session, name, inputs)) {
            if (!facts.judges_a_stage) { stale.emplace_back(name); }
            continue;
        }
        AF_TRY(auto report, newest_report(session, name));
        if (report) { reports.push_back(std::move(*report)); }
    }
    // Sorts by time of measurement: the last report wins.
    const auto& gates = session.state().gates;
    std::ranges::stable_sort(reports, [&](const GateReport& one, const GateReport& other) {
        return gates.find(one.gate)->second.seq < gates.find(other.gate)->second.seq;
    });
    json::object status = verification_status(reports);
    if (!stale.empty()) { status["stale"] = std::move(stale); }
    AF_TRY(const auto before, newest_report(session, gate_name::baseline));
    if (before && needs_baseline(session.state().stage_template())) {
        const json::value* found = before->facts.if_contains("tests_found");
        const auto failed = fact_texts(before->facts, "failed_before");
        const auto flaky = fact_texts(before->facts, "flaky");
        if (found != nullptr && *found == json::value(false)) {
            status["before_the_task"] = before->summary;
        } else if (!failed.empty() || !flaky.empty()) {
            json::object known{{"tests", static_cast<std::int64_t>(before->tests.size())}};
            if (!failed.empty()) { known["failing"] = json::array(failed.begin(), failed.end()); }
            if (!flaky.empty()) { known["flaky"] = json::array(flaky.begin(), flaky.end()); }
            status["before_the_task"] = std::move(known);
        }
    }
    return status;
}

namespace {

/// Returns the files that stay locked while RED corrects a test: those without handed-back tests.
Result<std::vector<std::string>> files_not_handed_back(const TaskSession& session, const HandBack& hand_back) {
    AF_TRY(const json::value suite, session.get(hand_back.artifact_blob));
    std::vector<std::string> files = suite.is_object() ? files_of_suite(suite.get_object()) : std::vector<std::string>();
    std::erase_if(files, [&](const std::string& file) {
        return std::any_of(hand_back.tests.begin(), hand_back.tests.end(),
                           [&](const std::string& test) { return test.starts_with(file + "::"); });
    });
    return files;
}

}  // namespace

Result<std::vector<std::string>> locked_tests(const TaskSession& session) {
    const TaskState& state = session.state();
    if (state.red_tree.empty()) {
        return correction_asked(state) == Correction::tests ? files_not_handed_back(session, *state.hand_back)
                                                            : std::vector<std::string>();
    }
    AF_TRY(const auto suite, session.test_suite());
    return suite ? files_of_suite(*suite) : std::vector<std::string>();
}

json::object task_names(const TaskState& state) {
    const std::string& named_after = state.resumption.named_after;
    const std::string suffix = named_after.starts_with("task-") ? named_after.substr(5) : named_after;
    return {{"request_id", "REQ-" + suffix}, {"original_request", state.request}, {"spec_id", "SPEC-" + suffix},
            {"spec_ref", "SPEC-" + suffix},  {"suite_id", "SUITE-" + suffix},     {"test_suite_ref", "SUITE-" + suffix},
            {"timestamp", state.created_at}, {"base_commit", state.base_commit}};
}

Result<json::object> measured_facts(const TaskSession& session, TaskTrees& trees, const json::object& artifact,
                                    std::string_view now) {
    const TaskState& state = session.state();
    const std::string& named_after = state.resumption.named_after;
    const std::string suffix = named_after.starts_with("task-") ? named_after.substr(5) : named_after;
    const std::string& stage = state.stage().name;
    json::object facts = task_names(state);
    facts["timestamp"] = now;
    facts["tokens_used"] = state.stage().input_tokens + state.stage().output_tokens;
    facts["implementation_id"] = "IMPL-" + suffix + "-" + stage;
    for (auto& fact : delivered_facts(state)) { facts[fact.key()] = std::move(fact.value()); }
    const std::string tree = delivered_tree(state);
    AF_TRY(const auto changes, trees.diff(state.base_tree, tree));
    AF_TRY(const auto tests, locked_tests(session));
    add_file_facts(facts, changes, tests, artifact);
    AF_TRY(std::vector<std::string> review_notes, acting_changes(session, trees, tree));
    const std::string gate = closing_gate(state.stage_template());
    if (!gate.empty()) {
        AF_TRY(const auto report, newest_report(session, gate));
        if (report && report->tree == tree) {
            for (const auto& [name, value] : report->facts) { facts[name] = value; }
            std::ranges::move(suspicions(*report, state.held_out), std::back_inserter(review_notes));
            if (gate_facts(gate).judges_tests) {
                std::ranges::move(descriptions(changed_tests_in(report->facts)), std::back_inserter(review_notes));
            }
        }
    }
    facts["to_look_at"] = json::array(review_notes.begin(), review_notes.end());
    if (makes_delivery(state.stage_template())) {
        // A delivery report lists only paths; an implementation also lists what was done to each.
        json::array paths;
        for (const TreeChange& change : changes) { paths.emplace_back(change.path); }
        facts["files_modified"] = std::move(paths);
    }
    return facts;
}

}  // namespace agentforge::kernel
