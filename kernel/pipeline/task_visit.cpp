// SPDX-License-Identifier: Apache-2.0
// A visit of a stage: loads and runs its code, and turns its result into an artifact, a question, a cycle or a failure. Reviews
// run the same way.
#include "journal/failures.hpp"
#include "pipeline/budget.hpp"
#include "pipeline/codec.hpp"
#include "pipeline/entry/adopted_tests.hpp"
#include "pipeline/process_stage.hpp"
#include "pipeline/task_run.hpp"
#include "pipeline/tests/hand_back.hpp"
#include "pipeline/tests/held_out.hpp"
#include "task/failures.hpp"

namespace agentforge::kernel {
namespace {

bool pauses_task(const Error& error) { return ends_the_visit(error) && !is_out_of_time(error.code); }

}  // namespace

TaskRun::Step TaskRun::apply(const effect::RunStage&) {
    AF_CHECK(task_.open_workspace());
    if (const auto updated = update_held_out(*task_.session, *task_.task_workspace, Stop{&task_.services.cancel, std::nullopt});
        !updated.ok()) {
        return end_visit(updated.error(), 0);
    }
    if (adopts_tests(task_.state())) { return adopt(); }
    auto host = enter_stage();
    if (!host.ok()) { return end_visit(host.error(), 0); }
    auto plugin = load_stage(**host);
    if (!plugin.ok()) { return end_visit(plugin.error(), 0); }
    AF_TRY(StageResult result, watchdog_.run_stage(*plugin, *host));
    if (task_.state().action) { return leave_for_person(result.error); }
    const auto spent = static_cast<std::uint64_t>((*host)->stage_clock().elapsed().count());
    if (watchdog_.gave_up()) { return fail_stage(*result.error, spent); }
    if (const auto fatal = (*host)->fatal()) { return end_visit(*fatal, spent); }
    if (const auto missing_call = (*host)->missing_call();
        missing_call && result.status != StageStatus::failed && !task_.services.cancel.requested()) {
        return end_visit(*missing_call, spent);
    }
    if (!result.success() && (*host)->stage_clock().expired()) { return fail_stage(overdue(**host), spent, result.artifact); }
    if ((*host)->asked() && result.error && result.error->code == "AF-ORCH-004") {
        result = StageResult::escalate(*(*host)->asked());
    }
    return take(result, spent);
}

TaskRun::Step TaskRun::apply(const effect::ReviewStage& review) {
    AF_CHECK(task_.open_workspace());
    AF_TRY(const auto artifact, task_.session->artifact(task_.stage_name()));
    AgentRun run;
    run.role = review.reviewer;
    run.objective =
        "Review the artifact of stage " + task_.stage_name() + ". Say which issues block it and which are only advisory.";
    run.state = {{"artifact_under_review", artifact ? as_shown(task_.state(), *artifact) : json::object()}};
    AF_TRY(const AgentDefinition reviewer, task_.services.agents.get(review.reviewer));
    run.output_contract = reviewer.output_contract(task_.stage_name());
    const auto clock = std::make_shared<StageClock>(task_.services.clock, task_.state().stage_template().timeout);
    const Result<AgentOutcome> outcome = watchdog_.run_review(run, clock);
    if (task_.state().action) { return leave_for_person(outcome.ok() ? std::optional<Error>() : outcome.error()); }
    const auto spent = static_cast<std::uint64_t>(clock->elapsed().count());
    if (!outcome.ok()) {
        if (watchdog_.gave_up() || pauses_task(outcome.error())) { return pause(outcome.error()); }
        return continue_if_ok(people_.ask(EscalationCause::review,
                                          "the review by `" + review.reviewer + "` failed: " + outcome.error().message, {}));
    }
    if (outcome->escalation) {
        return continue_if_ok(people_.ask(EscalationCause::review, outcome->escalation->reason, *outcome->escalation));
    }
    AF_TRY(const auto broken, acceptance_.accept_review(reviewer, outcome->artifact, spent));
    return broken ? continue_if_ok(people_.ask(EscalationCause::review, *broken, {})) : Step(true);
}

/// Uses imported tests in place of this stage's. Another attempt could not change them, so the task fails if they are not valid.
TaskRun::Step TaskRun::adopt() {
    const auto given_up = [&](const Error& error) {
        return continue_if_ok(task_.session->record(records::TaskFailed{error.code, error.message}));
    };
    auto suite =
        adopt_tests(*task_.session, *task_.task_workspace, task_.services.events, Stop{&task_.services.cancel, std::nullopt});
    if (!suite.ok()) { return is_wrong_import(suite.error().code) ? given_up(suite.error()) : end_visit(suite.error(), 0); }
    AF_CHECK(acceptance_.accept(std::move(*suite), 0));
    if (task_.state().progress == StageProgress::accepted) { return true; }
    return given_up(Error{"AF-EXT-008", "the imported tests violate their contract: " + task_.state().stage().error, "",
                          "correct them and start a new task", ErrorKind::invalid});
}

/// Returns the stage that a result goes back to, if its artifact was imported: no stage of this task can redo it.
std::optional<std::size_t> TaskRun::imported_target(const StageResult& result) const {
    const auto meant = result.artifact && hand_back_of(*result.artifact) != nullptr
                           ? stage_handed_back_to(task_.state(), result.cycle_to)
                           : std::nullopt;
    for (std::size_t index = 0; index < task_.state().stage_index; ++index) {
        const bool named = task_.state().pipeline.stages[index].name == result.cycle_to ||
                           task_.state().pipeline.stages[index].contract == result.cycle_to || meant == index;
        if (named && is_imported(task_.state(), index)) { return index; }
    }
    return std::nullopt;
}

/// Asks the user to correct the artifact that they imported, with the evidence.
TaskRun::Step TaskRun::ask_about_import(const StageResult& result, std::size_t stage, std::uint64_t spent) {
    std::string reason = result.cycle_reason;
    if (const json::object* claim = result.artifact ? hand_back_of(*result.artifact) : nullptr) {
        const auto evidence = hand_back_evidence(*task_.session, *task_.task_workspace, *claim, task_.state().tree);
        if (!evidence.ok()) { return fail_stage(evidence.error(), spent); }
        reason = hand_back_words(*evidence);
    }
    const std::string& contract = task_.state().pipeline.stages[stage].contract;
    const ExternalInput& input = task_.state().external_inputs.at(contract);
    EscalationRequest request;
    request.reason = "stage `" + task_.stage_name() + "` says that the imported " + contract + " (" + input.source_path +
                     ") is wrong: " + reason;
    request.question = "You imported the " + contract + ", so no stage corrects it. What should stage `" + task_.stage_name() +
                       "` do? To correct it, end this task and start again with the corrected one.";
    return continue_if_ok(people_.ask(EscalationCause::stage, request.reason, request, {}, spent));
}

Result<std::shared_ptr<StageHost>> TaskRun::enter_stage() {
    AF_TRY(std::unique_ptr<StageHost> host, StageHost::enter(*task_.session, *task_.task_workspace, task_.services));
    return std::shared_ptr<StageHost>(std::move(host));
}

/// Loads the stage's code: from a library, or as a process that runs as long as this visit.
Result<std::shared_ptr<Stage>> TaskRun::load_stage(StageHost& host) {
    const std::string& executor = task_.state().stage_template().executor;
    const json::object settings = plugin_settings(task_.state().stage_template().config);
    const PluginManifest* const owner = task_.services.plugins.owner(PluginKind::stage, executor);
    if (owner == nullptr || owner->command.empty()) { return task_.services.plugins.stage(executor, settings); }
    AF_CHECK(task_.services.plugins.check_settings(PluginKind::stage, executor, settings));
    return start_process_stage(
        *owner, executor, task_.services.plugins.settings_of(*owner, executor, settings), host.process_place(),
        [&host](LogLevel level, const std::string& message) { host.log(level, message, {}); },
        [&host] { return host.cancelled(); });
}

Error TaskRun::overdue(StageHost& host) const {
    return Error{
        "AF-ORCH-002",
        "stage `" + task_.stage_name() + "` used up its " + std::to_string(host.stage_clock().limit().count() / 1000) + " s",
        "stage " + task_.stage_name(),
        "`agentforge resume` gives it the same time again; for future tasks, raise the stage's timeout_seconds in the pipeline template",
        ErrorKind::timeout};
}

TaskRun::Step TaskRun::take(const StageResult& result, std::uint64_t spent) {
    if (result.escalation) {
        std::string partial;
        if (result.artifact) { AF_TRY(partial, task_.session->put(*result.artifact)); }
        return continue_if_ok(people_.ask(EscalationCause::stage, result.escalation->reason, *result.escalation, partial, spent));
    }
    if (!result.cycle_to.empty()) {
        if (const auto imported = imported_target(result)) { return ask_about_import(result, *imported, spent); }
        const auto target = cycle_target(result);
        if (!target) {
            return fail_stage(Error{"AF-ORCH-006",
                                    "stage `" + task_.stage_name() + "` asked to go back to `" + result.cycle_to +
                                        "`, which is neither an earlier stage nor the contract of one",
                                    "stage " + task_.stage_name(),
                                    "report this to the stage's author, or add that stage to the pipeline", ErrorKind::invalid},
                              spent);
        }
        return request_cycle(result, task_.state().pipeline.stages[*target].name, spent);
    }
    if (!result.success() || !result.artifact) {
        // The stage stopped on request. This is not a failure.
        if (result.error && result.error->kind == ErrorKind::cancelled && task_.services.cancel.requested()) { return true; }
        const Error unexplained{"AF-ORCH-001", "stage `" + task_.stage_name() + "` failed and gave no reason", "",
                                "report this to its author", ErrorKind::internal};
        return fail_stage(result.error ? *result.error : unexplained, spent, result.artifact);
    }
    json::object artifact = *result.artifact;
    task_.services.redactor.redact(artifact);  // It is also written to a file.
    return continue_if_ok(acceptance_.accept(std::move(artifact), spent));
}

/// Finds the stage to go back to. The result names it, or the contract to redo: then it is the first stage with that contract.
std::optional<std::size_t> TaskRun::cycle_target(const StageResult& result) const {
    if (result.artifact && hand_back_of(*result.artifact) != nullptr) {
        return stage_handed_back_to(task_.state(), result.cycle_to);
    }
    for (std::size_t index = 0; index < task_.state().stage_index; ++index) {
        if (task_.state().pipeline.stages[index].name == result.cycle_to) { return index; }
    }
    for (std::size_t index = 0; index < task_.state().stage_index; ++index) {
        const bool made = task_.state().stages[index].status == StageStatus::completed;
        if (made && makes(task_.state().pipeline.stages[index], result.cycle_to)) { return index; }
    }
    return std::nullopt;
}

TaskRun::Step TaskRun::request_cycle(const StageResult& result, const std::string& to, std::uint64_t spent) {
    records::CycleRequested requested{task_.stage_name(), to, result.cycle_reason, spent};
    if (const json::object* claim = result.artifact ? hand_back_of(*result.artifact) : nullptr) {
        // A hand-back by the stage or its agent counts only with measured evidence.
        auto evidence = hand_back_evidence(*task_.session, *task_.task_workspace, *claim, task_.state().tree);
        if (!evidence.ok()) { return fail_stage(evidence.error(), spent); }
        AF_TRY(const std::string patch, save_handed_back());
        requested.reason = hand_back_words(*evidence);
        evidence->red_tree = task_.state().red_tree;
        evidence->work_tree = task_.state().tree;
        evidence->patch = patch;
        requested.hand_back = std::move(*evidence);
    }
    AF_CHECK(task_.session->record(requested));
    return true;
}

/// Saves the work so far for a person. The pipeline itself continues with its tree.
Result<std::string> TaskRun::save_handed_back() {
    AF_TRY(const std::string patch, task_.task_workspace->whole_patch(task_.state().red_tree, task_.state().tree));
    const std::filesystem::path file =
        task_.session->paths().snapshots() / ("handed_back_" + std::to_string(task_.state().seq + 1) + ".patch");
    AF_CHECK(make_directories(file.parent_path()));
    AF_CHECK(write_file_atomic(file, task_.services.redactor.redact(patch), Durability::synced));
    return "artifacts/snapshots/" + file.filename().string();
}

TaskRun::Step TaskRun::fail_stage(const Error& error, std::uint64_t spent, const std::optional<json::object>& partial) {
    records::StageFailed failed{task_.stage_name(), recorded(error), spent};
    if (partial) { AF_TRY(failed.partial_blob, task_.session->put(*partial)); }
    AF_CHECK(task_.session->record(failed));
    if (watchdog_.gave_up()) {
        // The abandoned thread may still hold the plugin's locks, so this process does no more work.
        AF_CHECK(task_.session->record(records::TaskPaused{error.message, true}));
        paused_by_ = error;
        return false;
    }
    return true;
}

/// An agent's action waits for a person. The visit is entered again after the decision, regardless of what the stage returned.
TaskRun::Step TaskRun::leave_for_person(const std::optional<Error>& error) {
    if (!watchdog_.gave_up()) { return true; }
    AF_CHECK(task_.session->record(records::TaskPaused{error ? error->message : "a plugin was abandoned", true}));
    paused_by_ = error;
    return false;
}

/// Ends a visit for a reason outside the stage. Its finished calls are kept, and `resume` continues inside the visit.
TaskRun::Step TaskRun::end_visit(const Error& error, std::uint64_t spent) {
    if (is_journal_failure(error)) { return error; }
    if (pauses_task(error)) { return pause(error); }
    return fail_stage(error, spent);
}

TaskRun::Step TaskRun::pause(const Error& error) {
    if (error.kind == ErrorKind::cancelled) {
        if (asked_to_abort()) { return true; }
        task_.services.cancel.request();
        return true;
    }
    records::TaskPaused paused{error.to_string()};
    if (watchdog_.gave_up()) { paused.given_up = true; }
    AF_CHECK(task_.session->record(paused));
    paused_by_ = error;
    return false;
}

}  // namespace agentforge::kernel
