// SPDX-License-Identifier: Apache-2.0
#include "pipeline/task_run.hpp"

#include "base/ids.hpp"
#include "base/text.hpp"
#include "cost/failures.hpp"
#include "journal/failures.hpp"
#include "pipeline/budget.hpp"
#include "pipeline/delivery/delivery.hpp"
#include "pipeline/dependencies.hpp"
#include "pipeline/failures.hpp"
#include "pipeline/process_requests.hpp"
#include "pipeline/tests/held_out.hpp"
#include "plugins/call_mark.hpp"
#include "task/artifact_files.hpp"
#include "task/failures.hpp"

namespace agentforge::kernel {

namespace {

std::string way_after_end(const TaskState& state) {
    const bool can_continue = state.status == TaskStatus::completed && !has_delivered(state);
    return can_continue ? "`agentforge continue " + short_id(state.task_id) + "` continues it; or start a new task"
                        : "start a new task";
}

bool takes_time(const Effect& effect) {
    return std::holds_alternative<effect::StartStage>(effect) || std::holds_alternative<effect::RunStage>(effect) ||
           std::holds_alternative<effect::ReviewStage>(effect);
}

ExitCode exit_code_for(const PipelineResult& result, const TaskState& state) {
    if (result.success) { return ExitCode::done; }
    if (result.error && is_out_of_time(result.error->code)) { return ExitCode::stage_timeout; }
    if (state.escalation && state.escalation->cause == EscalationCause::cycle_limit) { return ExitCode::cycle_limit; }
    if (!result.waiting_for.empty()) { return ExitCode::person_needed; }
    if (state.status == TaskStatus::aborted || state.status == TaskStatus::paused) { return ExitCode::cancelled; }
    return ExitCode::failed;
}

}  // namespace

TaskRun::TaskRun(ControllerSetup& setup, std::unique_ptr<TaskSession> session, std::string_view guidance)
    : task_{setup, setup.services, std::move(session)}, guidance_(guidance) {}

TaskRun::Step TaskRun::continue_if_ok(Result<void> done) { return done.ok() ? Step(true) : Step(std::move(done).error()); }

Result<PipelineResult> TaskRun::drive() {
    const auto begin = task_.services.clock.steady();
    const CancelToken::Steps steps(task_.services.cancel);
    if (task_.state().status == TaskStatus::running) { ended_in_ = last_marked_call(task_.session->paths().plugin_call()); }
    const CallMark mark(task_.session->paths().plugin_call());
    AF_CHECK(begin_run());
    AF_CHECK(loop());
    end();
    PipelineResult result = report();
    result.duration = std::chrono::duration_cast<std::chrono::milliseconds>(task_.services.clock.steady() - begin);
    task_.services.events.event(
        event::RunEnded{result.task_id, std::string(to_string(result.status)), result.waiting_for, result.duration.count()});
    return result;
}

void TaskRun::close() {
    remove_abort_request(task_.session->paths());
    auto closed = task_.open_workspace();
    if (closed.ok()) { closed = task_.task_workspace->close(); }
    if (closed.ok()) { return; }
    task_.services.events.event(event::Logged{static_cast<std::uint64_t>(LogLevel::warning),
                                              "cannot remove the task's workspace: " + closed.error().to_string(),
                                              task_.stage_name()});
}

// ------------------------------------------------------------------------------------------------- before the first effect --

Result<void> TaskRun::begin_run() {
    AF_TRY(const bool answered, people_.answer_with(guidance_));
    if (answered) { guidance_.clear(); }
    AF_CHECK(check_guidance_applies());
    if (task_.state().waiting_for().empty()) {
        AF_CHECK(begin_or_resume());
    } else {
        AF_CHECK(people_.return_to_question([this] { return begin_or_resume(); }));
    }
    AF_CHECK(record_costing());
    return record_plugins();
}

Result<void> TaskRun::check_guidance_applies() const {
    if (guidance_.empty()) { return {}; }
    const auto waits_for = task_.state().waits_for();
    if (!waits_for && task_.state().status != TaskStatus::completed && task_.state().status != TaskStatus::aborted) { return {}; }
    const std::string& id = task_.state().task_id;
    return Error{"AF-ORCH-049",
                 !waits_for ? "task " + id + " has ended (" + std::string(to_string(task_.state().status)) +
                                  "): no model would see your message"
                            : "task " + id + " waits for your " +
                                  (waits_for == QuestionKind::escalation ? "answer" : "decision") + ", and continues with it",
                 "",
                 !waits_for ? way_after_end(task_.state())
                            : "`agentforge status " + short_id(id) + "` shows what it waits for and how to answer",
                 ErrorKind::conflict};
}

Result<void> TaskRun::begin_or_resume() {
    remove_pause_request(task_.session->paths());  // Removes a request to a process that ended before it saw the request.
    if (task_.state().status == TaskStatus::completed || task_.state().status == TaskStatus::aborted) { return {}; }
    if (task_.state().status == TaskStatus::pending) {
        AF_CHECK(task_.session->record(records::TaskStarted{guidance()}));
    } else {
        AF_CHECK(task_.session->record(records::TaskResumed{.reason = "resumed", .ended_in = ended_in_, .guidance = guidance()}));
    }
    if (ended_in_) {
        task_.warn(Error{
            "AF-PLUG-023", "The previous process of this task ended without an error message in " + *ended_in_,
            "task " + task_.state().task_id,
            "Nothing to do if you killed it. If it crashes again, report it to the plugin's author, or name the plugin in plugins.disable.",
            ErrorKind::internal});
    }
    return {};
}

/// Records the limits and prices in force, as part of the task's history.
Result<void> TaskRun::record_costing() {
    if (is_terminal(task_.state().status)) { return {}; }
    records::CostingInForce in_force = costing_in_force(task_.state(), task_.services);
    if (in_force == task_.state().costing) { return {}; }
    return task_.session->record(records::Costing{std::move(in_force)});
}

/// Records the plugins that the task runs with, by id, version and hash, also as part of its history.
Result<void> TaskRun::record_plugins() {
    if (!task_.services.plugins_of || is_terminal(task_.state().status)) { return {}; }
    json::array in_use = task_.services.plugins_of(task_.state().pipeline);
    if (const records::Kept& known = task_.state().resumption.plugins; !known.empty()) {
        const auto before = task_.session->kept(known);
        if (before.ok() && *before == json::value(in_use)) { return {}; }
    }
    AF_TRY(const records::Kept kept, task_.session->keep(std::move(in_use)));
    return task_.session->record(records::Plugins{kept});
}

// ------------------------------------------------------------------------------------------------------------- the loop --

Result<void> TaskRun::loop() {
    while (true) {
        AF_TRY(const bool may_continue, obey_stop_requests());
        if (!may_continue) { return {}; }
        const Effect effect = next(task_.state());
        if (takes_time(effect)) {
            if (const auto over = wall_time_exceeded(task_.state(), task_.services)) {
                AF_TRY(const bool after, pause(*over));
                if (!after) { return {}; }
            }
        }
        AF_TRY(const bool more, std::visit([this](const auto& what) { return apply(what); }, effect));
        if (!more) { return {}; }
    }
}

TaskRun::Step TaskRun::obey_stop_requests() {
    if (asked_to_abort()) {
        AF_CHECK(task_.session->record(records::TaskAborted{abort_reason(task_.session->paths())}));
        return true;
    }
    if (is_terminal(task_.state().status)) { return true; }
    if (const auto reason = take_pause_request(task_.session->paths())) {
        AF_CHECK(task_.session->record(records::TaskPaused{task_.services.redactor.redact(*reason)}));
        return false;
    }
    if (!task_.services.cancel.step_ended()) { return true; }
    AF_CHECK(task_.session->record(records::TaskPaused{"interrupted"}));
    return false;
}

bool TaskRun::asked_to_abort() const { return !is_terminal(task_.state().status) && abort_requested(task_.session->paths()); }

/// Cleans up after the task has ended.
void TaskRun::end() {
    const TaskStatus status = task_.state().status;
    if (!is_terminal(status)) { return; }
    if (status != TaskStatus::failed) { close(); }
    prove_and_archive(task_.setup, *task_.session);
}

// -------------------------------------------------------------------------------------------------------------- effects --

TaskRun::Step TaskRun::apply(const effect::StartStage&) {
    if (const auto there = record_met_dependencies(*task_.session, task_.setup.store, task_.services.other_repository);
        !there.ok()) {
        return wait_for_dependency(there.error());
    }
    AF_CHECK(task_.session->record(records::StageStarted{.stage = task_.stage_name(),
                                                         .attempt = task_.state().stage().attempts + 1,
                                                         .visit = task_.state().stage().visits + 1,
                                                         .iteration = task_.state().stage().iterations,
                                                         .cycle = task_.state().stage().cycles}));
    return true;
}

/// Waiting for a dependency needs no process: the task pauses, and `resume` checks again.
TaskRun::Step TaskRun::wait_for_dependency(const Error& error) {
    if (is_journal_failure(error)) { return error; }
    if (is_circle(error)) { return continue_if_ok(task_.session->record(records::TaskFailed{error.code, error.message})); }
    return pause(error);
}

TaskRun::Step TaskRun::apply(const effect::SkipStage& skip) {
    return continue_if_ok(task_.session->record(records::StageSkipped{task_.stage_name(), skip.reason}));
}

TaskRun::Step TaskRun::apply(const effect::StartCycle& cycle) {
    const std::string tree = task_.state().tree;
    const TaskState& state = task_.state();
    for (auto stage = state.pipeline.index_of(cycle.to); stage && *stage <= state.stage_index; ++*stage) {
        remove_final_file(task_.session->paths(), state.stages[*stage]);
    }
    AF_CHECK(task_.session->record(records::CycleStarted{task_.stage_name(), cycle.to, cycle.reason}));
    if (task_.task_workspace && task_.state().tree != tree) { AF_CHECK(task_.task_workspace->restore(task_.state().tree)); }
    return true;
}

TaskRun::Step TaskRun::apply(const effect::RequestApproval&) { return continue_if_ok(people_.request_approval()); }
TaskRun::Step TaskRun::apply(const effect::AskAction&) { return continue_if_ok(people_.ask_action()); }
TaskRun::Step TaskRun::apply(const effect::RaiseEscalation&) { return continue_if_ok(people_.raise_escalation()); }
TaskRun::Step TaskRun::apply(const effect::EscalateLimit& limit) {
    return continue_if_ok(people_.ask(limit.cause, limit.reason, {}));
}

TaskRun::Step TaskRun::apply(const effect::AwaitPerson&) {
    AF_CHECK(people_.wait());
    return task_.state().waiting_for().empty();
}

TaskRun::Step TaskRun::apply(const effect::CompleteStage&) {
    const auto measured_again = acceptance_.measure_again_if_stale();
    if (!measured_again.ok()) { return end_visit(measured_again.error(), 0); }
    if (*measured_again) { return true; }
    return continue_if_ok(
        task_.session->record(records::StageCompleted{task_.stage_name(), task_.state().stage().artifact_hash}));
}

Result<void> TaskRun::end_with_all_tests() {
    if (!task_.state().held_out.hidden) { return {}; }
    AF_CHECK(task_.open_workspace());
    return return_held_out(*task_.session, *task_.task_workspace);
}

TaskRun::Step TaskRun::apply(const effect::CompleteTask& complete) {
    AF_CHECK(end_with_all_tests());
    AF_CHECK(acceptance_.save_finals());
    AF_CHECK(task_.session->record(records::TaskCompleted{complete.exit_stage, complete.exit_type}));
    return true;
}

TaskRun::Step TaskRun::apply(const effect::FailTask& failure) {
    AF_CHECK(end_with_all_tests());
    AF_CHECK(task_.session->record(records::TaskFailed{failure.code, failure.message}));
    return true;
}

TaskRun::Step TaskRun::apply(const effect::Rest&) { return false; }

// ------------------------------------------------------------------------------------------------------- what it came to --

PipelineResult result_of(const TaskState& state) {
    PipelineResult result;
    result.task_id = state.task_id;
    result.status = state.status;
    result.success = state.status == TaskStatus::completed;
    if (!state.stages.empty()) { result.current_stage = state.stage().name; }
    result.stages_completed = state.completed_stages();
    result.waiting_for = std::string(state.waiting_for());
    if (const auto open = open_question(state)) { result.waiting_id = open->id; }
    if (result.success && !state.delivery.empty()) { result.deliverable = delivered_facts(state); }
    if (!state.error.empty()) {
        const char* without_code = state.status == TaskStatus::aborted ? "AF-ORCH-007" : "AF-ORCH-001";
        // The task's error has only the message of the failed stage's error; this adds the remedy.
        const std::string& remedy = state.resumption.remedy;
        const std::string first = state.status != TaskStatus::failed || remedy.empty() ? "" : remedy + "; ";
        result.error = Error{state.error_code.empty() ? without_code : state.error_code, state.error, "task " + state.task_id,
                             first + "look at it with `agentforge inspect " + short_id(state.task_id) + "`", ErrorKind::invalid};
    }
    result.exit_code = exit_code_for(result, state);
    result.spend = state.ledger.total();
    result.unpriced_models = state.ledger.unpriced_models();
    return result;
}

PipelineResult TaskRun::report() {
    PipelineResult result = result_of(task_.state());
    if (result.success) {
        result.deliverable.reset();
        if (auto artifact = task_.session->artifact(task_.state().exit_stage); artifact.ok()) {
            result.deliverable = std::move(*artifact);
        }
        if (result.deliverable && task_.state().delivery.replaces) {
            // The change was rebased since. Says where it is now.
            for (auto& fact : delivered_facts(task_.state())) { (*result.deliverable)[fact.key()] = std::move(fact.value()); }
        }
    }
    if (paused_by_) {
        result.error = task_.services.redactor.redact(*paused_by_);
        if (!result.success) { result.exit_code = exit_code_of_pause(result); }
    }
    result.abandoned_thread = watchdog_.gave_up() || people_.gave_up_handler();
    return result;
}

ExitCode TaskRun::exit_code_of_pause(const PipelineResult& result) const {
    if (is_out_of_time(paused_by_->code)) { return ExitCode::stage_timeout; }
    if (result.exit_code == ExitCode::cycle_limit || result.exit_code == ExitCode::person_needed) { return result.exit_code; }
    if (is_unmet_dependency(*paused_by_) || is_limit(*paused_by_)) { return ExitCode::person_needed; }
    return result.status == TaskStatus::aborted ? ExitCode::cancelled : ExitCode::failed;
}

Result<bool> check_proof(const ControllerSetup& setup, TaskSession& session) {
    AF_TRY(const Proof proof,
           setup.task_workspaces.check_proof(session.paths().root.string(), setup.escalations.directory().string(),
                                             setup.services.delivery.sign));
    if (proof.is_known) { AF_CHECK(session.adopt()); }
    return proof.is_lost;
}

void prove_and_archive(const ControllerSetup& setup, const TaskSession& session) {
    const auto warn = [&](const std::string& what, const Error& error) {
        setup.services.events.event(
            event::Logged{static_cast<std::uint64_t>(LogLevel::warning), what + error.to_string(), session.state().stage().name});
    };
    const std::string folder = session.paths().root.string();
    const std::string escalations = setup.escalations.directory().string();
    const auto stated =
        setup.task_workspaces.state_proof(folder, escalations, setup.services.delivery.sign, setup.services.clock.now());
    if (!stated.ok()) { warn("the statement about the delivery is incomplete: ", stated.error()); }
    if (!stated.ok() && stated.error().kind == ErrorKind::conflict) {  // Changed files must not replace the archive's.
        const auto archived = setup.task_workspaces.is_archived(session.state().task_id, folder);
        if (archived.ok() && *archived) { return; }
    }
    if (const auto kept = setup.task_workspaces.archive(session.state().task_id, folder, escalations); !kept.ok()) {
        warn("cannot archive the task in the repository: ", kept.error());
    }
}

}  // namespace agentforge::kernel
