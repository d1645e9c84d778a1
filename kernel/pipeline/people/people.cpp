// SPDX-License-Identifier: Apache-2.0
#include "pipeline/people/people.hpp"

#include "base/yaml.hpp"
#include "escalation/failures.hpp"
#include "pipeline/failures.hpp"
#include "pipeline/people/decisions.hpp"
#include "pipeline/people/iteration.hpp"

namespace agentforge::kernel {
namespace {

/// True if the agents failed at the work itself: a person's words to the model then answer the question.
bool is_about_the_work(EscalationCause cause) {
    return cause == EscalationCause::attempts || cause == EscalationCause::cycle_limit;
}

template <class Question>
void set_deadline(Question& question, const AnswerDeadline& deadline) {
    if (deadline.time.empty()) { return; }
    question.deadline = deadline.time;
    question.at_deadline = deadline.then;
}

/// Watches for an answer by file, by another terminal's command or from another machine, while a handler waits. Reports an
/// unreadable answer once and keeps waiting, because a person may still be editing it.
class Elsewhere {
public:
    Elsewhere(const EscalationStore& store, std::string id, std::function<void(const Error&)> warn)
        : store_(store), id_(std::move(id)), warn_(std::move(warn)) {}
    bool answered() {
        const auto version = store_.answer_version(id_);
        const bool rests = version && version == seen_;  // False while it is being written.
        seen_ = version;
        if (!rests || version == refused_) { return false; }
        const auto answered = store_.has_answer(id_);
        if (answered.ok()) { return *answered; }
        refused_ = version;
        warn_(answered.error());
        return false;
    }

private:
    const EscalationStore& store_;
    std::string id_;
    std::function<void(const Error&)> warn_;
    std::optional<AnswerVersion> seen_;
    std::optional<AnswerVersion> refused_;
};

/// Returns the decision on an artifact that an approval with this feedback means.
const char* kind_of_approval(std::string_view said) {
    if (said == "exit") { return "exit"; }
    return said == "extend" || said.starts_with("extend ") ? "extend" : "approve";
}

const char* decided_word(const ActionDecision& decision) {
    if (!decision.approved) { return "rejected"; }
    return decision.edited ? "edited" : "approved";
}

}  // namespace

json::object People::evidence() const {
    json::object known{
        {"attempt", task_.state().stage().attempts}, {"steps", task_.state().stage().steps}, {"tree", task_.state().tree}};
    json::array gates;
    for (const auto& [name, gate] : task_.state().gates) {
        gates.push_back(json::object{{"gate", name},
                                     {"passed", gate.passed},
                                     {"of_this_tree", gate.tree == task_.state().tree},
                                     {"summary", gate.summary}});
    }
    if (!gates.empty()) { known["gates"] = std::move(gates); }
    json::array steps;
    const auto& last_steps = task_.state().resumption.last_steps;
    for (auto step = last_steps.rbegin(); step != last_steps.rend(); ++step) {
        steps.push_back(
            json::object{{"step", step->step}, {"tool", step->tool}, {"status", step->status}, {"summary", step->summary}});
    }
    if (!steps.empty()) { known["last_steps"] = std::move(steps); }
    return known;
}

Result<void> People::ask(EscalationCause cause, const std::string& reason, const EscalationRequest& request,
                         const std::string& partial, std::uint64_t spent) {
    json::object context = request.context;
    if (!task_.state().previous_errors.empty()) {
        context["errors"] = json::array(task_.state().previous_errors.begin(), task_.state().previous_errors.end());
    }
    if (!context.contains("evidence")) { context["evidence"] = evidence(); }
    AF_TRY(const std::string context_blob, task_.session->put(context));
    AF_CHECK(task_.session->record(records::StageEscalated{
        .stage = task_.stage_name(),
        .cause = std::string(name_of(cause)),
        .reason = reason,
        .question = request.question.empty() ? "How should the task continue? " + reason : request.question,
        .options = request.options,
        .context_blob = context_blob,
        .partial_blob = partial,
        .duration_ms = spent}));
    return {};
}

Result<ApprovalRequest> People::shown(const std::string& id) const {
    const TaskState& now = task_.state();
    ApprovalRequest request{id, now.task_id, task_.stage_name(), {}, {}, {}, task_.setup.escalations.directory().string()};
    // The times are the same if this is repeated after a crash.
    if (kind_of(id) == QuestionKind::action) {
        AF_TRY(const json::value action, task_.session->get(now.action->blob));
        request.artifact = action.is_object() ? action.get_object() : json::object();
        request.artifact_hash = now.action->hash;
        request.created_at = now.resumption.proposed_at;
    } else {
        AF_TRY(const auto artifact, task_.session->artifact(task_.stage_name()));
        request.artifact = artifact ? *artifact : json::object();
        request.artifact_hash = now.stage().artifact_hash;
        request.created_at = now.resumption.accepted_at;
    }
    return request;
}

Result<void> People::request_approval() {
    // Different for each artifact, and for an artifact that is shown again after the task's end.
    const unsigned number = task_.state().stage().visits + task_.state().continuations;
    AF_TRY(const ApprovalRequest request, shown(EscalationStore::approval_id(task_.state().task_id, task_.stage_name(), number)));
    const AnswerDeadline deadline = answer_deadline(request.id, request.created_at, {}, true);
    AF_CHECK(refuse_early_answer(request.id));
    AF_CHECK(task_.setup.escalations.record(request, deadline));
    records::ApprovalRequested requested{task_.stage_name(), request.id, request.artifact_hash};
    set_deadline(requested, deadline);
    AF_CHECK(task_.session->record(requested));
    if (asks_at_terminal()) { return {}; }
    show_before_decision();
    notify([request](EscalationHandler& handler, CallContext& context) { return handler.notify_approval(request, context); });
    return {};
}

Result<void> People::ask_action() {
    AF_TRY(const ApprovalRequest request,
           shown(EscalationStore::action_id(task_.state().task_id, task_.stage_name(), task_.state().actions_asked + 1)));
    AF_CHECK(refuse_early_answer(request.id));
    AF_CHECK(task_.setup.escalations.record(request));
    AF_CHECK(task_.session->record(
        records::ActionAsked{task_.stage_name(), request.id, request.artifact_hash, action_line(request.artifact)}));
    return task_.setup.present ? Result<void>() : notify_of_open();
}

/// Notifies others only after the person at the terminal leaves the question open, not about everything that they are looking at.
Result<void> People::notify_of_open() {
    AF_TRY(const ApprovalRequest request, shown(open_id()));
    notify([request](EscalationHandler& handler, CallContext& context) { return handler.notify_approval(request, context); });
    return {};
}

Result<Escalation> People::question(const std::string& id) const {
    const OpenEscalation& open = *task_.state().escalation;
    Escalation escalation;
    escalation.id = id;
    escalation.task_id = task_.state().task_id;
    escalation.stage = task_.stage_name();
    escalation.issue = open.reason;
    escalation.question = open.question;
    escalation.options = open.options;
    if (!open.context_blob.empty()) {
        AF_TRY(const json::value context, task_.session->get(open.context_blob));
        if (context.is_object()) { escalation.context = context.get_object(); }
    }
    escalation.created_at = task_.state().resumption.escalated_at;
    escalation.directory = task_.setup.escalations.directory().string();
    return escalation;
}

Result<void> People::raise_escalation() {
    AF_TRY(const Escalation escalation, question(EscalationStore::escalation_id(task_.state().task_id, task_.stage_name(),
                                                                                task_.state().stage().escalations + 1)));
    const AnswerDeadline deadline = answer_deadline(escalation.id, escalation.created_at, escalation.options, false);
    AF_CHECK(refuse_early_answer(escalation.id));
    AF_CHECK(task_.setup.escalations.record(escalation, deadline));
    records::EscalationRaised raised{task_.stage_name(), escalation.id};
    set_deadline(raised, deadline);
    if (!deadline.time.empty()) { raised.default_answer = deadline.default_answer; }
    AF_CHECK(task_.session->record(raised));
    notify([escalation](EscalationHandler& handler, CallContext& context) { return handler.notify(escalation, context); });
    return {};
}

bool People::asks_at_terminal() const {
    return task_.setup.present && (task_.state().interactive || task_.state().approval.has_value());
}

/// Shows the facts that the question itself does not contain: it holds only the artifact.
void People::show_before_decision() {
    const StageClock clock(task_.services.clock, std::chrono::seconds(10));
    KernelCallContext context(task_.services, clock, task_.stage_name(), task_.services.clock.now());
    for (const std::string& line : words_before_decision(task_.state())) { context.progress(line); }
}

std::shared_ptr<EscalationHandler>& People::asker() { return asks_at_terminal() ? task_.setup.present : task_.setup.handler; }
std::chrono::milliseconds People::answer_timeout() const {
    return asks_at_terminal() ? std::chrono::milliseconds(std::chrono::weeks(1)) : task_.setup.wait;
}
bool People::waits_for_people() { return asker() && answer_timeout().count() > 0; }

AnswerDeadline People::answer_deadline(const std::string& id, const std::string& created_at,
                                       const std::vector<std::string>& options, bool approval) const {
    if (auto there = task_.setup.escalations.answer_deadline(id); there.ok()) { return *there; }
    DeadlinePolicy policy = task_.setup.deadline_policy;
    const Resumption::Deadline& asked = task_.state().resumption.deadline;
    if (asked.id != id) { return policy.of(created_at, options, approval); }
    if (asked.time.empty()) { return {}; }
    policy.within = std::max(policy.within, std::chrono::seconds(1));
    policy.then = asked.then;
    AnswerDeadline deadline = policy.of(created_at, options, approval);
    deadline.time = asked.time;
    if (asked.default_answer) { deadline.default_answer = *asked.default_answer; }
    return deadline;
}

Result<void> People::write_lost_question() {
    const EscalationStore& store = task_.setup.escalations;
    const std::string id = open_id();
    const auto kind = task_.state().waits_for();
    if (kind == QuestionKind::approval) { AF_CHECK(task_.session->write_missing_artifacts()); }
    const Result<PendingItem> readable = store.item(id);
    if (readable.ok()) { return {}; }
    if (readable.error().kind != ErrorKind::not_found) { return readable.error(); }
    if (kind == QuestionKind::escalation) {
        AF_TRY(const Escalation escalation, question(id));
        return store.record(escalation, answer_deadline(id, escalation.created_at, escalation.options, false));
    }
    AF_TRY(const ApprovalRequest request, shown(id));
    return store.record(request,
                        kind == QuestionKind::action ? AnswerDeadline() : answer_deadline(id, request.created_at, {}, true));
}

Result<void> People::refuse_early_answer(const std::string& id) const {
    AF_TRY(const auto early, task_.setup.escalations.discard_early_answer(id));
    if (early) { task_.warn(*early); }
    return {};
}

void People::process_due() {
    if (!task_.setup.process_due) { return; }
    const StageClock clock(task_.services.clock, std::chrono::seconds(10));
    KernelCallContext context(task_.services, clock, task_.stage_name(), task_.services.clock.now());
    task_.setup.process_due(open_id(), context);
}

void People::notify(std::function<Result<void>(EscalationHandler&, CallContext&)> call) {
    if (!task_.setup.handler) { return; }
    const Result<void> notified = calls_.call<void>(task_.setup.handler, std::chrono::seconds(10), std::move(call));
    // The record exists and `escalations list` shows it, so a failed notification loses nothing and is only reported.
    if (!notified.ok()) { task_.warn(notified.error()); }
}

Result<void> People::wait() {
    const bool others_wait = static_cast<bool>(task_.setup.present);  // Read first: a handler that hangs is removed.
    const bool at_terminal = asks_at_terminal();
    if (waits_for_people()) { AF_CHECK(wait_for_answer()); }
    if (const auto collected = collect_answer({}); !collected.ok()) {
        if (!is_unreadable_answer(collected.error())) { return collected.error(); }
        task_.warn(collected.error());
    }
    const auto waits_for = task_.state().waits_for();
    const bool left_open = waits_for == QuestionKind::action || (waits_for == QuestionKind::approval && at_terminal);
    return others_wait && left_open ? notify_of_open() : Result<void>();
}

Result<void> People::return_to_question(const std::function<Result<void>()>& before_answer) {
    AF_CHECK(write_lost_question());
    process_due();
    AF_CHECK(collect_from_handlers());
    auto collected = collect_answer(before_answer);
    if (!collected.ok() && is_unreadable_answer(collected.error()) && waits_for_people()) { return {}; }
    return collected;
}

Result<bool> People::answer_with(const std::string& guidance) {
    const bool asks = task_.state().waits_for() == QuestionKind::escalation;
    if (guidance.empty() || !asks || !is_about_the_work(task_.state().escalation->cause)) { return false; }
    AF_CHECK(write_lost_question());
    AF_CHECK(task_.setup.escalations.resolve(task_.state().escalation->id, Resolution{false, {{"answer", guidance}}, "user"}));
    return true;
}

Result<void> People::collect_from_handlers() {
    if (!task_.setup.handler || waits_for_people() || task_.setup.escalations.answer_version(open_id())) { return {}; }
    return ask_through(task_.setup.handler, std::chrono::milliseconds(0), [] { return false; });
}

Result<void> People::wait_for_answer() {
    task_.services.events.event(event::Asking{open_id(), std::string(asker()->name())});
    const auto done = [this](EventSink* events) { events->event(event::AskingEnded{open_id()}); };
    const std::unique_ptr<EventSink, decltype(done)> notified(&task_.services.events, done);
    if (task_.state().waits_for() == QuestionKind::approval && asks_at_terminal() && iterates(task_.state())) {
        show_before_decision();
    }
    Elsewhere elsewhere(task_.setup.escalations, open_id(), [this](const Error& error) { task_.warn(error); });
    return ask_through(asker(), answer_timeout(), [&elsewhere] { return elsewhere.answered(); });
}

Result<void> People::ask_through(std::shared_ptr<EscalationHandler>& asked, std::chrono::milliseconds answer_timeout,
                                 const std::function<bool()>& answered) {
    if (task_.state().waits_for() == QuestionKind::escalation) {
        AF_TRY(const Escalation escalation, task_.setup.escalations.escalation(open_id()));
        const auto resolution = calls_.call<std::optional<Resolution>>(
            asked, answer_timeout,
            [escalation](EscalationHandler& handler, CallContext& context) {
                return handler.wait_for_resolution(escalation, context);
            },
            answered);
        if (!resolution.ok()) {
            warn_not_asked(resolution.error());
            return {};
        }
        if (*resolution) { AF_CHECK(first_wins(task_.setup.escalations.resolve(escalation.id, **resolution))); }
    } else {
        AF_TRY(const ApprovalRequest request, task_.setup.escalations.approval(open_id()));
        for (;;) {
            const auto approval = calls_.call<std::optional<Approval>>(
                asked, answer_timeout,
                [request](EscalationHandler& handler, CallContext& context) {
                    return handler.wait_for_approval(request, context);
                },
                answered);
            if (!approval.ok()) {
                warn_not_asked(approval.error());
                return {};
            }
            if (!*approval) { break; }
            const Result<void> taken = take_approval(request, **approval);
            const bool cannot_extend = !taken.ok() && is_impossible_extension(taken.error());
            const bool typed_wrong =
                !taken.ok() && (taken.error().kind == ErrorKind::invalid || cannot_extend) && taken.error().code != "AF-ESC-005";
            if (!typed_wrong || task_.services.cancel.requested()) { return first_wins(taken); }
            task_.warn(taken.error());  // The typed answer cannot be carried out. Asks again.
            if (answer_timeout.count() == 0) { break; }
        }
    }
    return {};
}

/// A changed action comes as text in `feedback`. So do other approvals of an artifact: `exit`, `extend`, `extend STAGE`.
Result<void> People::take_approval(const ApprovalRequest& request, const Approval& approval) {
    if (!approval.approved || !approval.feedback) { return task_.setup.escalations.decide(request.id, approval); }
    if (task_.state().waits_for() != QuestionKind::action) {
        const std::string& said = *approval.feedback;
        ArtifactDecision decision{kind_of_approval(said), "", {}, "", "", approval.artifact_hash, approval.decided_by};
        if (decision.decision == "approve") { decision.feedback = said; }
        if (decision.decision == "exit") { AF_CHECK(check_may_end(task_.state())); }
        if (decision.decision == "extend") {
            decision.extend_to = said.size() > 7 ? said.substr(7) : std::string();
            AF_CHECK(more_stages(task_.setup, task_.state(), decision));
        }
        return task_.setup.escalations.decide_artifact(request.id, decision);
    }
    AF_TRY(YamlDocument edited, parse_yaml(*approval.feedback, "the changed action"));
    if (!edited.value.is_object()) {
        return Error{"AF-ESC-039", "the changed action is not a mapping", "", "give its `tool` and `arguments`",
                     ErrorKind::invalid};
    }
    ActionDecision decision{true, std::move(edited.value.get_object()), "", approval.artifact_hash, approval.decided_by};
    AF_CHECK(check_edited(task_.setup, request, *decision.edited));
    task_.services.redactor.redact(*decision.edited);
    return task_.setup.escalations.decide_action(request.id, decision);
}

std::string People::open_id() const {
    const auto open = open_question(task_.state());
    return open ? open->id : std::string();
}

/// The handler could not ask. The question stays open, and can be answered in every other way.
void People::warn_not_asked(const Error& error) const {
    if (error.kind != ErrorKind::cancelled) { task_.warn(error); }
}

/// If another answer came first, it counts, and the second person sees a message.
Result<void> People::first_wins(Result<void> written) const {
    if (!written.ok() && is_already_answered(written.error())) {
        task_.warn(written.error());
        return {};
    }
    return written;
}

Result<void> People::collect_answer(const std::function<Result<void>()>& before) {
    const auto open = open_question(task_.state());
    if (!open) { return {}; }
    switch (open->kind) {
        case QuestionKind::escalation:
            return collect_resolution(*open, before);
        case QuestionKind::approval:
            return collect_approval(*open, before);
        case QuestionKind::action:
            return collect_action(*open, before);
    }
    return {};
}

Result<void> People::collect_resolution(const OpenQuestion& open, const std::function<Result<void>()>& before) {
    AF_TRY(const auto resolution, task_.setup.escalations.resolution(open.id));
    if (!resolution) { return {}; }
    json::object answer = resolution->context;
    answer["resolved_by"] = resolution->resolved_by;
    answer["resolved_at"] = format_time(task_.services.clock.now());
    if (before) { AF_CHECK(before()); }
    AF_TRY(const std::string blob, task_.session->put(answer));
    return task_.session->record(records::EscalationResolved{.stage = task_.stage_name(),
                                                             .escalation_id = open.id,
                                                             .abort = resolution->abort,
                                                             .resolved_by = resolution->resolved_by,
                                                             .resolution_blob = blob});
}

Result<void> People::collect_approval(const OpenQuestion& open, const std::function<Result<void>()>& before) {
    AF_TRY(const auto decision, task_.setup.escalations.artifact_decision(open.id));
    if (!decision) { return {}; }
    const auto impossible = [&](const Error& why) {
        return Error{"AF-ESC-067", "the task cannot continue with the answer to " + open.id + ": " + why.message,
                     (task_.setup.escalations.directory() / (open.id + ".resolution.yaml")).string(),
                     "correct that file, or remove it and answer again; " + why.remedy, ErrorKind::conflict};
    };
    std::optional<MoreStages> more;
    if (decision->decision == "exit") {
        if (const auto ends = check_may_end(task_.state()); !ends.ok()) { return impossible(ends.error()); }
    }
    if (decision->decision == "extend") {
        auto found = more_stages(task_.setup, task_.state(), *decision);
        if (!found.ok()) { return impossible(found.error()); }
        more = std::move(*found);
    }
    if (decision->approved()) { AF_CHECK(check_shown(task_.setup, task_.state(), open)); }
    if (before) { AF_CHECK(before()); }
    AF_CHECK(acceptance_.save_decision(*decision));
    records::ApprovalDecided decided{.stage = task_.stage_name(),
                                     .approval_id = open.id,
                                     .approved = decision->approved(),
                                     .artifact_hash = decision->artifact_hash,
                                     .feedback = decision->decision == "revise"
                                                     ? in_words(Feedback{decision->feedback, decision->issues})
                                                     : decision->feedback,
                                     .artifact_blob = task_.state().stage().artifact_hash,
                                     .decided_by = decision->decided_by,
                                     .decision = decision->decision,
                                     .issues = recorded(decision->issues)};
    if (more) {
        decided.extension = std::move(more->extension);
        decided.freshness = std::move(more->freshness);
    }
    return task_.session->record(decided);
}

Result<void> People::collect_action(const OpenQuestion& open, const std::function<Result<void>()>& before) {
    AF_TRY(const auto decision, task_.setup.escalations.action_decision(open.id));
    if (!decision) { return {}; }
    if (decision->approved) { AF_CHECK(check_shown(task_.setup, task_.state(), open)); }
    if (before) { AF_CHECK(before()); }
    const std::string word = decided_word(*decision);
    records::ActionDecided decided{.stage = task_.stage_name(),
                                   .approval_id = open.id,
                                   .decision = word,
                                   .action_hash = decision->action_hash,
                                   .feedback = decision->feedback,
                                   .decided_by = decision->decided_by};
    if (decision->edited) { AF_TRY(decided.edited, task_.session->keep(*decision->edited)); }
    return task_.session->record(decided);
}

}  // namespace agentforge::kernel
