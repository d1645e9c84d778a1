// SPDX-License-Identifier: Apache-2.0
#include "pipeline/controller.hpp"

#include <limits>
#include <mutex>

#include <agentforge/artifact.hpp>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "pipeline/budget.hpp"
#include "pipeline/codec.hpp"
#include "pipeline/delivery.hpp"
#include "pipeline/hand_back.hpp"
#include "pipeline/held_out.hpp"
#include "pipeline/machine.hpp"
#include "pipeline/measure.hpp"
#include "pipeline/process_stage.hpp"
#include "plugins/bounded.hpp"
#include "plugins/call_mark.hpp"
#include "tools/arguments_check.hpp"

namespace agentforge::kernel {

json::object plugin_settings(json::object config) {
    for (const std::string_view key : {"exit_gate", "exit_criteria", "verify_edits"}) { config.erase(key); }
    return config;
}

namespace {

constexpr std::size_t max_guidance_bytes = 4000;        // A context has room for it beside the errors of the attempt before.

Error broken_rule(std::string code, std::string message, std::string remedy, ErrorKind kind = ErrorKind::invalid) {
    return Error{std::move(code), std::move(message), "", std::move(remedy), kind};
}

std::filesystem::path abort_request_file(const TaskPaths& paths) { return paths.root / "abort.request"; }
std::filesystem::path pause_request_file(const TaskPaths& paths) { return paths.root / "pause.request"; }

constexpr std::string_view after_step_line = "after the step";     ///< The second line of a request to pause; else it is at once.

/// Another process asks for the end, or a pause (at once, or after the step as the first Ctrl-C does).
void heed_requests(const TaskPaths& paths, CancelToken& cancel) {
    std::error_code error;
    if (cancel.requested()) { return; }
    if (std::filesystem::exists(abort_request_file(paths), error)) { cancel.request(); }
    if (!std::filesystem::exists(pause_request_file(paths), error)) { return; }
    const auto text = read_file(pause_request_file(paths), max_request_bytes);
    if (!text.ok() || text->find("\n" + std::string(after_step_line) + "\n") == std::string::npos) {
        cancel.request();
    } else if (!cancel.finishing()) {
        cancel.request_at_step_end();
    }
}

json::array texts(const std::vector<std::string>& list) {
    json::array array;
    for (const std::string& item : list) { array.emplace_back(item); }
    return array;
}

std::string issue_text(const json::object& issue) {
    const auto field = [&](std::string_view key) {
        const json::value* value = issue.if_contains(key);
        return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    return field("id") + " (" + field("severity") + "): " + field("description") + " Remedy: " + field("remediation");
}

/// JSON Schema knows one kind of whole number, and its reader takes signed ones only.
void sign_integers(json::value& value) {
    if (value.is_uint64() && value.get_uint64() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        value = static_cast<std::int64_t>(value.get_uint64());
    } else if (json::object* object = value.if_object()) {
        for (auto& entry : *object) { sign_integers(entry.value()); }
    } else if (json::array* array = value.if_array()) {
        for (json::value& item : *array) { sign_integers(item); }
    }
}

json::object with_measured(const Contract& contract, json::object artifact, const json::object& facts) {
    contract.fill_measured(artifact, facts);
    json::value whole = std::move(artifact);
    sign_integers(whole);
    return std::move(whole.get_object());
}

const json::array& array_field(const json::object& object, std::string_view key) {
    static const json::array empty;
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_array() ? value->get_array() : empty;
}

/// What was written to a file of ours and read again is `value` still.
bool reads_as(const json::object& read, const json::value& value) {
    const auto written = parse_yaml(to_yaml(value), "what was shown", YamlLimits{64UL << 20U, 4'000'000, 200});
    return written.ok() && written->value == json::value(read);
}

/// A decision is on what was shown: the question's file and the artifact's must still hold what its hash is of. Errors: `conflict` AF-ESC-047 naming
/// the file. Source: North Star 4.3.
Result<void> check_shown(const ControllerSetup& setup, const TaskState& state) {
    const bool action = state.waiting_for() == "action";
    const TaskPaths paths = setup.store.paths(state.task_id);
    const auto other = [&](const std::filesystem::path& file) {
        return Error{"AF-ESC-047", "what waits for you was changed after it was shown, and its hash is of what was shown", file.string(),
                     "undo the change, or remove the file and `agentforge resume " + state.task_id + "` writes it anew" +
                         (action ? "" : "; to have it otherwise: agentforge feedback " + state.task_id + " \"…\""),
                     ErrorKind::conflict};
    };
    AF_TRY(const std::string text, BlobStore(paths.blobs()).get(action ? state.action->blob : state.approval->artifact_hash));
    AF_TRY(json::value shown, parse_json(text, "the blob of what was shown"));
    if (!shown.is_object()) { return {}; }
    for (const std::string_view key : {"_artifact_meta", "_metadata"}) { shown.get_object().erase(key); }     // The envelope's, and never shown.
    const std::string& id = action ? state.action->id : state.approval->id;
    AF_TRY(const ApprovalRequest asked, setup.escalations.approval(id));
    if (!reads_as(asked.artifact, shown)) { return other(setup.escalations.directory() / (id + ".yaml")); }
    if (action) { return {}; }
    const std::filesystem::path file = paths.root / state.stage().artifact;
    const auto artifact = load_artifact(file);
    if (!artifact.ok() && artifact.error().kind == ErrorKind::io) { return artifact.error(); }
    const auto parts = artifact.ok() ? StageArtifact::from_json(*artifact) : Result<StageArtifact>(artifact.error());
    return parts.ok() && reads_as(parts->data, shown) ? Result<void>() : other(file);
}

}  // namespace

/// One process's time with one task: owns its session and workshop.
class PipelineController::Run {
public:
    Run(PipelineController& controller, std::unique_ptr<TaskSession> session, std::string_view guidance = {})
        : controller_(controller), setup_(controller.setup_), services_(setup_.services), session_(std::move(session)), guidance_(guidance) {}

    /// Drives the task until it ends, pauses or is asked to stop.
    Result<PipelineResult> drive() {
        const auto begin = services_.clock.steady();
        const CancelToken::Steps steps(services_.cancel);
        if (state().status == TaskStatus::running) { ended_in_ = last_marked_call(session_->paths().plugin_call()); }
        const CallMark mark(session_->paths().plugin_call());
        AF_CHECK(answer_with_guidance());
        AF_CHECK(check_heard());
        if (session_->state().waiting_for().empty()) {
            AF_CHECK(begin_or_resume());
        } else {
            AF_CHECK(write_lost_question());
            tend_question();
            AF_CHECK(hear_handlers());
            const auto collected = collect_answer(true);
            if (!collected.ok() && !(is_unreadable(collected.error()) && waits_for_people())) { return collected.error(); }
        }
        AF_CHECK(settle_costing());
        AF_CHECK(settle_plugins());
        while (true) {
            if (asked_to_abort()) {
                AF_CHECK(session_->record(records::TaskAborted{"asked to by another agentforge command"}));
            } else if (const auto reason = asked_to_pause()) {
                AF_CHECK(session_->record(records::TaskPaused{*reason}));
                break;
            } else if (services_.cancel.step_ended() && !is_terminal(session_->state().status)) {
                AF_CHECK(session_->record(records::TaskPaused{"interrupted"}));
                break;
            }
            const Effect effect = next(session_->state());
            if (takes_time(effect)) {
                if (const auto over = out_of_time(session_->state(), services_)) {
                    AF_TRY(const bool after, pause(*over));
                    if (!after) { break; }
                }
            }
            AF_TRY(const bool goes_on, std::visit([this](const auto& what) { return apply(what); }, effect));
            if (!goes_on) { break; }
        }
        if (is_terminal(session_->state().status) && session_->state().status != TaskStatus::failed) {
            // The task has ended whatever becomes of its workspace: a folder that stays is named, not an end that is undone.
            if (const auto closed = close(); !closed.ok()) {
                services_.events.event("log", {{"level", static_cast<std::uint64_t>(LogLevel::warning)},
                                               {"stage", stage_name()},
                                               {"message", "the task's workspace could not be removed: " + closed.error().to_string()}});
            }
        }
        if (is_terminal(session_->state().status)) { controller_.keep_in_repository(*session_); }
        PipelineResult result = report();
        result.duration = std::chrono::duration_cast<std::chrono::milliseconds>(services_.clock.steady() - begin);
        services_.events.event("task_finished", {{"task_id", result.task_id},
                                                 {"status", to_string(result.status)},
                                                 {"waiting_for", result.waiting_for},
                                                 {"duration_ms", result.duration.count()}});
        return result;
    }

    /// Removes the workspace of a task that has ended.
    Result<void> close() {
        std::error_code ignored;
        std::filesystem::remove(abort_request_file(session_->paths()), ignored);
        AF_CHECK(open_workshop());
        return workshop_->close();
    }

    TaskSession& session() { return *session_; }

private:
    using Step = Result<bool>;      ///< Whether the loop goes on.

    static bool takes_time(const Effect& effect) {
        return std::holds_alternative<effect::StartStage>(effect) || std::holds_alternative<effect::RunStage>(effect) || std::holds_alternative<effect::ReviewStage>(effect);
    }

    [[nodiscard]] const TaskState& state() const { return session_->state(); }
    [[nodiscard]] const std::string& stage_name() const { return state().stage().name; }

    /// Whether a model hears the guidance when the task goes on.
    /// What is said to an agent that could not do it is the answer to the question how the task should go on.
    Result<void> answer_with_guidance() {
        if (guidance_.empty() || state().waiting_for() != "escalation" || state().escalation->cause != EscalationCause::attempts) { return {}; }
        AF_CHECK(write_lost_question());
        AF_CHECK(setup_.escalations.resolve(state().escalation->id, Resolution{false, {{"answer", guidance_}}, "user"}));
        guidance_.clear();
        return {};
    }

    [[nodiscard]] Result<void> check_heard() const {
        if (guidance_.empty()) { return {}; }
        const std::string_view waiting_for = state().waiting_for();
        if (waiting_for.empty() && state().status != TaskStatus::completed && state().status != TaskStatus::aborted) { return {}; }
        const std::string& id = state().task_id;
        return Error{"AF-ORCH-049",
                     waiting_for.empty() ? "task " + id + " has ended (" + std::string(to_string(state().status)) + "): no model would hear what you say"
                                         : "task " + id + " waits for your " + (waiting_for == "escalation" ? "answer" : "decision") + ", and goes on with that",
                     "", waiting_for.empty() ? "start a new task" : "`agentforge status " + id + "` says what it waits for and how to answer", ErrorKind::conflict};
    }

    Result<void> begin_or_resume() {
        std::error_code ignored;
        std::filesystem::remove(pause_request_file(session_->paths()), ignored);      // Of a process that ended before it was heard.
        if (state().status == TaskStatus::completed || state().status == TaskStatus::aborted) { return {}; }
        if (state().status == TaskStatus::pending) {
            AF_CHECK(session_->record(records::TaskStarted{guidance()}));
        } else {
            AF_CHECK(session_->record(records::TaskResumed{.reason = "resumed", .ended_in = ended_in_, .guidance = guidance()}));
        }
        if (ended_in_) {
            warn(Error{"AF-PLUG-023", "The process that ran this task before ended without a word in " + *ended_in_, "task " + state().task_id,
                       "If it happens again there, report it to the plugin's author, or name the plugin in plugins.disable.", ErrorKind::internal});
        }
        json::array stages;
        for (const StageState& stage : state().stages) { stages.push_back(json::object{{"name", stage.name}, {"status", to_string(stage.status)}}); }
        services_.events.event("task_started", {{"task_id", state().task_id}, {"request", state().request}, {"pipeline", state().pipeline.name}, {"stages", std::move(stages)}});
        if (state().progress == StageProgress::executing || state().progress == StageProgress::accepted) {     // It goes on inside a visit: who watches has not seen it begin.
            services_.events.event("stage_resumed", {{"stage", stage_name()},
                                                     {"index", state().stage_index},
                                                     {"of", state().stages.size()},
                                                     {"attempt", state().stage().attempts},
                                                     {"agent", state().stage_template().agent},
                                                     {"step", state().steps},
                                                     {"task_tokens", state().ledger.total().tokens()}});
        }
        return {};
    }

    [[nodiscard]] std::optional<std::string> guidance() const { return guidance_.empty() ? std::optional<std::string>() : guidance_; }

    /// The limits and prices in force are part of the task's history.
    Result<void> settle_costing() {
        if (is_terminal(state().status)) { return {}; }
        json::object in_force = costing_in_force(state(), services_);
        if (in_force == state().costing) { return {}; }
        return session_->record(records::Costing{std::move(in_force)});
    }

    /// Which plugins the task is run with, by id, version and hash, is part of its history too.
    Result<void> settle_plugins() {
        if (!services_.plugins_of || is_terminal(state().status)) { return {}; }
        json::array in_use = services_.plugins_of(state().pipeline);
        if (const records::Kept& known = state().resumption.plugins; !known.empty()) {
            const auto before = session_->kept(known);
            if (before.ok() && *before == json::value(in_use)) { return {}; }
        }
        AF_TRY(const records::Kept kept, session_->keep(std::move(in_use)));
        return session_->record(records::Plugins{kept});
    }

    Result<void> open_workshop() {
        if (workshop_) { return {}; }
        AF_TRY(workshop_, setup_.workshops.open(state()));
        return workshop_->restore(state().tree);
    }

    /// Why, where another process asks this one to pause; it is asked once.
    std::optional<std::string> asked_to_pause() {
        const std::filesystem::path file = pause_request_file(session_->paths());
        std::error_code error;
        if (is_terminal(state().status) || !std::filesystem::exists(file, error)) { return std::nullopt; }
        const auto text = read_file(file, max_request_bytes);
        std::filesystem::remove(file, error);
        return text.ok() && !first_line(*text).empty() ? services_.redactor.redact(first_line(*text)) : std::string("asked to by another agentforge command");
    }

    bool asked_to_abort() {
        if (is_terminal(state().status)) { return false; }
        std::error_code error;
        return std::filesystem::exists(abort_request_file(session_->paths()), error);
    }

    // ------------------------------------------------------------------------------- effects --

    Step apply(const effect::StartStage&) {
        AF_CHECK(session_->record(records::StageStarted{.stage = stage_name(),
                                                        .attempt = state().stage().attempts + 1,
                                                        .visit = state().stage().visits + 1,
                                                        .iteration = state().stage().iterations,
                                                        .cycle = state().stage().cycles}));
        services_.events.event("stage_started", {{"stage", stage_name()},
                                                 {"index", state().stage_index},
                                                 {"of", state().stages.size()},
                                                 {"attempt", state().stage().attempts},
                                                 {"agent", state().stage_template().agent}});
        return true;
    }

    Step apply(const effect::RunStage&) {
        AF_CHECK(open_workshop());
        if (const auto settled = settle_held_out(*session_, *workshop_, Stop{&services_.cancel, std::nullopt}); !settled.ok()) { return end_visit(settled.error(), 0); }
        auto host = enter_stage();
        if (!host.ok()) { return end_visit(host.error(), 0); }
        auto plugin = load_stage(**host);
        if (!plugin.ok()) { return end_visit(plugin.error(), 0); }
        AF_TRY(StageResult result, execute(*plugin, *host));
        if (state().action) { return leave_for_person(result.error); }
        const auto spent = static_cast<std::uint64_t>((*host)->stage_clock().elapsed().count());
        if (hung_) { return fail_stage(*result.error, spent); }
        if (const auto fatal = (*host)->fatal()) { return end_visit(*fatal, spent); }
        if (const auto left_out = (*host)->left_out(); left_out && result.status != StageStatus::failed && !services_.cancel.requested()) { return end_visit(*left_out, spent); }
        if (!result.success() && (*host)->stage_clock().expired()) { return fail_stage(overdue(**host), spent); }
        if ((*host)->asked() && result.error && result.error->code == "AF-ORCH-004") { result = StageResult::escalate(*(*host)->asked()); }
        return take(result, spent);
    }

    Step apply(const effect::SkipStage& skip) {
        const std::string skipped = stage_name();
        const std::size_t index = state().stage_index;
        AF_CHECK(session_->record(records::StageSkipped{skipped, skip.reason}));
        services_.events.event("stage_skipped", {{"stage", skipped}, {"index", index}, {"of", state().stages.size()}, {"reason", skip.reason}});
        return true;
    }

    Step apply(const effect::ReviewStage& review) {
        AF_CHECK(open_workshop());
        AF_TRY(const auto artifact, session_->artifact(stage_name()));
        AgentRun run;
        run.role = review.reviewer;
        run.objective = "Review the artifact of stage " + stage_name() + ". Say what blocks it and what is only advice.";
        run.state = {{"artifact_under_review", artifact ? as_shown(state(), *artifact) : json::object()}};
        AF_TRY(const AgentDefinition reviewer, services_.agents.get(review.reviewer));
        run.output_contract = reviewer.output_contract(stage_name());
        const auto clock = std::make_shared<StageClock>(services_.clock, state().stage_template().timeout);
        const Result<AgentOutcome> outcome = run_review(run, clock);
        if (state().action) { return leave_for_person(outcome.ok() ? std::optional<Error>() : outcome.error()); }
        const auto spent = static_cast<std::uint64_t>(clock->elapsed().count());
        if (!outcome.ok()) {
            if (hung_ || pauses_task(outcome.error())) { return pause(outcome.error()); }
            return ask_person(EscalationCause::review, "the review by `" + review.reviewer + "` failed: " + outcome.error().message, {});
        }
        if (outcome->escalation) { return ask_person(EscalationCause::review, outcome->escalation->reason, *outcome->escalation); }
        return finish_review(review.reviewer, reviewer.version, run.output_contract, outcome->artifact, spent);
    }

    Step apply(const effect::StartCycle& cycle) {
        const std::string from = stage_name();
        const std::string tree = state().tree;
        AF_CHECK(session_->record(records::CycleStarted{from, cycle.to, cycle.reason}));
        if (workshop_ && state().tree != tree) { AF_CHECK(workshop_->restore(state().tree)); }
        services_.events.event("cycle", {{"from", from}, {"to", cycle.to}, {"reason", cycle.reason}, {"count", state().stage().cycles}});
        return true;
    }

    Result<ApprovalRequest> shown_artifact(const std::string& id) {
        AF_TRY(const auto artifact, session_->artifact(stage_name()));
        ApprovalRequest request;
        request.id = id;
        request.task_id = state().task_id;
        request.stage = stage_name();
        request.artifact = artifact ? *artifact : json::object();
        request.artifact_hash = state().stage().artifact_hash;
        request.created_at = state().resumption.accepted_at;     // The same again when this is repeated after a crash.
        request.directory = setup_.escalations.directory().string();
        return request;
    }

    Step apply(const effect::RequestApproval&) {
        AF_TRY(const ApprovalRequest request, shown_artifact(EscalationStore::approval_id(state().task_id, stage_name(), state().stage().visits)));
        const AnswerBy by = answer_by(request.id, request.created_at, {}, true);
        AF_CHECK(setup_.escalations.record(request, by));
        records::ApprovalRequested requested{stage_name(), request.id, request.artifact_hash};
        set_deadline(requested, by);
        AF_CHECK(session_->record(requested));
        services_.events.event("approval_requested", {{"stage", stage_name()}, {"id", request.id}, {"artifact", state().stage().artifact}});
        return notify([request](EscalationHandler& handler, CallContext& context) { return handler.notify_approval(request, context); });
    }

    /// An agent's action waits for a person: whatever its stage made of that, the visit is entered again once it is decided.
    Step leave_for_person(const std::optional<Error>& error) {
        if (!hung_) { return true; }
        AF_CHECK(session_->record(records::TaskPaused{error ? error->message : "a plugin was given up", true}));
        paused_by_ = error;
        return false;
    }

    Result<ApprovalRequest> shown_action(const std::string& id) {
        AF_TRY(const json::value shown, session_->get(state().action->blob));
        ApprovalRequest request;
        request.id = id;
        request.task_id = state().task_id;
        request.stage = stage_name();
        request.artifact = shown.is_object() ? shown.get_object() : json::object();
        request.artifact_hash = state().action->hash;
        request.created_at = state().resumption.proposed_at;       // The same again when this is repeated after a crash.
        request.directory = setup_.escalations.directory().string();
        return request;
    }

    Step apply(const effect::AskAction&) {
        AF_TRY(const ApprovalRequest request, shown_action(EscalationStore::action_id(state().task_id, stage_name(), state().actions_asked + 1)));
        AF_CHECK(setup_.escalations.record(request));
        AF_CHECK(session_->record(records::ActionAsked{stage_name(), request.id, request.artifact_hash}));
        services_.events.event("approval_requested", {{"stage", stage_name()}, {"id", request.id}, {"action", action_line(request.artifact)}, {"hash", request.artifact_hash}});
        return setup_.present ? Step(true) : tell_of_action();
    }

    /// Others are told once nobody at the terminal decides: not of every action that somebody there is looking at.
    Step tell_of_action() {
        AF_TRY(const ApprovalRequest request, shown_action(state().action->id));
        return notify([request](EscalationHandler& handler, CallContext& context) { return handler.notify_approval(request, context); });
    }

    Result<Escalation> asked_question(const std::string& id) {
        const OpenEscalation& open = *state().escalation;
        Escalation escalation;
        escalation.id = id;
        escalation.task_id = state().task_id;
        escalation.stage = stage_name();
        escalation.issue = open.reason;
        escalation.question = open.question;
        escalation.options = open.options;
        if (!open.context_blob.empty()) {
            AF_TRY(const json::value context, session_->get(open.context_blob));
            if (context.is_object()) { escalation.context = context.get_object(); }
        }
        escalation.created_at = state().resumption.escalated_at;
        escalation.directory = setup_.escalations.directory().string();
        return escalation;
    }

    Step apply(const effect::RaiseEscalation&) {
        AF_TRY(const Escalation escalation, asked_question(EscalationStore::escalation_id(state().task_id, stage_name(), state().stage().escalations + 1)));
        const AnswerBy by = answer_by(escalation.id, escalation.created_at, escalation.options, false);
        AF_CHECK(setup_.escalations.record(escalation, by));
        records::EscalationRaised raised{stage_name(), escalation.id};
        set_deadline(raised, by);
        AF_CHECK(session_->record(raised));
        services_.events.event("escalation", {{"stage", stage_name()},
                                              {"id", escalation.id},
                                              {"reason", escalation.issue},
                                              {"question", escalation.question},
                                              {"options", texts(escalation.options)}});
        return notify([escalation](EscalationHandler& handler, CallContext& context) { return handler.notify(escalation, context); });
    }

    Step apply(const effect::EscalateLimit& limit) { return ask_person(limit.cause, limit.reason, {}); }

    Step apply(const effect::AwaitPerson&) {
        const bool others_wait = static_cast<bool>(setup_.present);      // A handler that hangs is gone afterwards.
        if (waits_for_people()) { AF_CHECK(wait_for_person()); }
        if (const auto collected = collect_answer(); !collected.ok()) {
            if (!is_unreadable(collected.error())) { return collected.error(); }
            warn(collected.error());
        }
        if (state().waiting_for() == "action" && others_wait) { AF_CHECK(tell_of_action()); }
        return state().waiting_for().empty();
    }

    /// An answer that cannot be read is none yet: it is corrected where it lies.
    static bool is_unreadable(const Error& answer) { return answer.code.starts_with("AF-ESC-"); }

    /// An artifact that was accepted may have waited for a person; meanwhile settings or rules of the gates may have become others.
    Result<bool> measured_anew() {
        const std::string gate = exit_gate(state().stage_template());
        if (gate.empty()) { return false; }
        AF_CHECK(open_workshop());
        AF_TRY(const std::string inputs, workshop_->gate_inputs());
        if (measured_with(*session_, gate, inputs)) { return false; }
        GateRequest request;
        request.gate = gate;
        AF_TRY(const auto artifact, session_->artifact(stage_name()));
        AF_CHECK(measure(*session_, *workshop_, services_.events, request, state().tree, artifact ? &*artifact : nullptr, Stop{&services_.cancel, std::nullopt}));
        return true;
    }

    Step apply(const effect::CompleteStage&) {
        const auto anew = measured_anew();
        if (!anew.ok()) { return end_visit(anew.error(), 0); }
        if (*anew) { return true; }
        const std::string stage = stage_name();
        if (state().stage().versions > 0) { AF_CHECK(save_version("final")); }
        AF_CHECK(session_->record(records::StageCompleted{stage, state().stage().artifact_hash}));
        const auto index = state().pipeline.index_of(stage);
        const StageState& done = state().stages[*index];
        services_.events.event("stage_completed", {{"stage", stage},
                                                   {"index", *index},
                                                   {"of", state().stages.size()},
                                                   {"artifact", done.artifact},
                                                   {"duration_ms", done.duration_ms},
                                                   {"steps", done.steps},
                                                   {"tokens", done.input_tokens + done.output_tokens}});
        return true;
    }

    Result<void> end_with_all_tests() {
        if (!state().held_out.hidden) { return {}; }
        AF_CHECK(open_workshop());
        return return_held_out(*session_, *workshop_);
    }

    Step apply(const effect::CompleteTask& complete) {
        AF_CHECK(end_with_all_tests());
        AF_CHECK(session_->record(records::TaskCompleted{complete.exit_stage, complete.exit_type}));
        return true;
    }

    Step apply(const effect::FailTask& failure) {
        AF_CHECK(end_with_all_tests());
        AF_CHECK(session_->record(records::TaskFailed{failure.code, failure.message}));
        return true;
    }

    Step apply(const effect::Rest&) { return false; }

    // ------------------------------------------------------------------------------- a visit --

    Result<std::shared_ptr<StageHost>> enter_stage() {
        AF_TRY(std::unique_ptr<StageHost> host, StageHost::enter(*session_, *workshop_, services_));
        return std::shared_ptr<StageHost>(std::move(host));
    }

    /// The stage's code: from a library, or a process that runs as long as this visit.
    Result<std::shared_ptr<Stage>> load_stage(StageHost& host) {
        const std::string& executor = state().stage_template().executor;
        const json::object settings = plugin_settings(state().stage_template().config);
        const PluginManifest* const owner = services_.plugins.owner(PluginKind::stage, executor);
        if (owner == nullptr || owner->command.empty()) { return services_.plugins.stage(executor, settings); }
        AF_CHECK(services_.plugins.check_settings(PluginKind::stage, executor, settings));
        return start_process_stage(*owner, executor, services_.plugins.settings_of(*owner, executor, settings), host.process_place(), [&host](LogLevel level, const std::string& message) { host.log(level, message, {}); },
                                   [&host] { return host.cancelled(); });
    }

    [[nodiscard]] Error overdue(StageHost& host) const {
        return Error{"AF-ORCH-002",
                     "stage `" + stage_name() + "` used up its " + std::to_string(host.stage_clock().limit().count() / 1000) + " s",
                     "stage " + stage_name(), "raise the stage's timeout_seconds in the pipeline template", ErrorKind::timeout};
    }

    /// What the failed stage's own error said to do: the task's error has its message only.
    [[nodiscard]] std::string remedy_of_last_failure() const {
        if (state().status != TaskStatus::failed) { return {}; }
        const std::string& remedy = state().resumption.remedy;
        return remedy.empty() ? "" : remedy + "; ";
    }

    /// Whether the thread that makes these calls is to be given up: its own deadline has passed, or that of the model call it is in.
    class Patience {
    public:
        Patience(TaskServices& services, const CallWatch& watch) : services_(services), watch_(watch) {}
        bool ended(std::chrono::steady_clock::time_point deadline) {
            const auto now = services_.clock.steady();
            if (now >= deadline + services_.hang_grace) { return true; }
            if (services_.model_limit.count() == 0) { return false; }
            const auto seen = watch_.now();
            if (!seen || seen->function != "complete" || seen->number != number_) {
                number_ = seen ? seen->number : 0;
                since_ = now;
                return false;
            }
            model_ = now >= since_ + services_.model_limit + services_.hang_grace;
            return model_;
        }
        /// ` by its deadline of 300 s and was given up: the tool `x` of plugin `y` hung in call()`
        [[nodiscard]] std::string words(std::chrono::milliseconds limit) const {
            const std::string seconds = std::to_string((model_ ? services_.model_limit : limit).count() / 1000) + " s";
            return (model_ ? " within the " + seconds + " that one model call may take and was given up" : " by its deadline of " + seconds + " and was given up") + culprit_;
        }
        [[nodiscard]] std::string where(std::string otherwise) const { return whom_.empty() ? std::move(otherwise) : whom_; }
        /// To be called where it was given up: what it hangs in.
        void note() {
            culprit_ = watch_.culprit();
            if (const auto seen = watch_.now()) { whom_ = seen->whom; }
        }

    private:
        TaskServices& services_;
        const CallWatch& watch_;
        std::uint64_t number_ = 0;
        std::chrono::steady_clock::time_point since_;
        bool model_ = false;
        std::string culprit_;
        std::string whom_;
    };

    /// The session goes on without the thread that was given up; that thread's own can record nothing any more.
    Result<void> go_on_alone() {
        services_.cancel.request();     // For what the thread may be waiting in.
        hung_ = true;
        workshop_.reset();
        AF_TRY(session_, session_->take_over());
        return {};
    }

    static Error given_up(const std::string& what, const Patience& patience, std::chrono::milliseconds limit, std::string where) {
        return Error{"AF-ORCH-002", what + " did not return" + patience.words(limit), patience.where(std::move(where)),
                     "mend the plugin: it must watch cancelled() and deadline() and leave waiting to the host's services; or raise the stage's timeout_seconds",
                     ErrorKind::timeout};
    }

    /// Runs the stage's code on a thread of its own, so that a plugin that hangs can be given up at its deadline.
    /// The thread owns a share of all it uses: given up, it keeps its session and workshop, and this run goes on with others.
    Result<StageResult> execute(const std::shared_ptr<Stage>& plugin, const std::shared_ptr<StageHost>& host) {
        const auto result = std::make_shared<std::optional<StageResult>>();
        const auto watch = std::make_shared<CallWatch>();
        // Until it returns the state belongs to the worker.
        const std::string name = stage_name();
        const std::string executor = state().stage_template().executor;
        Patience patience(services_, *watch);
        const bool returned = run_bounded(
            [result, plugin, host, session = session_, workshop = workshop_] {
                const auto before = host->measure_before();
                *result = before.ok() ? run_stage(*plugin, *host) : StageResult::failed(before.error());
                host->end_servers();
            },
            watch, [&, paths = session_->paths()] {
                heed_requests(paths, services_.cancel);
                return patience.ended(host->stage_clock().deadline());
            });
        if (returned) { return Result<StageResult>(std::move(**result)); }
        patience.note();
        host->abandon();
        AF_CHECK(go_on_alone());
        return StageResult::failed(given_up("stage `" + name + "`", patience, host->stage_clock().limit(), "plugin of stage `" + executor + "`"));
    }

    /// A review runs an agent too, and its model may hang as well. Where it does, `hung_` is set.
    Result<AgentOutcome> run_review(const AgentRun& run, const std::shared_ptr<StageClock>& clock) {
        const auto result = std::make_shared<std::optional<Result<AgentOutcome>>>();
        const auto watch = std::make_shared<CallWatch>();
        Patience patience(services_, *watch);
        const bool returned = run_bounded(
            [result, run, clock, session = session_, workshop = workshop_, &services = services_] {
                ServerPool servers([&services](LogLevel level, std::string_view message, const json::object& fields) {
                    json::object all = fields;
                    all["level"] = level == LogLevel::error ? "error" : level == LogLevel::warning ? "warning" : level == LogLevel::info ? "info" : "debug";
                    all["message"] = message;
                    services.events.event("message", all);
                });
                *result = run_role(*session, *workshop, services, *clock, run, 1, true, servers);
                servers.end();
            },
            watch, [&, paths = session_->paths()] {
                heed_requests(paths, services_.cancel);
                return patience.ended(clock->deadline());
            });
        if (returned) { return std::move(**result); }
        patience.note();
        AF_CHECK(go_on_alone());
        return given_up("the review by `" + run.role + "`", patience, clock->limit(), "role `" + run.role + "`");
    }

    Step take(const StageResult& result, std::uint64_t spent) {
        if (result.escalation) {
            std::string partial;
            if (result.artifact) { AF_TRY(partial, session_->put(*result.artifact)); }
            return ask_person(EscalationCause::stage, result.escalation->reason, *result.escalation, partial, spent);
        }
        if (!result.cycle_to.empty()) {
            const auto target = cycle_target(result);
            if (!target) {
                return fail_stage(Error{"AF-ORCH-006",
                                        "stage `" + stage_name() + "` wants to go back to `" + result.cycle_to + "`, which is neither an earlier stage nor the contract of one",
                                        "stage " + stage_name(), "report this to the stage's author, or add that stage to the pipeline", ErrorKind::invalid},
                                  spent);
            }
            return request_cycle(result, state().pipeline.stages[*target].name, spent);
        }
        if (!result.success() || !result.artifact) {
            // It stopped because it was asked to: that is no failure of the stage.
            if (result.error && result.error->kind == ErrorKind::cancelled && services_.cancel.requested()) { return true; }
            const Error unexplained{"AF-ORCH-001", "stage `" + stage_name() + "` failed without saying why", "", "report this to its author",
                                    ErrorKind::internal};
            return fail_stage(result.error ? *result.error : unexplained, spent);
        }
        json::object artifact = *result.artifact;
        services_.redactor.redact(artifact);        // It becomes a file, too.
        return accept(std::move(artifact), spent);
    }

    /// A stage says where to by an earlier stage's name, or by the contract of what is to be done again: the first stage that has it.
    [[nodiscard]] std::optional<std::size_t> cycle_target(const StageResult& result) const {
        if (result.artifact && hand_back_of(*result.artifact) != nullptr) { return stage_handed_back_to(state(), result.cycle_to); }
        for (std::size_t index = 0; index < state().stage_index; ++index) {
            if (state().pipeline.stages[index].name == result.cycle_to) { return index; }
        }
        for (std::size_t index = 0; index < state().stage_index; ++index) {
            const bool made = state().stages[index].status == StageStatus::completed;
            if (made && state().pipeline.stages[index].contract == result.cycle_to) { return index; }
        }
        return std::nullopt;
    }

    Step request_cycle(const StageResult& result, const std::string& to, std::uint64_t spent) {
        records::CycleRequested requested{stage_name(), to, result.cycle_reason, spent};
        if (const json::object* claim = result.artifact ? hand_back_of(*result.artifact) : nullptr) {
            // Whoever says so, the stage or its agent: what is not shown by what was measured is not handed back.
            auto evidence = hand_back_evidence(*session_, *workshop_, *claim, state().tree);
            if (!evidence.ok()) { return fail_stage(evidence.error(), spent); }
            AF_TRY(const std::string patch, save_handed_back());
            requested.reason = hand_back_words(*evidence);
            evidence->red_tree = state().red_tree;
            evidence->work_tree = state().tree;
            evidence->patch = patch;
            requested.hand_back = std::move(*evidence);
        }
        AF_CHECK(session_->record(requested));
        return true;
    }

    /// The work so far, for a person; the pipeline itself goes on with its tree.
    Result<std::string> save_handed_back() {
        AF_TRY(const std::string patch, workshop_->whole_patch(state().red_tree, state().tree));
        const std::filesystem::path file = session_->paths().snapshots() / ("handed_back_" + std::to_string(state().seq + 1) + ".patch");
        AF_CHECK(make_directories(file.parent_path()));
        AF_CHECK(write_file_atomic(file, services_.redactor.redact(patch), Durability::synced));
        return "artifacts/snapshots/" + file.filename().string();
    }

    Step fail_stage(const Error& error, std::uint64_t spent) {
        AF_CHECK(session_->record(records::StageFailed{stage_name(), recorded(error), spent}));
        services_.events.event("stage_failed", {{"stage", stage_name()},
                                                {"attempt", state().stage().attempts},
                                                {"code", error.code},
                                                {"error", error.message}});
        if (hung_) {
            // The abandoned thread may still hold the plugin's locks: no further work in this process.
            AF_CHECK(session_->record(records::TaskPaused{error.message, true}));
            paused_by_ = error;
            return false;
        }
        return true;
    }

    static bool pauses_task(const Error& error) { return ends_the_visit(error) && error.code != "AF-ORCH-002"; }

    /// A visit that cannot go on for a reason outside the stage: what it did stays, and `resume` goes on inside it.
    Step end_visit(const Error& error, std::uint64_t spent) {
        if (error.code.starts_with("AF-JRNL-")) { return error; }
        if (pauses_task(error)) { return pause(error); }
        return fail_stage(error, spent);
    }

    Step pause(const Error& error) {
        if (error.kind == ErrorKind::cancelled) {
            if (asked_to_abort()) { return true; }
            services_.cancel.request();
            return true;
        }
        records::TaskPaused paused{error.to_string()};
        if (hung_) { paused.given_up = true; }
        AF_CHECK(session_->record(paused));
        paused_by_ = error;
        return false;
    }

    // ---------------------------------------------------------------------------- artifacts --

    /// Fills in what the kernel measured, checks the whole contract, and keeps the artifact or sends it back.
    Step accept(json::object artifact, std::uint64_t spent) {
        const StageTemplate stage = state().stage_template();   // A copy: every record replaces the state.
        AF_TRY(const Contract contract, services_.contracts.get(stage.contract));
        AF_TRY(const json::object facts, measured_facts(*session_, *workshop_, artifact, format_time(services_.clock.now())));
        artifact = with_measured(contract, std::move(artifact), facts);
        AF_TRY(const auto artifacts, session_->artifacts_by_contract());
        RuleContext rules;
        rules.artifacts = &artifacts;
        ContractVerdict verdict = contract.validate(artifact, rules);
        std::vector<std::string> errors = verdict.messages();
        AF_TRY(const std::vector<std::string> faults, faults_of_correction(*session_, artifact));
        errors.insert(errors.end(), faults.begin(), faults.end());
        if (errors.empty()) { AF_CHECK(add_gate_errors(stage, errors)); }
        if (!errors.empty()) {
            AF_TRY(const std::string blob, session_->put(artifact));
            AF_CHECK(session_->record(records::ArtifactRejected{stage.name, errors, blob, spent}));
            services_.events.event("artifact_rejected", {{"stage", stage.name}, {"errors", texts(errors)}});
            return true;
        }
        AF_TRY(const std::string path, save(stage, contract, artifact));
        AF_TRY(const std::string hash, session_->put(artifact));
        const bool asks = services_.ask_about_suspicions && !array_field(facts, "to_look_at").empty();
        AF_CHECK(session_->record(records::ArtifactAccepted{.stage = stage.name,
                                                            .contract = contract.name(),
                                                            .contract_version = contract.version(),
                                                            .artifact = path,
                                                            .artifact_hash = hash,
                                                            .conditions = contract.conditions_of(artifact, rules),
                                                            .asks = asks,
                                                            .duration_ms = spent}));
        return true;
    }

    /// A stage that hands in an artifact without its gate having passed on this very tree has verified nothing.
    Result<void> add_gate_errors(const StageTemplate& stage, std::vector<std::string>& errors) {
        const std::string gate = exit_gate(stage);
        if (gate.empty()) { return {}; }
        AF_TRY(const std::string inputs, workshop_->gate_inputs());
        const auto measured = state().gates.find(gate);
        if (measured == state().gates.end() || measured->second.tree != state().tree) {
            errors.push_back("the " + gate + " gate was not measured on the tree that is handed in");
        } else if (measured->second.partial) {
            errors.push_back("the " + gate + " gate looked at some paths only; it must be measured on the whole tree");
        } else if (!measured_with(*session_, gate, inputs)) {
            errors.push_back("the " + gate + " gate was measured with other settings or rules than those of now");
        } else if (!measured->second.passed) {
            errors.push_back("the " + gate + " gate does not pass: " + measured->second.summary);
        }
        return {};
    }

    Result<std::string> save(const StageTemplate& stage, const Contract& contract, const json::object& artifact) {
        StageArtifact envelope;
        envelope.stage_name = stage.name;
        envelope.artifact_type = contract.name();
        envelope.version = contract.version();
        envelope.created_at = format_time(services_.clock.now());
        envelope.data = artifact;
        envelope.metadata = {{"task_id", state().task_id},
                             {"iteration", state().stage().iterations},
                             {"tokens_used", state().stage().input_tokens + state().stage().output_tokens}};
        const std::string name = stage.artifact.empty() ? contract.name() : stage.artifact;
        const std::filesystem::path file = session_->paths().artifact(stage.name, name);
        AF_CHECK(make_directories(file.parent_path()));
        AF_CHECK(save_artifact(file, envelope.to_json()));
        return file.lexically_relative(session_->paths().root).string();
    }

    /// Keeps the current artifact file under `<name>_<version>.yaml` beside it (spec README, 1).
    Result<void> save_version(const std::string& version) {
        const std::filesystem::path file = session_->paths().root / state().stage().artifact;
        AF_TRY(const std::string bytes, read_file(file));
        return write_file_atomic(file.parent_path() / (file.stem().string() + "_" + version + ".yaml"), bytes, Durability::synced);
    }

    Step finish_review(const std::string& reviewer, const std::string& version, const std::string& contract_name, json::object review,
                       std::uint64_t spent) {
        AF_TRY(const Contract contract, services_.contracts.get(contract_name));
        AF_TRY(const json::object facts, measured_facts(*session_, *workshop_, review, format_time(services_.clock.now())));
        review = with_measured(contract, std::move(review), facts);
        AF_TRY(const auto artifacts, session_->artifacts_by_contract());
        RuleContext rules;
        rules.artifacts = &artifacts;
        const ContractVerdict verdict = contract.validate(review, rules);
        if (!verdict.valid()) {
            return ask_person(EscalationCause::review, "the review by `" + reviewer + "` breaks its contract: " + verdict.messages().front(), {});
        }
        StageTemplate place = state().stage_template();
        place.artifact = contract_name;
        AF_TRY(const std::string path, save(place, contract, review));
        AF_TRY(const std::string review_blob, session_->put(review));
        std::vector<std::string> issues;
        for (const json::value& issue : array_field(review, "blocking_issues")) { issues.push_back(issue_text(issue.as_object())); }
        const std::size_t advisory = array_field(review, "advisory_issues").size();
        const RecordAgent who{reviewer, version, "review"};
        AF_CHECK(session_->record(records::ReviewFinished{.stage = stage_name(),
                                                          .reviewer = reviewer,
                                                          .blocking = issues.size(),
                                                          .advisory = advisory,
                                                          .issues = issues,
                                                          .review = path,
                                                          .review_blob = review_blob,
                                                          .artifact_blob = state().stage().artifact_hash,
                                                          .duration_ms = spent},
                                  &who));
        services_.events.event("review", {{"stage", stage_name()}, {"reviewer", reviewer}, {"blocking", issues.size()}, {"advisory", advisory}});
        return true;
    }

    // ------------------------------------------------------------------------------- people --

    /// What the kernel itself knows of where the task stands: who is asked need not believe whoever asks.
    [[nodiscard]] json::object evidence() const {
        json::object known{{"attempt", state().stage().attempts}, {"steps", state().stage().steps}, {"tree", state().tree}};
        json::array gates;
        for (const auto& [name, gate] : state().gates) {
            gates.push_back(json::object{{"gate", name}, {"passed", gate.passed}, {"of_this_tree", gate.tree == state().tree}, {"summary", gate.summary}});
        }
        if (!gates.empty()) { known["gates"] = std::move(gates); }
        json::array steps;
        const auto& last_steps = state().resumption.last_steps;
        for (auto step = last_steps.rbegin(); step != last_steps.rend(); ++step) {
            steps.push_back(json::object{{"step", step->step}, {"tool", step->tool}, {"status", step->status}, {"summary", step->summary}});
        }
        if (!steps.empty()) { known["last_steps"] = std::move(steps); }
        return known;
    }

    Step ask_person(EscalationCause cause, const std::string& reason, const EscalationRequest& request, const std::string& partial = {},
                    std::uint64_t spent = 0) {
        json::object context = request.context;
        if (!state().previous_errors.empty()) { context["errors"] = texts(state().previous_errors); }
        if (!context.contains("evidence")) { context["evidence"] = evidence(); }
        AF_TRY(const std::string context_blob, session_->put(context));
        AF_CHECK(session_->record(records::StageEscalated{.stage = stage_name(),
                                                          .cause = std::string(name_of(cause)),
                                                          .reason = reason,
                                                          .question = request.question.empty() ? "How should the task go on? " + reason : request.question,
                                                          .options = request.options,
                                                          .context_blob = context_blob,
                                                          .partial_blob = partial,
                                                          .duration_ms = spent}));
        return true;
    }

    /// A context that lets go of the run: a handler that was given up and comes back finds nobody.
    class LooseContext final : public CallContext {
    public:
        LooseContext(KernelCallContext& inner, std::chrono::steady_clock::time_point deadline, std::chrono::system_clock::time_point now) : inner_(&inner), deadline_(deadline), now_(now) {}
        void let_go() {
            const std::lock_guard lock(mutex_);
            inner_ = nullptr;
        }
        /// For when its answer is not needed any more.
        void cancel() {
            const std::lock_guard lock(mutex_);
            cancelled_ = true;
        }
        [[nodiscard]] bool cancelled() const noexcept override {
            const std::lock_guard lock(mutex_);
            return inner_ == nullptr || cancelled_ || inner_->cancelled();
        }
        [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return deadline_; }
        void log(LogLevel level, std::string_view message, const json::object& fields) override {
            const std::lock_guard lock(mutex_);
            if (inner_ != nullptr) { inner_->log(level, message, fields); }
        }
        void progress(std::string_view text) override {
            const std::lock_guard lock(mutex_);
            if (inner_ != nullptr) { inner_->progress(text); }
        }
        [[nodiscard]] std::chrono::system_clock::time_point now() override { return now_; }

    private:
        mutable std::mutex mutex_;
        KernelCallContext* inner_;
        bool cancelled_ = false;
        std::chrono::steady_clock::time_point deadline_;
        std::chrono::system_clock::time_point now_;
    };

    /// In an interactive task who sits at the terminal is asked, whatever tells people otherwise.
    std::shared_ptr<EscalationHandler>& asker() { return state().interactive && setup_.present ? setup_.present : setup_.handler; }
    [[nodiscard]] std::chrono::milliseconds patience_for_people() const { return state().interactive && setup_.present ? std::chrono::milliseconds(std::chrono::weeks(1)) : setup_.wait; }
    [[nodiscard]] bool waits_for_people() { return asker() && patience_for_people().count() > 0; }

    /// One call of a handler, on a thread of its own; `call` owns what it uses. A handler that does not return is given up and not
    /// asked again: the question stays open, and every other way to answer it too. Where `answered` says so the call is cancelled.
    template <class T>
    Result<T> ask_handler(std::shared_ptr<EscalationHandler>& whom, std::chrono::milliseconds limit, std::function<Result<T>(EscalationHandler&, CallContext&)> call,
                          const std::function<bool()>& answered = {}) {
        const StageClock clock(services_.clock, limit);
        KernelCallContext inner(services_, clock, stage_name(), services_.clock.now());
        const auto context = std::make_shared<LooseContext>(inner, clock.deadline(), services_.clock.now());
        const auto result = std::make_shared<std::optional<Result<T>>>();
        const auto watch = std::make_shared<CallWatch>();
        std::optional<std::chrono::steady_clock::time_point> cancelled;
        const bool returned = run_bounded([result, context, handler = whom, call = std::move(call)] { *result = call(*handler, *context); }, watch, [&, paths = session_->paths()] {
            const auto now = services_.clock.steady();
            heed_requests(paths, services_.cancel);
            if (services_.cancel.step_ended() && !cancelled) { cancelled = now; }     // Who waits for a person is in no step.
            if (!cancelled && answered && answered()) {
                context->cancel();
                cancelled = now;
            }
            return now >= clock.deadline() + services_.hang_grace || (cancelled && now >= *cancelled + services_.hang_grace);
        });
        if (returned) { return std::move(**result); }
        context->let_go();
        whom.reset();
        handler_hung_ = true;
        const auto seen = watch->now();
        return Error{"AF-ESC-030", "the escalation handler did not return by its deadline of " + std::to_string(limit.count() / 1000) + " s and was given up" + watch->culprit(),
                     seen ? seen->whom : "escalation.handlers", "answer with `agentforge resolve` or `agentforge approve`, and mend the handler: it must watch deadline()",
                     ErrorKind::timeout};
    }

    /// Of a question that was recorded before a crash, what was recorded; of one whose file was lost, what the journal has; else by the settings.
    AnswerBy answer_by(const std::string& id, const std::string& created_at, const std::vector<std::string>& options, bool approval) {
        if (auto there = setup_.escalations.answer_by(id); there.ok()) { return *there; }
        AnswerRule rule = setup_.answer_rule;
        const Resumption::Deadline& asked = state().resumption.deadline;
        if (asked.id != id) { return rule.of(created_at, options, approval); }
        if (asked.time.empty()) { return {}; }
        rule.within = std::max(rule.within, std::chrono::seconds(1));
        rule.then = asked.then;
        AnswerBy by = rule.of(created_at, options, approval);
        by.deadline = asked.time;
        return by;
    }

    /// Who removed the file of what waits, or the artifact that it shows, finds both again as they were asked for: the journal has all of it.
    Result<void> write_lost_question() {
        const std::string id = open_id();
        const std::string_view waiting = state().waiting_for();
        if (waiting == "approval" && !std::filesystem::exists(session_->paths().root / state().stage().artifact)) {
            AF_TRY(const Contract contract, services_.contracts.get(state().stage_template().contract));
            AF_TRY(const auto artifact, session_->artifact(stage_name()));
            AF_CHECK(save(state().stage_template(), contract, artifact ? *artifact : json::object()));
        }
        const auto there = [](const auto& question) { return question.ok() ? Result<void>() : Result<void>(question.error()); };
        const Result<void> readable = waiting == "escalation" ? there(setup_.escalations.escalation(id)) : there(setup_.escalations.approval(id));
        if (readable.ok() || readable.error().kind != ErrorKind::not_found) { return readable; }
        if (waiting == "escalation") {
            AF_TRY(const Escalation escalation, asked_question(id));
            return setup_.escalations.record(escalation, answer_by(id, escalation.created_at, escalation.options, false));
        }
        if (waiting == "action") {
            AF_TRY(const ApprovalRequest request, shown_action(id));
            return setup_.escalations.record(request);
        }
        AF_TRY(const ApprovalRequest request, shown_artifact(id));
        return setup_.escalations.record(request, answer_by(id, request.created_at, {}, true));
    }

    template <class Question>
    static void set_deadline(Question& question, const AnswerBy& by) {
        if (by.deadline.empty()) { return; }
        question.deadline = by.deadline;
        question.at_deadline = by.then;
    }

    /// What became due while no process ran: a telling that failed, a reminder, a deadline.
    void tend_question() {
        if (!setup_.tend) { return; }
        const StageClock clock(services_.clock, std::chrono::seconds(10));
        KernelCallContext context(services_, clock, stage_name(), services_.clock.now());
        setup_.tend(open_id(), context);
    }

    Step notify(std::function<Result<void>(EscalationHandler&, CallContext&)> call) {
        if (!setup_.handler) { return true; }
        const Result<void> told = ask_handler<void>(setup_.handler, std::chrono::seconds(10), std::move(call));
        // The record exists and `escalations list` shows it: a handler that fails to tell is named, and nothing is lost.
        if (!told.ok()) { warn(told.error()); }
        return true;
    }

    /// What a person's file, another terminal's command or another machine answered while a handler waits. An answer that cannot be read is
    /// named once and waited for on: a person who writes it in an editor corrects it.
    class Elsewhere {
    public:
        Elsewhere(const EscalationStore& store, std::string id, std::function<void(const Error&)> warn) : store_(store), id_(std::move(id)), warn_(std::move(warn)) {}
        bool answered() {
            const auto version = store_.answer_version(id_);
            const bool rests = version && version == seen_;     // Not while it is still being written.
            seen_ = version;
            if (!rests || version == refused_) { return false; }
            const auto readable = id_.starts_with("ESC-") ? there(store_.resolution(id_)) : id_.starts_with("ACT-") ? there(store_.action_decision(id_)) : there(store_.decision(id_));
            if (readable.ok()) { return *readable; }
            refused_ = version;
            warn_(readable.error());
            return false;
        }

    private:
        template <class T>
        static Result<bool> there(const Result<std::optional<T>>& answer) {
            if (!answer.ok()) { return answer.error(); }
            return answer->has_value();
        }
        const EscalationStore& store_;
        std::string id_;
        std::function<void(const Error&)> warn_;
        std::optional<AnswerVersion> seen_;
        std::optional<AnswerVersion> refused_;
    };

    /// An answer that a handler has already, an inbox's file for instance, counts on a plain `resume` too: its deadline has passed when it is called.
    Result<void> hear_handlers() {
        if (!setup_.handler || waits_for_people() || setup_.escalations.answer_version(open_id())) { return {}; }
        return ask_person_through(setup_.handler, std::chrono::milliseconds(0), [] { return false; });
    }

    /// Waits for whoever answers first: the handler's person, a file, a command.
    Result<void> wait_for_person() {
        services_.events.event("asking", {{"id", open_id()}, {"handler", asker()->name()}});
        const auto done = [this](EventSink* events) { events->event("asking_ended", {{"id", open_id()}}); };
        const std::unique_ptr<EventSink, decltype(done)> told(&services_.events, done);
        Elsewhere elsewhere(setup_.escalations, open_id(), [this](const Error& error) { warn(error); });
        return ask_person_through(asker(), patience_for_people(), [&elsewhere] { return elsewhere.answered(); });
    }

    Result<void> ask_person_through(std::shared_ptr<EscalationHandler>& whom, std::chrono::milliseconds patience, const std::function<bool()>& answered) {
        if (state().waiting_for() == "escalation") {
            AF_TRY(const Escalation escalation, setup_.escalations.escalation(open_id()));
            const auto resolution = ask_handler<std::optional<Resolution>>(
                whom, patience, [escalation](EscalationHandler& handler, CallContext& context) { return handler.wait_for_resolution(escalation, context); }, answered);
            if (!resolution.ok()) { return unheard(resolution.error()); }
            if (*resolution) { AF_CHECK(first_wins(setup_.escalations.resolve(escalation.id, **resolution))); }
        } else {
            AF_TRY(const ApprovalRequest request, setup_.escalations.approval(open_id()));
            for (;;) {
                const auto approval = ask_handler<std::optional<Approval>>(
                    whom, patience, [request](EscalationHandler& handler, CallContext& context) { return handler.wait_for_approval(request, context); }, answered);
                if (!approval.ok()) { return unheard(approval.error()); }
                if (!*approval) { break; }
                const Result<void> taken = take_approval(request, **approval);
                const bool typed_wrong = !taken.ok() && taken.error().kind == ErrorKind::invalid && taken.error().code != "AF-ESC-005";
                if (!typed_wrong || services_.cancel.requested()) { return first_wins(taken); }
                warn(taken.error());        // What was typed cannot be done: who typed it is asked again.
                if (patience.count() == 0) { break; }
            }
        }
        return {};
    }

    /// A changed action comes as text in `feedback`.
    Result<void> take_approval(const ApprovalRequest& request, const Approval& approval) {
        if (state().waiting_for() != "action" || !approval.approved || !approval.feedback) { return setup_.escalations.decide(request.id, approval); }
        AF_TRY(YamlDocument edited, parse_yaml(*approval.feedback, "the changed action"));
        if (!edited.value.is_object()) { return Error{"AF-ESC-039", "the changed action is not a mapping", "", "give its `tool` and `arguments`", ErrorKind::invalid}; }
        ActionDecision decision{true, std::move(edited.value.get_object()), "", approval.artifact_hash, approval.decided_by};
        AF_CHECK(controller_.check_edited(request, *decision.edited));
        services_.redactor.redact(*decision.edited);
        return setup_.escalations.decide_action(request.id, decision);
    }

    [[nodiscard]] const std::string& open_id() const {
        static const std::string none;
        const TaskState& now = state();
        return now.waiting_for() == "escalation" ? now.escalation->id : now.waiting_for() == "approval" ? now.approval->id : now.waiting_for() == "action" ? now.action->id : none;
    }

    void warn(const Error& error) {
        const StageClock clock(services_.clock, std::chrono::seconds(0));
        KernelCallContext(services_, clock, stage_name(), services_.clock.now()).log(LogLevel::warning, error.to_string(), {});
    }

    /// The handler could not ask: the question stays open, and every other way to answer it too.
    Result<void> unheard(const Error& error) {
        if (error.kind != ErrorKind::cancelled) { warn(error); }
        return {};
    }

    /// Somebody else answered meanwhile: theirs counts, and who came second is told so.
    Result<void> first_wins(Result<void> written) {
        if (!written.ok() && written.error().code == "AF-ESC-004") {
            warn(written.error());
            return {};
        }
        return written;
    }

    /// Journals the answer to the open question, if there is one by now. `resuming`: this process has done nothing of the task before, and
    /// goes on with it only where there is one. That it does is recorded first: with the answer the task runs, and who resumes a task that ran
    /// finds one whose process died.
    Result<void> collect_answer(bool resuming = false) {
        if (state().waiting_for() == "escalation") {
            const std::string id = state().escalation->id;
            AF_TRY(const auto resolution, setup_.escalations.resolution(id));
            if (!resolution) { return {}; }
            json::object answer = resolution->context;
            answer["resolved_by"] = resolution->resolved_by;
            answer["resolved_at"] = format_time(services_.clock.now());
            if (resuming) { AF_CHECK(begin_or_resume()); }
            AF_TRY(const std::string blob, session_->put(answer));
            AF_CHECK(session_->record(records::EscalationResolved{.stage = stage_name(),
                                                                  .escalation_id = id,
                                                                  .abort = resolution->abort,
                                                                  .resolved_by = resolution->resolved_by,
                                                                  .resolution_blob = blob}));
            services_.events.event("resolved", {{"id", id}, {"abort", resolution->abort}, {"by", resolution->resolved_by}});
        } else if (state().waiting_for() == "approval") {
            const OpenApproval open = *state().approval;
            AF_TRY(const auto approval, setup_.escalations.decision(open.id));
            if (!approval) { return {}; }
            if (approval->approved) { AF_CHECK(check_shown(setup_, state())); }
            if (resuming) { AF_CHECK(begin_or_resume()); }
            const std::string feedback = approval->feedback.value_or("");
            if (!approval->approved && !feedback.empty()) { AF_CHECK(keep_feedback(feedback)); }
            AF_CHECK(session_->record(records::ApprovalDecided{.stage = stage_name(),
                                                               .approval_id = open.id,
                                                               .approved = approval->approved,
                                                               .artifact_hash = approval->artifact_hash,
                                                               .feedback = feedback,
                                                               .artifact_blob = state().stage().artifact_hash,
                                                               .decided_by = approval->decided_by}));
            services_.events.event("decided", {{"id", open.id}, {"approved", approval->approved}, {"by", approval->decided_by}});
        } else if (state().waiting_for() == "action") {
            const OpenAction open = *state().action;
            AF_TRY(const auto decision, setup_.escalations.action_decision(open.id));
            if (!decision) { return {}; }
            if (decision->approved) { AF_CHECK(check_shown(setup_, state())); }
            if (resuming) { AF_CHECK(begin_or_resume()); }
            const std::string word = !decision->approved ? "rejected" : decision->edited ? "edited" : "approved";
            records::ActionDecided decided{.stage = stage_name(),
                                           .approval_id = open.id,
                                           .decision = word,
                                           .action_hash = decision->action_hash,
                                           .feedback = decision->feedback,
                                           .decided_by = decision->decided_by};
            if (decision->edited) { AF_TRY(decided.edited, session_->keep(*decision->edited)); }
            AF_CHECK(session_->record(decided));
            services_.events.event("decided", {{"id", open.id}, {"approved", decision->approved}, {"decision", word}, {"by", decision->decided_by}});
        }
        return {};
    }

    /// The refused version and what was said of it stay beside the new one (North Star 13.6).
    Result<void> keep_feedback(const std::string& feedback) {
        const std::string version = "v" + std::to_string(state().stage().versions + 1);
        AF_CHECK(save_version(version));
        const std::filesystem::path folder = session_->paths().root / "iteration_history" / stage_name();
        AF_CHECK(make_directories(folder));
        json::object entry{{"feedback", {{"task_id", state().task_id},
                                               {"stage", stage_name()},
                                               {"iteration", state().stage().versions + 1},
                                               {"decision", "revise"},
                                               {"overall_comments", feedback},
                                               {"timestamp", format_time(services_.clock.now())}}}};
        services_.redactor.redact(entry);
        return write_file_atomic(folder / (version + "_feedback.yaml"), to_yaml(entry), Durability::synced);
    }

    // ------------------------------------------------------------------------------- result --

    PipelineResult report() {
        PipelineResult result;
        result.task_id = state().task_id;
        result.status = state().status;
        result.success = state().status == TaskStatus::completed;
        result.current_stage = stage_name();
        result.stages_completed = state().completed_stages();
        result.waiting_for = std::string(state().waiting_for());
        if (state().escalation) { result.waiting_id = state().escalation->id; }
        if (state().approval) { result.waiting_id = state().approval->id; }
        if (state().action) { result.waiting_id = state().action->id; }
        if (result.success) {
            if (auto artifact = session_->artifact(state().exit_stage); artifact.ok()) { result.deliverable = std::move(*artifact); }
            if (result.deliverable && state().delivery.contains("replaces")) {
                // Rebased since it was handed in: where the change is now.
                for (auto& fact : delivered_facts(state())) { (*result.deliverable)[fact.key()] = std::move(fact.value()); }
            }
        }
        if (paused_by_) {
            result.error = services_.redactor.redact(*paused_by_);
        } else if (!state().error.empty()) {
            const char* without_code = state().status == TaskStatus::aborted ? "AF-ORCH-007" : "AF-ORCH-001";
            result.error = Error{state().error_code.empty() ? without_code : state().error_code, state().error, "task " + state().task_id,
                                 remedy_of_last_failure() + "look at it with `agentforge inspect " + state().task_id + "`", ErrorKind::invalid};
        }
        result.abandoned_thread = hung_ || handler_hung_;
        result.exit_code = exit_code(result);
        result.spend = state().ledger.total();
        result.unpriced_models = state().ledger.unpriced_models();
        return result;
    }

    [[nodiscard]] ExitCode exit_code(const PipelineResult& result) const {
        if (result.success) { return ExitCode::done; }
        if (result.error && result.error->code == "AF-ORCH-002") { return ExitCode::stage_timeout; }
        if (state().escalation && state().escalation->cause == EscalationCause::cycle_limit) { return ExitCode::cycle_limit; }
        if (!result.waiting_for.empty()) { return ExitCode::person_needed; }
        if (paused_by_ && paused_by_->code.starts_with("AF-COST-")) { return ExitCode::person_needed; }     // Who may raise the limit.
        if (result.status == TaskStatus::aborted) { return ExitCode::cancelled; }
        if (result.status == TaskStatus::paused && !paused_by_) { return ExitCode::cancelled; }
        return ExitCode::failed;
    }

    PipelineController& controller_;
    ControllerSetup& setup_;
    TaskServices& services_;
    std::shared_ptr<TaskSession> session_;
    std::shared_ptr<Workshop> workshop_;
    std::string guidance_;          ///< Of the person who has the task go on; empty: none.
    std::optional<Error> paused_by_;
    std::optional<std::string> ended_in_;   ///< The plugin call in which the process before died.
    bool hung_ = false;             ///< A thread of a stage or a review was given up.
    bool handler_hung_ = false;
};

Result<void> ask_to_pause(const TaskStore& store, std::string_view task_id, std::string_view reason, PauseWhen when) {
    const std::string text = first_line(reason) + "\n" + (when == PauseWhen::after_step ? std::string(after_step_line) + "\n" : "");
    return write_file_atomic(pause_request_file(store.paths(task_id)), text, Durability::synced);
}

Result<void> check_feedback(std::string_view feedback) {
    if (feedback.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return broken_rule("AF-ORCH-044", "the feedback is empty", "say what is to be changed, or use `agentforge reject`");
    }
    return {};
}

Result<void> check_guidance(std::string_view guidance) {
    const auto refused = [](std::string why, std::string remedy) { return broken_rule("AF-ORCH-048", "what is said to the model " + std::move(why), std::move(remedy)); };
    if (guidance.find_first_not_of(" \t\r\n") == std::string_view::npos) { return refused("is empty", "say what it is to do, or resume without"); }
    if (guidance.size() > max_guidance_bytes) {
        return refused("has " + std::to_string(guidance.size()) + " bytes; at most " + std::to_string(max_guidance_bytes) + " are taken", "shorten it: a context holds little beside the work itself");
    }
    if (guidance.find('\0') != std::string_view::npos || !is_valid_utf8(guidance)) { return refused("is not text in UTF-8", "give it in UTF-8"); }
    return {};
}

PipelineController::PipelineController(ControllerSetup setup) : setup_(std::move(setup)) {}

Error request_too_long(const std::string& size) {
    return broken_rule("AF-ORCH-040", "the request has " + size + " bytes; at most " + std::to_string(max_request_bytes) + " are taken",
                       "shorten it and put the details into a file of the repository");
}

Result<void> check_request(std::string_view request) {
    if (request.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return broken_rule("AF-ORCH-040", "the request is empty", "say what is to be done, e.g. agentforge start \"Add a --version flag\"");
    }
    if (request.size() > max_request_bytes) { return request_too_long(std::to_string(request.size())); }
    if (request.find('\0') != std::string_view::npos) {
        return broken_rule("AF-ORCH-040", "the request holds a zero byte: it is no text", "give it as text in UTF-8");
    }
    if (!is_valid_utf8(request)) { return broken_rule("AF-ORCH-040", "the request is not valid UTF-8", "give it in UTF-8"); }
    return {};
}

Result<PipelineResult> PipelineController::execute(std::string_view request, const StartOptions& options) {
    AF_CHECK(check_request(request));
    for (const std::string& stage : options.approve_stages) {
        if (!options.pipeline.index_of(stage)) {
            return broken_rule("AF-ORCH-041", "pipeline `" + options.pipeline.name + "` has no stage `" + stage + "` to approve", "name one of its stages");
        }
    }
    if (options.exit_after && !options.pipeline.index_of(*options.exit_after)) {
        return broken_rule("AF-ORCH-041", "pipeline `" + options.pipeline.name + "` has no stage `" + *options.exit_after + "`", "name one of its stages");
    }
    AF_TRY(const auto base, options.include_uncommitted ? setup_.workshops.base_with_uncommitted(setup_.services.clock.now()) : setup_.workshops.base());
    json::object configuration = options.configuration;
    if (options.seal) { AF_CHECK(options.seal(configuration)); }
    const std::string now = format_time(setup_.services.clock.now());
    std::string day = now.substr(0, 10);
    std::erase(day, '-');
    const std::string task_id = make_task_id(setup_.services.redactor.redact(std::string(request)), day, setup_.ids);
    const json::object task{{"format", 1},
                            {"task_id", task_id},
                            {"request", request},
                            {"goal_type", options.pipeline.goal_type},
                            {"success_criteria", json::array{"Every stage's artifact satisfies its contract", "Every gate passes on the delivered tree"}},
                            {"created_at", now},
                            {"pipeline", options.pipeline.name},
                            {"pipeline_template", options.pipeline.to_json()},
                            {"base_commit", base.first},
                            {"codebase_hash", base.second},
                            {"configuration", std::move(configuration)}};
    const records::TaskCreated created{.task_id = task_id,
                                       .request = std::string(request),
                                       .goal_type = options.pipeline.goal_type,
                                       .pipeline = options.pipeline.to_json(),
                                       .base_commit = base.first,
                                       .base_tree = base.second,
                                       .base_branch = setup_.workshops.base_branch(),
                                       .supervised = options.supervised || options.pipeline.supervised,
                                       .approve_stages = {options.approve_stages.begin(), options.approve_stages.end()},
                                       .interactive = options.interactive,
                                       .exit_after = options.exit_after};
    AF_TRY(auto session, TaskSession::create(setup_.store, task, created, setup_.services.clock, setup_.command, setup_.services.redactor));
    return Run(*this, std::move(session)).drive();
}

Result<PipelineResult> PipelineController::resume(std::string_view task_id, std::string_view guidance) {
    if (!guidance.empty()) { AF_CHECK(check_guidance(guidance)); }
    AF_TRY(auto session, TaskSession::open(setup_.store, task_id, setup_.services.clock, setup_.command, setup_.services.redactor));
    return Run(*this, std::move(session), guidance).drive();
}

Result<AbortOutcome> PipelineController::abort(std::string_view task_id, std::string_view reason) {
    auto session = TaskSession::open(setup_.store, task_id, setup_.services.clock, setup_.command, setup_.services.redactor);
    if (!session.ok()) {
        if (session.error().code != "AF-TASK-003") { return session.error(); }
        // Another process runs it: it looks for this file at every host call.
        AF_CHECK(write_file_atomic(abort_request_file(setup_.store.paths(task_id)), std::string(reason) + "\n", Durability::synced));
        return AbortOutcome::asked_to_stop;
    }
    const TaskStatus status = (*session)->state().status;
    if (status == TaskStatus::completed) {
        return broken_rule("AF-ORCH-042", "task " + std::string(task_id) + " has ended already (" + std::string(to_string(status)) + ")",
                           "nothing is to be done", ErrorKind::conflict);
    }
    // What follows the record may be cut off by the process's end: every step of it can be done again.
    if (status != TaskStatus::aborted) { AF_CHECK((*session)->record(records::TaskAborted{std::string(reason)})); }
    keep_in_repository(**session);
    AF_CHECK(Run(*this, std::move(*session)).close());
    return status == TaskStatus::aborted ? AbortOutcome::finished : AbortOutcome::aborted;
}

Result<void> PipelineController::approve(std::string_view task_id) {
    AF_CHECK(decide(task_id, PersonDecision{.approved = true}));
    return {};
}
Result<void> PipelineController::reject(std::string_view task_id) {
    AF_CHECK(decide(task_id, PersonDecision{}));
    return {};
}
Result<void> PipelineController::provide_feedback(std::string_view task_id, std::string_view feedback) {
    AF_CHECK(check_feedback(feedback));
    AF_CHECK(decide(task_id, PersonDecision{.feedback = std::string(feedback)}));
    return {};
}

/// What is changed must be something that the role may ask for; its path rules and the tool itself judge it when it is done.
Result<void> PipelineController::check_edited(const ApprovalRequest& request, json::object& edited) const {
    const auto text = [](const json::object& object, std::string_view key) {
        const json::value* value = object.if_contains(key);
        return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    const auto wrong = [&](const std::string& why, std::string remedy) { return Error{"AF-ESC-039", "the changed action for " + request.id + " " + why, "", std::move(remedy), ErrorKind::invalid}; };
    AF_TRY(edited, changed_action(edited, request));
    const std::string tool = text(edited, "tool");
    AF_TRY(const AgentDefinition agent, setup_.services.agents.get(text(request.artifact, "role")));
    if (std::find(agent.allowed_tools.begin(), agent.allowed_tools.end(), tool) == agent.allowed_tools.end()) {
        const std::string near = nearest(tool, agent.allowed_tools);
        return wrong("names the tool `" + ellipsis(tool, 80) + "`, which role `" + agent.role + "` may not use" + (near.empty() ? "" : "; did you mean `" + near + "`?"),
                     "`agentforge agents show " + agent.role + "` lists its tools");
    }
    if (!setup_.services.plugins.has(PluginKind::tool, tool)) { return {}; }     // A server's: it says itself what it takes.
    AF_TRY(const auto loaded, setup_.services.plugins.tool(tool));
    const ToolSpec spec = loaded->spec();
    if (has(spec.effects, ToolEffect::completes)) { return {}; }                // The contract judges it.
    if (auto fits = check_arguments(tool, spec.parameters, edited.at("arguments").get_object()); !fits.ok()) { return wrong("does not fit its tool: " + fits.error().message, fits.error().remedy); }
    return {};
}

Result<std::string> PipelineController::decide(std::string_view task_id, const PersonDecision& decision) {
    AF_TRY(const TaskState state, read_task_state(setup_.store, task_id));  // The projection may be a record behind.
    const bool action = state.waiting_for() == "action";
    const std::string id = action ? state.action->id : state.approval ? state.approval->id : std::string();
    if (!decision.id.empty() && decision.id != id) {
        // Asked and answered: who comes second is told what the first said.
        AF_CHECK(setup_.escalations.approval(decision.id));
        AF_CHECK(setup_.escalations.check_unanswered(decision.id));
        return Error{"AF-ESC-035", "task " + std::string(task_id) + " does not ask for " + decision.id + (id.empty() ? "" : " now, but for " + id), "",
                     "`agentforge status " + std::string(task_id) + "` says what it waits for", ErrorKind::conflict};
    }
    if (id.empty()) {
        return broken_rule("AF-ORCH-043", "task " + std::string(task_id) + " is " + std::string(to_string(state.status)) + " and shows nothing to approve",
                           "`agentforge status " + std::string(task_id) + "` says what it waits for", ErrorKind::conflict);
    }
    const std::string& hash = action ? state.action->hash : state.approval->artifact_hash;
    if (decision.hash && (decision.hash->size() < 6 || !hash.starts_with(*decision.hash))) {
        return Error{"AF-ESC-035", "task " + std::string(task_id) + " shows " + hash.substr(0, 16) + "… now, not `" + ellipsis(*decision.hash, 80) + "`", id,
                     "look at it with `agentforge escalations show " + id + "`, and decide on that (at least 6 characters of its hash)", ErrorKind::conflict};
    }
    if (const auto there = setup_.escalations.approval(id); !there.ok() && there.error().kind == ErrorKind::not_found) { return setup_.escalations.lost(id, task_id); }
    if (decision.approved) { AF_CHECK(check_shown(setup_, state)); }
    const std::string feedback = setup_.services.redactor.redact(decision.feedback);
    if (action) {
        AF_TRY(const ApprovalRequest asked, setup_.escalations.approval(id));
        if (decision.id.empty() && !decision.hash) {
            return Error{"AF-ESC-036", "task " + std::string(task_id) + " shows an action (" + action_line(asked.artifact) + "); it may be another one by the time you decide", id,
                         "name what you decide on: " + id + ", or the task with --hash " + hash.substr(0, 12), ErrorKind::invalid};
        }
        ActionDecision made{decision.approved, decision.edited, feedback, hash, "user"};
        if (made.edited) {
            AF_CHECK(check_edited(asked, *made.edited));
            setup_.services.redactor.redact(*made.edited);
        }
        AF_CHECK(setup_.escalations.decide_action(id, made));
        return id;
    }
    if (decision.edited) {
        return Error{"AF-ESC-037", id + " asks for an artifact, which is the stage's to write", id, "say what to change: agentforge feedback " + std::string(task_id) + " \"…\"", ErrorKind::invalid};
    }
    Approval approval;
    approval.approved = decision.approved;
    if (!feedback.empty()) { approval.feedback = feedback; }
    approval.artifact_hash = hash;
    approval.decided_by = "user";
    AF_CHECK(setup_.escalations.decide(id, approval));
    return id;
}

Result<TaskState> PipelineController::get_status(std::string_view task_id) const {
    auto projection = setup_.store.load_state(task_id);
    const json::value* hash = projection.ok() ? projection->if_contains("hash") : nullptr;
    if (hash != nullptr && hash->is_string() && Journal::ends_with(setup_.store.paths(task_id).journal(), hash->get_string())) {
        if (auto state = task_state_from_json(*projection); state.ok()) { return state; }
    }
    return read_task_state(setup_.store, task_id);
}

Result<TaskListing> PipelineController::list_tasks(const std::optional<TaskStatus>& status, std::size_t limit) const {
    return setup_.store.list(status ? std::optional(std::string(to_string(*status))) : std::nullopt, limit);
}

}  // namespace agentforge::kernel
