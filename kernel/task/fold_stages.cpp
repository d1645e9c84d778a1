// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "task/fold.hpp"

namespace agentforge::kernel {

template <>
Result<void> Fold::on(const records::StageStarted& started) {
    AF_CHECK(require_running_stage(started.stage));
    if (state_.progress != StageProgress::not_started && state_.progress != StageProgress::failed) {
        return refuse("stage `" + state_.stage().name + "` is already running");
    }
    if (stage_is_done()) { return refuse("stage `" + state_.stage().name + "` is already done"); }
    for (const StageState& other : state_.stages) {
        if (other.status == StageStatus::running) { return refuse("stage `" + other.name + "` is still running"); }
    }
    StageState& stage = state_.stage();
    const bool is_next = (*started.visit == 0 || *started.visit == stage.visits + 1) &&
                         (*started.attempt == 0 || *started.attempt == stage.attempts + 1);
    if (!is_next) {
        return refuse("it begins visit " + std::to_string(*started.visit) + ", attempt " + std::to_string(*started.attempt) +
                      ", but visit " + std::to_string(stage.visits + 1) + ", attempt " + std::to_string(stage.attempts + 1) +
                      " comes next");
    }
    stage.status = StageStatus::running;
    stage.visits += 1;
    stage.retries += stage.attempts > 0 ? 1 : 0;
    stage.attempts += 1;
    stage.plan_step.reset();
    stage.started_at = time_;
    stage.error.clear();
    stage.superseded_by.clear();
    if (writes_tests(state_.stage_template()) && state_.before_red.empty()) { state_.before_red = state_.tree; }
    state_.progress = StageProgress::executing;
    state_.reviewed_by.clear();
    begin_visit();
    return {};
}

template <>
Result<void> Fold::on(const records::StageFailed& failed) {
    AF_CHECK(require_executing(failed.stage));
    StageState& stage = state_.stage();
    stage.status = StageStatus::failed;
    stage.error = failed.error.message;
    stage.duration_ms += *failed.duration_ms;
    state_.error_code = failed.error.code;
    state_.previous_errors = {failed.error.message};
    if (failed.partial_blob) { state_.previous_artifact_blob = *failed.partial_blob; }
    state_.progress = StageProgress::failed;
    state_.resumption.remedy = *failed.error.remedy;
    return {};
}

template <>
Result<void> Fold::on(const records::StageSkipped& skipped) {
    AF_CHECK(require_running_stage(skipped.stage));
    if (adopts_tests(state_) && state_.progress == StageProgress::accepted) {
        AF_CHECK(require_reviews());
        AF_CHECK(require_exit_gate());
        if (wants_approval(state_)) { return refuse("nobody has approved its artifact"); }
    } else if (state_.progress != StageProgress::not_started || stage_is_done() || adopts_tests(state_)) {
        return refuse("a stage that was started cannot be skipped");
    }
    if (skipped.reason.empty() || skipped.reason != skip_reason(state_)) {
        return refuse("no condition allows skipping the stage for `" + skipped.reason + "`");
    }
    state_.stage().status = StageStatus::skipped;
    state_.stage().skip_reason = skipped.reason;
    state_.stage().superseded_by.clear();
    state_.stage().completed_at = time_;
    advance();
    return {};
}

template <>
Result<void> Fold::on(const records::StageCompleted& completed) {
    AF_CHECK(require_running_stage(completed.stage));
    if (state_.progress != StageProgress::accepted) { return refuse("its artifact was not accepted"); }
    AF_CHECK(require_reviews());
    AF_CHECK(require_exit_gate());
    AF_CHECK(require_delivery());
    if (wants_approval(state_)) { return refuse("nobody has approved its artifact"); }
    state_.stage().status = StageStatus::completed;
    state_.stage().completed_at = time_;
    if (state_.hand_back && state_.hand_back->from == state_.stage().name) { state_.hand_back.reset(); }
    forget_guidance();
    advance();
    return {};
}

template <>
Result<void> Fold::on(const records::ArtifactAccepted& accepted) {
    AF_CHECK(require_executing(accepted.stage));
    AF_CHECK(require_exit_gate());
    AF_CHECK(require_delivery());
    AF_CHECK(require_own_file(accepted.artifact));
    StageState& stage = state_.stage();
    stage.artifact = accepted.artifact;
    stage.artifact_hash = accepted.artifact_hash;
    stage.review_files.clear();
    stage.duration_ms += *accepted.duration_ms;
    stage.contract_retries = 0;
    made_progress();
    stage.conditions = {accepted.conditions.begin(), accepted.conditions.end()};
    stage.asks = *accepted.asks;
    state_.feedback_answers = *accepted.answers;
    // The files may have changed even if the artifact is the same.
    if (!accepted.acts_later->empty() || !accepted.changed_tests->empty()) { stage.approved_hash.clear(); }
    state_.resumption.shown_by_content = *accepted.acts_later;
    state_.resumption.shown_by_content.insert(state_.resumption.shown_by_content.end(), accepted.changed_tests->begin(),
                                              accepted.changed_tests->end());
    state_.progress = StageProgress::accepted;
    state_.reviewed_by.clear();
    if (writes_tests(state_.stage_template())) { state_.red_tree = state_.tree; }
    state_.resumption.accepted_at = time_;
    return {};
}

bool Fold::is_inside(const std::string& path) {
    const std::filesystem::path file(path);
    return !path.empty() && file.is_relative() &&
           std::ranges::none_of(file, [](const auto& part) { return part == ".." || part == "." || part.empty(); });
}

Result<void> Fold::require_own_file(const std::string& path) const {
    return is_inside(path) ? Result<void>()
                           : refuse("`" + ellipsis(sanitize_utf8(path), 100) + "` is not a file below the task's folder");
}

template <>
Result<void> Fold::on(const records::ArtifactRejected& rejected) {
    AF_CHECK(require_executing(rejected.stage));
    StageState& stage = state_.stage();
    stage.contract_retries += 1;
    stage.attempts = 0;
    stage.status = StageStatus::failed;
    stage.duration_ms += *rejected.duration_ms;
    stage.error = rejected.errors.empty() ? "the artifact was refused" : rejected.errors.front();
    state_.previous_errors = rejected.errors;
    state_.previous_artifact_blob = *rejected.artifact_blob;
    state_.progress = StageProgress::failed;
    return {};
}

template <>
Result<void> Fold::on(const records::ReviewFinished& review) {
    AF_CHECK(require_running_stage(review.stage));
    if (!review.review->empty()) { AF_CHECK(require_own_file(*review.review)); }
    if (state_.progress != StageProgress::accepted) { return refuse("there is no accepted artifact to review"); }
    const auto& reviewers = state_.stage_template().reviewers;
    if (std::find(reviewers.begin(), reviewers.end(), review.reviewer) == reviewers.end()) {
        return refuse("`" + review.reviewer + "` does not review this stage");
    }
    if (state_.reviewed_by.contains(review.reviewer)) {
        return refuse("`" + review.reviewer + "` has already approved this artifact");
    }
    StageState& stage = state_.stage();
    if (!review.review->empty() && !review.review_blob->empty()) {
        stage.review_files[*review.review] = {review.reviewer, *review.review_blob, time_};
    }
    if (review.blocking == 0 || !state_.stage_template().review_blocking) {
        state_.reviewed_by.insert(review.reviewer);
        return {};
    }
    stage.reviews += 1;
    stage.attempts = 0;
    stage.status = StageStatus::failed;
    stage.error = "reviewer `" + review.reviewer + "` found " + std::to_string(review.blocking) + " blocking issue(s)";
    state_.previous_errors = review.issues;
    state_.previous_artifact_blob = *review.artifact_blob;
    state_.progress = StageProgress::failed;
    return {};
}

// ------------------------------------------------------------------------------------------------------------ cycles --

template <>
Result<void> Fold::on(const records::CycleRequested& requested) {
    AF_CHECK(require_executing(requested.stage));
    const auto index = state_.pipeline.index_of(requested.to);
    if (!index || *index >= state_.stage_index) { return refuse("`" + requested.to + "` is not an earlier stage"); }
    if (requested.hand_back && !requested.hand_back->patch->empty()) { AF_CHECK(require_own_file(*requested.hand_back->patch)); }
    state_.hand_back.reset();
    if (const auto& evidence = requested.hand_back) {
        state_.hand_back =
            HandBack{state_.stage().name, requested.to, evidence->tests, evidence->requirement, state_.red_tree, state_.tree, ""};
        state_.resumption.hand_backs.push_back({state_.stage().name, requested.to, *evidence});
    }
    state_.cycle_to = requested.to;
    state_.cycle_reason = requested.reason;
    state_.stage().duration_ms += *requested.duration_ms;
    state_.stage().status = StageStatus::pending;
    state_.progress = StageProgress::cycling;
    return {};
}

template <>
Result<void> Fold::on(const records::CycleStarted& started) {
    AF_CHECK(require_running());
    if (state_.progress != StageProgress::cycling) { return refuse("no stage asked for a cycle"); }
    if (!started.to->empty() && *started.to != state_.cycle_to) {
        return refuse("it sends the task to stage `" + *started.to + "`, but the request names `" + state_.cycle_to + "`");
    }
    const auto target = state_.pipeline.index_of(state_.cycle_to);
    if (state_.stages[*target].cycles - state_.stages[*target].cycles_before >= state_.pipeline.stages[*target].max_cycles) {
        return refuse("stage `" + state_.cycle_to + "` has reached its cycle limit");
    }
    // Rework invalidates everything that was made and measured after it.
    const std::string reworked = state_.stages[*target].artifact_hash;
    for (std::size_t index = *target; index <= state_.stage_index; ++index) { undo_stage(index, *target); }
    if (state_.hand_back) { state_.hand_back->artifact_blob = reworked; }
    state_.gates.erase(std::string(gate_name::deliver));
    // Feedback for the later stage is not for this one.
    state_.feedback.reset();
    state_.feedback_issues.clear();
    state_.feedback_answers.clear();
    state_.resolution_blob.clear();
    state_.previous_artifact_blob = reworked;
    state_.reviewed_by.clear();
    state_.stages[*target].cycles += 1;
    state_.resumption.cycles.push_back({state_.stage().name, state_.cycle_to, state_.cycle_reason, time_});
    state_.stage_index = *target;
    state_.previous_errors = {state_.cycle_reason};
    state_.cycle_to.clear();
    state_.cycle_reason.clear();
    state_.progress = StageProgress::not_started;
    forget_guidance();
    return {};
}

void Fold::undo_stage(std::size_t index, std::size_t because_of) {
    StageState& stage = state_.stages[index];
    if (index != because_of && !stage.artifact.empty()) { stage.superseded_by = state_.stages[because_of].name; }
    stage.status = StageStatus::pending;
    stage.attempts = 0;
    stage.contract_retries = 0;
    stage.reviews = 0;
    stage.artifact.clear();
    stage.artifact_hash.clear();
    stage.approved_hash.clear();
    stage.review_files.clear();
    stage.conditions.clear();
    stage.skip_reason.clear();
    stage.completed_at.clear();
    if (const std::string gate = exit_gate(state_.pipeline.stages[index]); !gate.empty()) { state_.gates.erase(gate); }
    begin_effort(stage);
    if (!writes_tests(state_.pipeline.stages[index]) || state_.before_red.empty()) { return; }
    // Tests are written before the code, so code for the old tests is discarded with them. Tests that were handed back are
    // corrected.
    const bool corrected = state_.hand_back && state_.hand_back->to == stage.name;
    state_.tree = corrected ? state_.red_tree : std::exchange(state_.before_red, {});
    state_.red_tree.clear();
    state_.held_out = {};
}

// ----------------------------------------------------------------------------------------- shared by several records --

void Fold::advance() {
    state_.feedback.reset();
    state_.feedback_issues.clear();
    state_.feedback_answers.clear();
    state_.resolution_blob.clear();
    state_.previous_artifact_blob.clear();
    state_.previous_errors.clear();
    state_.reviewed_by.clear();
    state_.error_code.clear();
    state_.progress = StageProgress::not_started;
    if (!is_last(state_)) { state_.stage_index += 1; }
}

void Fold::send_back(std::string why) {
    StageState& stage = state_.stage();
    stage.contract_retries += 1;
    stage.attempts = 0;
    stage.status = StageStatus::failed;
    stage.error = why;
    state_.previous_artifact_blob = stage.artifact_hash;
    state_.previous_errors = {std::move(why)};
    state_.progress = StageProgress::failed;
}

void Fold::start_new_round() {
    state_.stage().attempts = 0;
    begin_effort(state_.stage());
    state_.stage().status = StageStatus::pending;
    state_.progress = StageProgress::not_started;
    state_.cycle_to.clear();
    state_.cycle_reason.clear();
}

void Fold::begin_effort(StageState& stage) {
    stage.effort = {};
    stage.effort.steps_before = stage.steps;
}

void Fold::made_progress() {
    Effort& effort = state_.stage().effort;
    effort.refusals = 0;
    effort.edits = 0;
    effort.steps_before = state_.stage().steps;
}

/// A later visit only needs to know how far the token estimates of earlier runs were off.
void Fold::begin_visit() {
    Resumption& resumption = state_.resumption;
    for (const auto& [place, run] : resumption.runs) { keep_larger(resumption.calibration[place.role], run.tokens); }
    resumption.runs.clear();
    resumption.calls.clear();
    resumption.decisions.clear();
}

void Fold::keep_larger(TokenEstimate& most, const TokenEstimate& other) {
    // Compares reported / estimated without division. No overflow: a context has far fewer tokens than 2^32.
    if (other.estimated != 0 && other.reported * std::max<std::uint64_t>(1, most.estimated) > most.reported * other.estimated) {
        most = other;
    }
}

}  // namespace agentforge::kernel
