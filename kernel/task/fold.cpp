// SPDX-License-Identifier: Apache-2.0
#include "task/fold.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "task/exit_gate.hpp"
#include "task/failures.hpp"
#include "task/journal_fold.hpp"

namespace agentforge::kernel {

// Stages and their artifacts (fold_stages.cpp).
template <>
Result<void> Fold::on(const records::StageStarted&);
template <>
Result<void> Fold::on(const records::StageFailed&);
template <>
Result<void> Fold::on(const records::StageSkipped&);
template <>
Result<void> Fold::on(const records::StageCompleted&);
template <>
Result<void> Fold::on(const records::ArtifactAccepted&);
template <>
Result<void> Fold::on(const records::ArtifactRejected&);
template <>
Result<void> Fold::on(const records::ReviewFinished&);
template <>
Result<void> Fold::on(const records::CycleRequested&);
template <>
Result<void> Fold::on(const records::CycleStarted&);

// People (fold_people.cpp).
template <>
Result<void> Fold::on(const records::StageEscalated&);
template <>
Result<void> Fold::on(const records::EscalationRaised&);
template <>
Result<void> Fold::on(const records::EscalationResolved&);
template <>
Result<void> Fold::on(const records::ApprovalRequested&);
template <>
Result<void> Fold::on(const records::ApprovalDecided&);
template <>
Result<void> Fold::on(const records::ActionProposed&);
template <>
Result<void> Fold::on(const records::ActionAsked&);
template <>
Result<void> Fold::on(const records::ActionDecided&);

// Work: steps, calls, measurements, delivery, cost (fold_work.cpp).
template <>
Result<void> Fold::on(const records::Step&);
template <>
Result<void> Fold::on(const records::Answer&);
template <>
Result<void> Fold::on(const records::CallLost&);
template <>
Result<void> Fold::on(const records::AttemptFailed&);
template <>
Result<void> Fold::on(const records::ServerTool&);
template <>
Result<void> Fold::on(const records::CallStarted&);
template <>
Result<void> Fold::on(const records::CallFinished&);
template <>
Result<void> Fold::on(const records::Gate&);
template <>
Result<void> Fold::on(const records::Snapshot&);
template <>
Result<void> Fold::on(const records::HeldOut&);
template <>
Result<void> Fold::on(const records::Delivered&);
template <>
Result<void> Fold::on(const records::DeliveryPrepared&);
template <>
Result<void> Fold::on(const records::Published&);
template <>
Result<void> Fold::on(const records::RebasePrepared&);
template <>
Result<void> Fold::on(const records::Rebased&);
template <>
Result<void> Fold::on(const records::Costing&);
template <>
Result<void> Fold::on(const records::Plugins&);
template <>
Result<void> Fold::on(const records::DependenciesMet&);

// ---------------------------------------------------------------------------------------------------------- the task --

template <>
Result<void> Fold::on(const records::TaskCreated& created) {
    if (!state_.task_id.empty()) { return refuse("the task is created twice"); }
    TaskState fresh;
    fresh.task_id = created.task_id;
    fresh.resumption.named_after = created.task_id;
    fresh.request = created.request;
    fresh.goal_type = created.goal_type;
    fresh.base_commit = created.base_commit;
    fresh.base_tree = created.base_tree;
    fresh.base_branch = *created.base_branch;
    fresh.supervised = created.supervised;
    fresh.interactive = *created.interactive;
    fresh.set_file = created.set.value_or("");
    AF_TRY(fresh.pipeline, pipeline_in(created.pipeline));
    if (fresh.pipeline.stages.empty()) { return refuse("its pipeline has no stage"); }
    if (created.goal_type != fresh.pipeline.goal_type) {
        return refuse("its goal is `" + created.goal_type + "`, but its pipeline's is `" + fresh.pipeline.goal_type + "`");
    }
    if (created.exit_after && !created.exit_after->empty()) {
        if (!fresh.pipeline.index_of(*created.exit_after)) {
            return refuse("its pipeline has no stage `" + *created.exit_after + "` to exit after");
        }
        fresh.exit_after = created.exit_after;
    }
    fresh.approve_stages = {created.approve_stages.begin(), created.approve_stages.end()};
    AF_CHECK(take_entry(fresh, created));
    fresh.iterate_stages = {created.iterate_stages->begin(), created.iterate_stages->end()};
    fresh.created_at = time_;
    fresh.tree = fresh.base_tree;
    for (const StageTemplate& stage : fresh.pipeline.stages) {
        StageState entry;
        entry.name = stage.name;
        fresh.stages.push_back(std::move(entry));
    }
    state_ = std::move(fresh);
    return {};
}

/// Sets where the task begins, which stages it leaves out and which artifacts it imports.
Result<void> Fold::take_entry(TaskState& fresh, const records::TaskCreated& created) const {
    fresh.entry_stage = created.entry_stage.value_or("");
    if (!fresh.entry_stage.empty() && !fresh.pipeline.index_of(fresh.entry_stage)) {
        return refuse("its pipeline has no stage `" + fresh.entry_stage + "` to begin with");
    }
    if (fresh.entry_stage == fresh.pipeline.stages.front().name) { fresh.entry_stage.clear(); }
    const auto left_out = created.left_out.value_or(std::vector<std::string>());
    for (const std::string& stage : left_out) {
        const auto index = fresh.pipeline.index_of(stage);
        if (!index || fresh.pipeline.stages[*index].required) { return refuse("stage `" + stage + "` cannot be left out"); }
    }
    fresh.left_out = {left_out.begin(), left_out.end()};
    const auto imports = created.imports.value_or(std::vector<std::string>());
    fresh.imports_due = {imports.begin(), imports.end()};
    return {};
}

template <>
Result<void> Fold::on(const records::ExternalArtifactImported& imported) {
    if (state_.status != TaskStatus::pending) { return refuse("the task was already started"); }
    if (!state_.imports_due.contains(imported.validation.contract)) {
        return refuse("the journal did not announce that a `" + imported.validation.contract + "` would be imported");
    }
    if (imported.validation.status != "passed" && imported.validation.status != "pending") {
        return refuse("its status is `" + imported.validation.status + "`");
    }
    AF_CHECK(require_own_file(imported.artifact));
    state_.imports_due.erase(imported.validation.contract);
    state_.external_inputs[imported.validation.contract] =
        ExternalInput{.name = imported.artifact_type,
                      .source = imported.source,
                      .source_path = imported.source_path,
                      .source_task = imported.source_task.value_or(""),
                      .artifact = imported.artifact,
                      .hash = imported.validation.hash,
                      .pending = imported.validation.status == "pending",
                      .conditions = {imported.conditions.begin(), imported.conditions.end()},
                      .imported_at = time_};
    return {};
}

template <>
Result<void> Fold::on(const records::TaskStarted& started) {
    if (!state_.imports_due.empty()) { return refuse("its `" + *state_.imports_due.begin() + "` was not imported"); }
    state_.status = TaskStatus::running;
    take_guidance(started.guidance);
    return {};
}

template <>
Result<void> Fold::on(const records::TaskResumed& resumed) {
    if (!state_.imports_due.empty()) { return refuse("its `" + *state_.imports_due.begin() + "` was not imported"); }
    if (state_.status == TaskStatus::failed && state_.progress != StageProgress::not_started) {
        // A person has looked at it, so the stage gets a new round in any state.
        start_new_round();
        state_.stage().contract_retries = 0;
        state_.stage().reviews = 0;
    }
    if (state_.status == TaskStatus::failed && is_out_of_time(state_.error_code)) {
        // The time limit starts again. The template, which sets the limit, does not change.
        state_.spent_before_ms = 0;
        for (const StageState& stage : state_.stages) { state_.spent_before_ms += stage.duration_ms; }
    }
    if (state_.status == TaskStatus::running) { state_.ended_while_running = true; }
    const bool waits = state_.progress == StageProgress::escalated || state_.progress == StageProgress::approving ||
                       (state_.action && !state_.action->id.empty());
    if (!waits) { state_.status = TaskStatus::running; }
    state_.pause_reason.clear();
    state_.error.clear();
    state_.error_code.clear();
    state_.completed_at.clear();
    take_guidance(resumed.guidance);
    return {};
}

void Fold::take_guidance(const std::optional<std::string>& guidance) {
    if (!guidance || guidance->empty()) { return; }
    state_.resumption.said.push_back({"guidance", "", *guidance, ""});
    state_.resumption.guidance = *guidance;
    state_.resumption.guidance_used = false;
}

void Fold::forget_guidance() {
    if (state_.resumption.guidance_used) { state_.resumption.guidance.clear(); }
}

template <>
Result<void> Fold::on(const records::TaskPaused& paused) {
    if (state_.status == TaskStatus::running || state_.status == TaskStatus::pending) { state_.status = TaskStatus::paused; }
    // An abandoned call may still be under way, as after a process died.
    if (paused.given_up.value_or(false)) { state_.ended_while_running = true; }
    state_.pause_reason = paused.reason;
    // Resuming a paused task means that a person has looked at it, so the attempts start again from zero.
    state_.resumption.failed_attempts_halves = 0;
    for (auto& [place, run] : state_.resumption.runs) { run.attempts.clear(); }
    return {};
}

template <>
Result<void> Fold::on(const records::Forked& forked) {
    AF_CHECK(require_running());
    if (forked.parent != state_.task_id || forked.task_id == state_.task_id) {
        return refuse("it forks `" + forked.parent + "`, and the records before are of `" + state_.task_id + "`");
    }
    if (forked.from_step != state_.steps) {
        return refuse("it forks after step " + std::to_string(forked.from_step) + ", and the records before end at step " +
                      std::to_string(state_.steps));
    }
    state_.task_id = forked.task_id;
    state_.inherited = {state_.ledger.total(), state_.steps};
    state_.created_at = time_;
    state_.set_file.clear();  // The set already has this part. The fork delivers by itself.
    state_.prepared.reset();
    state_.ended_while_running = false;
    return on(records::TaskPaused{"forked from " + forked.parent + " after step " + std::to_string(forked.from_step)});
}

template <>
Result<void> Fold::on(const records::TaskAborted& aborted) {
    end(TaskStatus::aborted);
    state_.error = aborted.reason;
    return {};
}

template <>
Result<void> Fold::on(const records::TaskFailed& failed) {
    end(TaskStatus::failed);
    state_.error_code = failed.code;
    state_.error = failed.message;
    return {};
}

template <>
Result<void> Fold::on(const records::TaskCompleted& completed) {
    AF_CHECK(require_running());
    const std::string& stage = completed.exit_stage;
    if (stage != state_.stage().name || !is_last(state_)) {
        return refuse("the pipeline does not end with stage `" + stage + "` now");
    }
    if (!stage_is_done()) { return refuse("stage `" + stage + "` is not completed, so the task cannot be"); }
    end(TaskStatus::completed);
    state_.exit_stage = stage;
    state_.exit_type = *completed.exit_type;
    return {};
}

/// Nothing runs yet: the process that wrote the record, or a later one, resumes the task.
template <>
Result<void> Fold::on(const records::TaskContinued& continued) {
    if (has_delivered(state_)) { return refuse("the task has delivered its change"); }
    if (continued.revise == continued.extension.has_value()) {
        return refuse("it must say either that the last artifact is revised or which stages follow");
    }
    if (continued.base_commit.has_value() != continued.base_tree.has_value()) {
        return refuse("it names only one of the new base's commit and tree");
    }
    TaskState before = state_;
    const auto refused = [&](Result<void> why) {
        state_ = std::move(before);
        return why;
    };
    if (continued.base_commit && continued.base_tree) {
        if (state_.tree != state_.base_tree || !state_.red_tree.empty()) {
            return refuse("the task's workspace differs from its base, so it cannot move to another base");
        }
        state_.base_commit = *continued.base_commit;
        state_.base_tree = *continued.base_tree;
        state_.tree = state_.base_tree;
    }
    StageState& last = state_.stage();
    state_.user_exit.clear();
    if (continued.revise) {
        if (last.status != StageStatus::completed) {
            return refused(refuse("stage `" + last.name + "` has no artifact to revise"));
        }
        last.status = StageStatus::running;
        last.completed_at.clear();
        last.approved_hash.clear();
        state_.iterate_stages.insert(last.name);
        state_.reviewed_by = {state_.stage_template().reviewers.begin(), state_.stage_template().reviewers.end()};
        state_.progress = StageProgress::accepted;
    } else {
        if (auto extended = extend(*continued.extension); !extended.ok()) { return refused(std::move(extended)); }
        state_.stage_index += 1;
        state_.progress = StageProgress::not_started;
    }
    state_.status = TaskStatus::paused;
    state_.pause_reason = "continues after its end";
    state_.completed_at.clear();
    state_.exit_stage.clear();
    state_.exit_type.clear();
    state_.continuations += 1;
    return {};
}

/// Changes nothing if it returns an error.
Result<void> Fold::extend(const records::Extension& extension) {
    AF_TRY(PipelineTemplate longer, pipeline_in(extension.pipeline));
    const auto exit = longer.index_of(extension.exit_stage);
    if (!exit || *exit <= state_.stage_index) {
        return refuse("`" + extension.exit_stage + "` is not a stage after `" + state_.stage().name + "`");
    }
    for (std::size_t index = 0; index <= state_.stage_index; ++index) {
        if (longer.stages[index] != state_.pipeline.stages[index]) {
            return refuse("the longer pipeline has another stage in place of `" + state_.pipeline.stages[index].name + "`");
        }
    }
    std::vector<StageState> stages(state_.stages.begin(),
                                   state_.stages.begin() + static_cast<std::ptrdiff_t>(state_.stage_index) + 1);
    for (std::size_t index = stages.size(); index < longer.stages.size(); ++index) {
        StageState entry;
        entry.name = longer.stages[index].name;
        const bool known =
            index < state_.stages.size() &&
            state_.stages[index].name == entry.name;  // It was entered before the task went back, so its limits continue.
        stages.push_back(known ? state_.stages[index] : std::move(entry));
    }
    state_.stages = std::move(stages);
    state_.exit_after = longer.exit_stage == extension.exit_stage ? std::nullopt : std::optional(extension.exit_stage);
    state_.user_exit.clear();
    state_.goal_type = longer.goal_type;
    state_.pipeline = std::move(longer);
    return {};
}

void Fold::end(TaskStatus status) {
    state_.status = status;
    state_.completed_at = time_;
    state_.escalation.reset();
    state_.approval.reset();
    state_.action.reset();
    state_.cycle_to.clear();
    state_.cycle_reason.clear();
    if (state_.stage().status == StageStatus::running) { state_.stage().status = StageStatus::failed; }
    if (state_.progress != StageProgress::not_started) { state_.progress = StageProgress::failed; }
}

// ------------------------------------------------------------------------------------------ preconditions of records --

Result<void> Fold::require_transition() const {
    const auto is_this = [&](const TaskTransition& each) { return each.record == envelope_.type; };
    const auto fits = [&](const TaskTransition& each) { return is_this(each) && each.from == state_.status; };
    if (std::ranges::none_of(task_transitions, is_this) || std::ranges::any_of(task_transitions, fits)) { return {}; }
    if (is_terminal(state_.status)) { return refuse_ended(); }
    return refuse("the task is " + std::string(to_string(state_.status)));
}

Result<void> Fold::require_alive() const {
    if (is_terminal(state_.status)) { return refuse_ended(); }
    return {};
}

Result<void> Fold::require_running() const {
    AF_CHECK(require_alive());
    if (state_.status != TaskStatus::running) {
        return refuse("the task is " + std::string(to_string(state_.status)) + " and not running");
    }
    if (state_.action) { return refuse("a person has not decided on the action of tool `" + state_.action->tool + "` yet"); }
    return {};
}

Result<void> Fold::require_current_stage(const std::string& name) const {
    if (name == state_.stage().name) { return {}; }
    return refuse("it is about stage `" + name + "` while `" + state_.stage().name + "` is the current one");
}

Result<void> Fold::require_current_visit(const std::string& stage, unsigned visit) const {
    AF_CHECK(require_current_stage(stage));
    if (visit == 0 || visit == state_.stage().visits) { return {}; }
    return refuse("it is of visit " + std::to_string(visit) + " of stage `" + stage + "`, but visit " +
                  std::to_string(state_.stage().visits) + " is the current one");
}

Result<void> Fold::require_running_stage(const std::string& name) const {
    AF_CHECK(require_running());
    return require_current_stage(name);
}

Result<void> Fold::require_executing(const std::string& name) const {
    AF_CHECK(require_running_stage(name));
    if (state_.progress != StageProgress::executing) { return refuse("stage `" + state_.stage().name + "` is not executing"); }
    return {};
}

/// Only an executing stage writes. An accepted artifact must stay as it was measured and reviewed.
Result<void> Fold::require_writer() const {
    if (state_.progress != StageProgress::executing) {
        return refuse("the workspace changes while stage `" + state_.stage().name + "` is not executing");
    }
    return {};
}

Result<void> Fold::require_reviews() const {
    for (const std::string& reviewer : state_.stage_template().reviewers) {
        if (!state_.reviewed_by.contains(reviewer)) { return refuse("reviewer `" + reviewer + "` has not passed it"); }
    }
    return {};
}

Result<void> Fold::require_exit_gate() const {
    if (const std::string unmet = unmet_exit_gate(state_); !unmet.empty()) { return refuse(unmet); }
    return {};
}

Result<void> Fold::require_delivery() const {
    if (!makes_delivery(state_.stage_template()) || has_delivered(state_)) { return {}; }
    return refuse("stage `" + state_.stage().name + "` has delivered nothing");
}

bool Fold::stage_is_done() const {
    return state_.stage().status == StageStatus::completed || state_.stage().status == StageStatus::skipped;
}

std::string Fold::role() const { return envelope_.agent ? *envelope_.agent->role : std::string(); }

/// Returns the time since the previous record, if the task was running in between.
std::uint64_t Fold::time_since_last() const {
    if (state_.status != TaskStatus::running || time_ == state_.updated_at) { return 0; }
    const auto before = parse_time(state_.updated_at);
    const auto now = parse_time(time_);
    if (!before.ok() || !now.ok() || *now <= *before) { return 0; }
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(*now - *before).count());
}

Error Fold::refuse(const std::string& why) const {
    return Error{"AF-TASK-010", "a journal record cannot follow what went before: " + why, records::place_of(record_),
                 "another program changed the journal, or this is a defect; keep the file and report it", ErrorKind::corrupt};
}

/// Reports a bad template as an error of its record: the user cannot fix a template inside a journal.
Result<PipelineTemplate> Fold::pipeline_in(const json::object& text) const {
    auto pipeline = PipelineTemplate::from_json(text);
    if (pipeline.ok()) { return pipeline; }
    const Error& error = pipeline.error();
    return refuse("its pipeline is not a template: " + error.message + (error.where.empty() ? "" : " (" + error.where + ")"));
}

Error Fold::refuse_ended() const { return refuse("the task has ended (" + std::string(to_string(state_.status)) + ")"); }

// ------------------------------------------------------------------------------------------------------- any record --

Result<records::AnyRecord> Fold::apply() {
    AF_TRY(records::AnyRecord read, records::read_record(record_));
    envelope_ = read.envelope;
    const Sequence seq = envelope_.seq.value_or(state_.seq + 1);
    if (state_.seq != 0 && seq != state_.seq + 1) {
        return refuse("record " + std::to_string(seq) + " follows record " + std::to_string(state_.seq));
    }
    if (state_.task_id.empty() && !std::holds_alternative<records::TaskCreated>(read.body)) {
        return refuse("`" + envelope_.type + "` comes before `task_created`");
    }
    const bool over = state_.status == TaskStatus::completed || state_.status == TaskStatus::aborted;
    const bool may_continue = state_.status == TaskStatus::completed && std::holds_alternative<records::TaskContinued>(read.body);
    const bool may_follow = may_continue || std::holds_alternative<records::RebasePrepared>(read.body) ||
                            std::holds_alternative<records::Rebased>(read.body) ||
                            std::holds_alternative<records::Note>(read.body) ||
                            std::holds_alternative<records::Recovered>(read.body);
    if (over && !may_follow) { return refuse_ended(); }
    AF_CHECK(require_transition());
    time_ = envelope_.timestamp;
    const bool nothing_ran =
        std::holds_alternative<records::TaskResumed>(read.body) || std::holds_alternative<records::Recovered>(read.body) ||
        std::holds_alternative<records::Costing>(read.body) || std::holds_alternative<records::Forked>(read.body);
    const std::uint64_t ran = nothing_ran ? 0 : time_since_last();
    const std::size_t stage = state_.stage_index;
    const std::uint64_t step = state_.steps + (std::holds_alternative<records::Step>(read.body) ? 1 : 0);
    if (envelope_.step != step) {
        return refuse("it is numbered step " + std::to_string(envelope_.step) + " while the task is at step " +
                      std::to_string(step));
    }
    AF_CHECK(std::visit([this](const auto& body) { return on(body); }, read.body));
    if (ran != 0 && stage < state_.stages.size()) { state_.stages[stage].wall_ms += ran; }
    state_.seq = seq;
    state_.hash = envelope_.hash.value_or("");
    state_.updated_at = time_;
    return read;
}

Result<void> fold(TaskState& state, const json::object& record) {
    AF_CHECK(fold_and_read(state, record));
    return {};
}

Result<records::AnyRecord> fold_and_read(TaskState& state, const json::object& record) { return Fold(state, record).apply(); }

Result<TaskState> fold_all(const std::vector<Record>& records) {
    TaskState state;
    for (const Record& record : records) { AF_CHECK(fold(state, record.body)); }
    return state;
}

Result<TaskState> fold_journal(const std::filesystem::path& journal) {
    JournalFold fold(journal);
    AF_CHECK(fold.read());
    return std::move(fold.state);
}

}  // namespace agentforge::kernel
