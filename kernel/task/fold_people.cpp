// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "task/fold.hpp"

namespace agentforge::kernel {

namespace {

/// The name in a decision that was made because the deadline passed (handler_group.cpp). It ends the task, whatever a person's
/// decision would do.
constexpr std::string_view passed_deadline = "deadline";

}  // namespace

// ------------------------------------------------------------------------------------------------------- escalations --

template <>
Result<void> Fold::on(const records::StageEscalated& escalated) {
    AF_CHECK(require_running_stage(escalated.stage));
    const auto cause = escalation_cause(escalated.cause);
    if (!cause) { return refuse("its cause is unknown"); }
    if (state_.progress == StageProgress::asking || state_.progress == StageProgress::escalated ||
        state_.progress == StageProgress::approving) {
        return refuse("a question is already open");
    }
    if (stage_is_done()) { return refuse("stage `" + state_.stage().name + "` is already done"); }
    state_.escalation = OpenEscalation{"",
                                       *cause,
                                       escalated.reason,
                                       escalated.question,
                                       escalated.options,
                                       *escalated.context_blob,
                                       *cause == EscalationCause::cycle_limit ? state_.cycle_to : std::string()};
    if (state_.progress == StageProgress::cycling) { state_.hand_back.reset(); }
    state_.cycle_to.clear();
    state_.cycle_reason.clear();
    state_.progress = StageProgress::asking;
    state_.stage().duration_ms += *escalated.duration_ms;
    state_.stage().status = StageStatus::pending;
    if (!escalated.partial_blob->empty()) { state_.previous_artifact_blob = *escalated.partial_blob; }
    state_.resumption.escalated_at = time_;
    return {};
}

template <>
Result<void> Fold::on(const records::EscalationRaised& raised) {
    AF_CHECK(require_running_stage(raised.stage));
    if (state_.progress != StageProgress::asking || !state_.escalation) { return refuse("there is no question to raise"); }
    state_.escalation->id = raised.escalation_id;
    state_.stage().escalations += 1;
    state_.progress = StageProgress::escalated;
    state_.status = TaskStatus::paused;
    state_.people_figures.asked(raised.escalation_id, time_);
    state_.people_figures.escalated = true;
    state_.resumption.deadline = {raised.escalation_id, raised.deadline.value_or(""), raised.at_deadline.value_or(""),
                                  raised.default_answer};
    return {};
}

template <>
Result<void> Fold::on(const records::EscalationResolved& resolved) {
    AF_CHECK(require_alive());
    const std::string& id = resolved.escalation_id;
    if (state_.progress != StageProgress::escalated || !state_.escalation || state_.escalation->id != id) {
        return refuse("escalation `" + id + "` is not open");
    }
    state_.people_figures.decided(id, time_);
    if (resolved.abort) {
        end(TaskStatus::aborted);
        state_.error = "aborted after escalation " + id;
        return {};
    }
    state_.resumption.said.push_back({"answer", state_.escalation->question, "", resolved.resolution_blob});
    state_.resolution_blob = resolved.resolution_blob;
    if (const auto target = state_.pipeline.index_of(state_.escalation->cycle_to)) {
        state_.stages[*target].cycles_before = state_.stages[*target].cycles;
    }
    state_.escalation.reset();
    state_.status = TaskStatus::running;
    start_new_round();
    state_.stage().contract_retries = 0;
    state_.stage().reviews = 0;
    state_.stage().iterations = 0;
    return {};
}

// --------------------------------------------------------------------------------------------------------- approvals --

template <>
Result<void> Fold::on(const records::ApprovalRequested& requested) {
    AF_CHECK(require_running_stage(requested.stage));
    if (state_.progress != StageProgress::accepted) { return refuse("there is no accepted artifact to approve"); }
    AF_CHECK(require_reviews());
    if (requested.artifact_hash != state_.stage().artifact_hash) {
        return refuse("approval is requested for a different artifact");
    }
    StageState& stage = state_.stage();
    ShownVersion shown;
    shown.version = artifact_version(stage);
    shown.artifact_hash = stage.artifact_hash;
    shown.presented_at = time_;
    stage.history.push_back(std::move(shown));
    state_.approval = OpenApproval{requested.approval_id, requested.artifact_hash};
    state_.progress = StageProgress::approving;
    state_.status = TaskStatus::awaiting_approval;
    state_.people_figures.asked(requested.approval_id, time_);
    state_.resumption.deadline = {requested.approval_id, requested.deadline.value_or(""), requested.at_deadline.value_or("")};
    return {};
}

template <>
Result<void> Fold::on(const records::ApprovalDecided& decided) {
    const std::string& id = decided.approval_id;
    if (state_.progress != StageProgress::approving || !state_.approval || state_.approval->id != id) {
        return refuse("approval `" + id + "` is not open");
    }
    if (decided.artifact_hash != state_.approval->artifact_hash) {
        return refuse("the decision is about a different artifact than the one shown");
    }
    const std::string word = records::decision_of(decided);
    const bool accepts = word == "approve" || word == "exit" || word == "extend";
    if (!accepts && word != "revise" && word != "reject") {
        return refuse("an artifact is approved, revised, rejected or the last one, not `" + word + "`");
    }
    if (accepts != decided.approved) {
        return refuse("it says `" + word + "`, but also that the artifact is " +
                      (decided.approved ? "approved" : "not approved"));
    }
    if ((word == "extend") != decided.extension.has_value()) {
        return refuse("it does not say which stages follow, or says it of another decision");
    }
    return take_decision(decided, word);
}

Result<void> Fold::take_decision(const records::ApprovalDecided& decided, const std::string& word) {
    if (decided.extension) { AF_CHECK(extend(*decided.extension)); }
    state_.people_figures.decided(decided.approval_id, time_);
    StageState& stage = state_.stage();
    if (!stage.history.empty()) {
        stage.history.back().decision = word;
        stage.history.back().decided_at = time_;
        stage.history.back().decided_by = *decided.decided_by;
    }
    state_.approval.reset();
    state_.status = TaskStatus::running;
    if (decided.approved) {
        state_.progress = StageProgress::accepted;
        stage.approved_hash = decided.artifact_hash;
        state_.resumption.approved_by_content.insert(state_.resumption.shown_by_content.begin(),
                                                     state_.resumption.shown_by_content.end());
        if (word == "exit") { state_.user_exit = stage.name; }
        return {};
    }
    if (word == "revise") {
        stage.iterations += 1;
        stage.versions += 1;
        state_.feedback = *decided.feedback;
        state_.resumption.said.push_back({"feedback", stage.name, *decided.feedback, ""});
        state_.feedback_issues = *decided.issues;
        state_.feedback_answers.clear();
        state_.previous_artifact_blob = *decided.artifact_blob;
        start_new_round();
        return {};
    }
    const std::string why = "a person rejected what stage `" + stage.name + "` made of it" +
                            (decided.feedback->empty() ? "" : ": " + *decided.feedback);
    if (const auto before = stage_before_rejected(state_); before && *decided.decided_by != passed_deadline) {
        go_back_to(*before, why);
        return {};
    }
    end(TaskStatus::aborted);
    state_.error =
        "the output of stage " + stage.name + " was rejected" + (decided.feedback->empty() ? "" : ": " + *decided.feedback);
    return {};
}

/// Counts as a cycle: its limits apply.
void Fold::go_back_to(std::size_t index, const std::string& why) {
    state_.cycle_to = state_.stages[index].name;
    state_.cycle_reason = why;
    state_.stage().status = StageStatus::pending;
    state_.progress = StageProgress::cycling;
}

// ----------------------------------------------------------------------------------------------------------- actions --

/// Proposed by a stage at work, or by a reviewer of its artifact.
template <>
Result<void> Fold::on(const records::ActionProposed& proposed) {
    AF_CHECK(require_running());
    if (!state_.interactive) { return refuse("the task is not interactive"); }
    if (proposed.phase != state_.stage().name) { return refuse("stage `" + proposed.phase + "` is not the current one"); }
    if (state_.progress != StageProgress::executing && state_.progress != StageProgress::accepted) {
        return refuse("no agent is running");
    }
    state_.action = OpenAction{"", proposed.action_hash, proposed.action_blob, proposed.tool};
    state_.stage().duration_ms += *proposed.duration_ms;
    state_.resumption.proposed_at = time_;
    return {};
}

template <>
Result<void> Fold::on(const records::ActionAsked& asked) {
    AF_CHECK(require_alive());
    AF_CHECK(require_current_stage(asked.stage));
    if (state_.status != TaskStatus::running || !state_.action || !state_.action->id.empty()) {
        return refuse("no action waits to be shown");
    }
    if (asked.action_hash != state_.action->hash) { return refuse("approval is requested for a different action"); }
    state_.action->id = asked.approval_id;
    state_.people_figures.asked(asked.approval_id, time_);
    state_.actions_asked += 1;
    state_.status = TaskStatus::awaiting_approval;
    return {};
}

/// The run finds the decision by the hash and carries it out.
template <>
Result<void> Fold::on(const records::ActionDecided& decided) {
    AF_CHECK(require_alive());
    const std::string& id = decided.approval_id;
    const std::string& decision = decided.decision;
    if (!state_.action || state_.action->id.empty() || state_.action->id != id) {
        return refuse("action `" + id + "` is not open");
    }
    if (decided.action_hash != state_.action->hash) {
        return refuse("the decision is about a different action than the one shown");
    }
    if (decision != "approved" && decision != "edited" && decision != "rejected") {
        return refuse("an action is approved, edited or rejected, not `" + decision + "`");
    }
    if (decision == "edited" && !decided.edited) { return refuse("it does not say what the action was changed to"); }
    state_.action.reset();
    state_.people_figures.decided(id, time_);
    state_.status = TaskStatus::running;
    state_.resumption.decisions[decided.action_hash] = {decision, *decided.feedback, decided.edited};
    return {};
}

}  // namespace agentforge::kernel
