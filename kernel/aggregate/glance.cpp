// SPDX-License-Identifier: Apache-2.0
#include "aggregate/glance.hpp"

#include "aggregate/figures.hpp"
#include "aggregate/followed_task.hpp"
#include "plugins/call_mark.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

bool is_over(std::string_view status) { return status == "completed" || status == "failed" || status == "aborted"; }

/// Who has the task, or what its last process died in.
TaskGlance look_into(const TaskPaths& paths) {
    TaskGlance glance;
    glance.running = TaskLock::holder(paths).has_value();
    if (!glance.running) { glance.ended_in = last_marked_call(paths.plugin_call()).value_or(""); }
    return glance;
}

}  // namespace

void LastActs::take(const Record& record) {
    if (const auto step = records::as<records::Step>(record)) {
        action = *step->action->type;
        at = records::envelope_in(record).timestamp.value_or("");
        succeeded = *step->result->status == "success";
    } else if (const auto gate = records::as<records::Gate>(record)) {
        if (gate->tests.value_or(0) > 0) {
            tests = *gate->tests;
            tests_passed = gate->tests_passed.value_or(0);
        }
        if (gate->conformance && gate->conformance->is_bool()) { conformance = gate->conformance->get_bool(); }
    }
}

bool is_interrupted(const TaskGlance& task) {
    return !task.running && (task.summary.status == "running" || (task.summary.status == "pending" && task.began));
}

bool can_be_extended(const TaskState& state) {
    if (state.stages.empty() || !state.delivery.empty() || !state.commit.empty()) { return false; }
    const bool at_its_end = state.status == TaskStatus::completed || (state.waiting_for() == "approval" && is_last(state));
    return at_its_end && (state.stage_index + 1 < state.stages.size() || !state.pipeline.continuation.next_pipeline.empty());
}

TaskGlance glance_of(const TaskState& state, LastActs acts, const TaskPaths& paths) {
    TaskGlance glance = look_into(paths);
    glance.acts = std::move(acts);
    glance.summary = summary_of(state);
    glance.can_be_extended = can_be_extended(state);
    if (is_terminal(state.status)) { return glance; }
    glance.progress = overall_progress(state);
    for (const StageFigures& stage : stages_to_the_end(state)) {
        ++glance.stages;
        glance.stages_done += stage.done ? 1 : 0;
    }
    if (state.escalation) {
        glance.waiting_id = state.escalation->id;
        glance.question = state.escalation->question;
    } else if (state.approval) {
        glance.waiting_id = state.approval->id;
        glance.question = "approval of " + state.stage().name;
    } else if (state.action && !state.action->id.empty()) {
        glance.waiting_id = state.action->id;
        glance.question = "the action " + state.action->tool;
    } else if (!state.pause_reason.empty() && state.status == TaskStatus::paused) {
        glance.question = state.pause_reason;
    }
    return glance;
}

TaskGlance glance_at(const TaskStore& store, TaskSummary summary) {
    TaskGlance glance;
    if (!is_over(summary.status)) {
        const TaskPaths paths = store.paths(summary.task_id);
        FollowedTask task(paths, summary.task_id);
        if (task.refresh().ok() && task.state().task_id == summary.task_id) {
            glance = glance_of(task.state(), task.acts(), paths);
            summary = glance.summary;
        } else {
            const auto projection = store.load_state(summary.task_id);
            const auto state = projection.ok() ? task_state_from_json(*projection) : Result<TaskState>(projection.error());
            glance = state.ok() ? glance_of(*state, {}, paths) : look_into(paths);
        }
        glance.began = !store.never_began(summary.task_id);
    }
    glance.summary = std::move(summary);
    return glance;
}

json::object to_json(const TaskGlance& glance) {
    const TaskSummary& task = glance.summary;
    json::object told{{"task_id", task.task_id},       {"request", task.request},
                      {"status", task.status},         {"pipeline", task.pipeline},
                      {"current_stage", task.current_stage}, {"created_at", task.created_at},
                      {"updated_at", task.updated_at}, {"waiting_for", task.waiting_for}};
    if (is_over(task.status)) { return told; }
    told["running"] = glance.running;
    if (!glance.ended_in.empty()) { told["ended_in"] = glance.ended_in; }
    told["waiting_id"] = glance.waiting_id;
    told["stages_done"] = glance.stages_done;
    told["stages"] = glance.stages;
    told["progress"] = glance.progress;
    told["last_action"] = glance.acts.action;
    told["last_action_at"] = glance.acts.at;
    told["tests"] = glance.acts.tests;
    told["tests_passed"] = glance.acts.tests_passed;
    told["conformance"] = glance.acts.conformance ? json::value(*glance.acts.conformance) : json::value(nullptr);
    return told;
}

}  // namespace agentforge::kernel
