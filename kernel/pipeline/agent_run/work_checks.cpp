// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/work_checks.hpp"

#include "base/disk_failure.hpp"
#include "base/json_fields.hpp"
#include "config/gate_names.hpp"
#include "config/verification.hpp"
#include "contracts/names.hpp"
#include "gates/failures.hpp"
#include "gates/test_quality/outdated_tests.hpp"
#include "pipeline/gate_runs.hpp"
#include "pipeline/tests/hand_back.hpp"
#include "pipeline/tests/held_out.hpp"

namespace agentforge::kernel {

namespace {

std::string in_one_line(const std::vector<std::string>& messages) {
    std::string text;
    for (const std::string& message : messages) { text += (text.empty() ? "" : "; ") + message; }
    return text;
}

}  // namespace

Result<void> WorkChecks::after_edit(const std::vector<std::string>& paths) {
    AF_TRY(const auto checks, edit_checks(run_.state().stage_template().config));
    if (checks.empty()) { return {}; }
    AF_TRY(std::string tree, run_.task_workspace.snapshot(paths));
    workspace_.set_tree(std::move(tree));
    for (const EditCheck& check : checks) {
        GateRequest request;
        request.gate = check.gate;
        if (check.gate != gate_name::tests || check.affected) { request.paths = paths; }
        if (check.affected) { request.parameters["scope"] = "affected"; }
        const auto report = measured(request, nullptr);
        if (!report.ok()) {
            if (is_machine_failure(report.error())) { unmeasurable_ = report.error(); }
            if (report.error().kind != ErrorKind::cancelled) { context_.log(LogLevel::warning, report.error().to_string(), {}); }
            return {};
        }
        if (!report->passed && check.must_pass) { return {}; }  // Checks after a failed one would be meaningless.
    }
    return {};
}

Result<GateReport> WorkChecks::run_gate(const GateRequest& request) { return measured_for_action(request, nullptr); }

Result<void> WorkChecks::complete(const json::object& artifact) {
    AF_CHECK(satisfy_contract(artifact));
    if (contract_->name() == contract_name::specification || contract_->extends() == contract_name::specification) {
        AF_CHECK(try_interfaces(artifact));
        AF_CHECK(find_outdated_tests(artifact));
    }
    if (const json::object* claim = hand_back_of(artifact)) { return hand_back(*claim); }
    return exit_gate_.empty() ? Result<void>() : pass_exit_gate(artifact);
}

Result<void> WorkChecks::satisfy_contract(const json::object& artifact) {
    if (!contract_) {
        return Error{"AF-ORCH-023", "this run expects a text, not an artifact", "", "answer with the text alone",
                     ErrorKind::invalid};
    }
    RuleContext rules;
    rules.artifacts = &by_contract_;
    const ContractVerdict verdict = contract_->validate_answer(artifact, rules);
    if (!verdict.valid()) {
        return Error{"AF-ORCH-024",
                     "the artifact does not satisfy contract `" + contract_->name() + "`: " + in_one_line(verdict.messages()), "",
                     "fix it and call complete again", ErrorKind::invalid};
    }
    if (!run_.who.mode.empty()) { return {}; }  // A review corrects nothing.
    AF_TRY(const std::vector<std::string> faults, faults_of_correction(run_.session, artifact));
    if (faults.empty()) { return {}; }
    return Error{"AF-ORCH-034", "only the handed-back parts may change: " + in_one_line(faults), "",
                 "fix it and call complete again", ErrorKind::invalid};
}

Result<json::object> WorkChecks::verification_status() {
    AF_TRY(const auto inputs, run_.task_workspace.gate_inputs());
    return current_verification(run_.session, inputs);
}

Result<GateReport> WorkChecks::measured(const GateRequest& request, const json::object* candidate) {
    const StageClock::Pause measuring(run_.clock);
    return run_and_record_gate(run_.session, run_.task_workspace, run_.services.events, request, workspace_.tree(), candidate,
                               run_.stop());
}

/// If no action of a model can fix the cause, the task waits for a person. A missing first source file is not such a cause: the
/// model can write it.
Result<GateReport> WorkChecks::measured_for_action(const GateRequest& request, const json::object* candidate) {
    auto report = measured(request, candidate);
    if (!report.ok() && ends_the_visit(report.error()) && !has_no_language(report.error())) { unmeasurable_ = report.error(); }
    return report;
}

/// The model must fix a wrong declaration, and now. A missing toolchain or dependency is reported later, when tests need it.
Result<void> WorkChecks::try_interfaces(const json::object& specification) {
    const StageClock::Pause measuring(run_.clock);
    auto tried = run_.task_workspace.try_specification(workspace_.tree(), specification, run_.stop());
    if (tried.ok() || !is_undeclarable(tried.error())) { return {}; }
    return std::move(tried).error();
}

/// A name that no test has would be ignored: the gate of the next stage would refuse the change of the test that was meant.
Result<void> WorkChecks::find_outdated_tests(const json::object& specification) {
    std::vector<std::string> names;
    for (const json::object& each : objects_of(specification, "outdated_tests")) { names.push_back(text_of(each, "test")); }
    if (names.empty()) { return {}; }
    const StageClock::Pause measuring(run_.clock);
    const auto measured = ensure_baseline(run_.session, run_.task_workspace, run_.services.events, run_.stop());
    if (!measured.ok()) {  // Reported later, when tests need it.
        return measured.error().kind == ErrorKind::cancelled ? measured : Result<void>();
    }
    AF_TRY(const auto baseline, newest_report(run_.session, gate_name::baseline));
    if (!baseline) { return {}; }
    const auto has = [&](const char* fact, bool value) {
        const auto* found = baseline->facts.if_contains(fact);
        return found != nullptr && *found == json::value(value);
    };
    if (has("believed", false) || has("not_built", true)) { return {}; }  // Nobody knows which tests there are.
    std::string unknown;
    for (const UnknownTest& each : unknown_tests(names, baseline->tests)) {
        unknown += (unknown.empty() ? "" : "; ") + ("`" + each.name + "` is no test of the suite");
        if (!each.nearest.empty()) {
            unknown += each.file.empty() ? " (nearest: " : " (" + each.file + " has: ";
            for (const auto& near : each.nearest) { unknown += (near == each.nearest.front() ? "" : ", ") + near; }
            unknown += ")";
        }
    }
    if (unknown.empty()) { return {}; }
    return Error{"AF-ORCH-035", "outdated_tests names a test that does not exist: " + unknown, "",
                 "name each test by its id, with its file and suite, and call complete again", ErrorKind::invalid};
}

/// The model's claim about a test counts only if the gate's run on this exact tree confirms it.
Result<void> WorkChecks::hand_back(const json::object& claim) {
    GateRequest request;
    request.gate = hand_back_gate(run_.state().stage_template());
    if (!request.gate.empty()) { AF_CHECK(measured_for_action(request, nullptr)); }
    AF_CHECK(hand_back_evidence(run_.session, run_.task_workspace, claim, workspace_.tree()));
    return {};
}

Result<void> WorkChecks::pass_exit_gate(const json::object& artifact) {
    GateRequest request;
    request.gate = exit_gate_;
    AF_TRY(const GateReport report, measured_for_action(request, &artifact));
    if (report.passed) { return {}; }
    std::string shown;
    for (const std::string& file : failed_too_often(run_.state())) {
        shown += "; " + file + " has failed too often and is in the workspace from now on";
    }
    return Error{"AF-ORCH-025", "the " + exit_gate_ + " gate does not pass: " + in_one_line(report.blocking_issues) + shown, "",
                 "fix these and call complete again; the kernel measured them itself", ErrorKind::invalid};
}

}  // namespace agentforge::kernel
