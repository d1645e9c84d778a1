// SPDX-License-Identifier: Apache-2.0
#include "aggregate/overview.hpp"

#include <utility>

#include "aggregate/figures.hpp"
#include "base/json_fields.hpp"
#include "escalation/escalation_store.hpp"
#include "plugins/call_mark.hpp"
#include "records/records.hpp"
#include "task/failures.hpp"

namespace agentforge::kernel {

namespace {

/// Finds the process that has the task, or the plugin call in which its last process died.
TaskOverview process_facts_of(const TaskPaths& paths) {
    TaskOverview overview;
    overview.running = TaskLock::holder(paths).has_value();
    if (!overview.running) { overview.ended_in = last_marked_call(paths.plugin_call()).value_or(""); }
    return overview;
}

}  // namespace

void LastActivity::take(const Record& record) {
    if (const auto step = records::as<records::Step>(record)) {
        action = *step->action->type;
        target = step->action->target.value_or("");
        if (step->changes && !step->changes->empty()) { target = *step->changes->front().path; }
        at = records::envelope_in(record).timestamp;
        succeeded = *step->result->status == "success";
    } else if (const auto gate = records::as<records::Gate>(record)) {
        if (gate->tests.value_or(0) > 0) {
            tests = *gate->tests;
            tests_passed = gate->tests_passed.value_or(0);
        }
        if (gate->conformance) {
            conformance = gate->conformance;
            checks = gate->checks;
            checks_passed = gate->checks_passed;
        }
    }
}

bool waits_for_person(const TaskOverview& task) { return !task.summary.waiting_for.empty() && !task.answered && !task.problem; }

bool update_answer(const TaskPaths& paths, TaskOverview& task) {
    const bool answered = std::exchange(task.answered, false);
    const std::string problem = std::exchange(task.answer_problem, "");
    const EscalationStore store(paths.root.parent_path().parent_path());
    const std::string& id = task.waiting_id;
    if (!task.summary.waiting_for.empty() && !id.empty() && store.answer_version(id)) {
        // An answer that cannot be read, or that is for another artifact, leaves the question open.
        const auto answer = store.has_answer(id);
        task.answered = answer.ok() && *answer;
        if (!answer.ok()) { task.answer_problem = answer.error().to_string(); }
    }
    return task.answered != answered || task.answer_problem != problem;
}

bool is_interrupted(const TaskOverview& task) {
    return !task.running && (task.summary.status == "running" || (task.summary.status == "pending" && task.began));
}

bool can_be_extended(const TaskState& state) {
    if (state.stages.empty() || has_delivered(state)) { return false; }
    const bool at_its_end =
        state.status == TaskStatus::completed || (state.waits_for() == QuestionKind::approval && is_last(state));
    return at_its_end && (state.stage_index + 1 < state.stages.size() || !state.pipeline.continuation.next_pipeline.empty());
}

namespace {

std::string words_of(const OpenQuestion& open, const std::string& stage) {
    switch (open.kind) {
        case QuestionKind::escalation:
            return open.text;
        case QuestionKind::approval:
            return "approval of " + stage;
        case QuestionKind::action:
            return "the action " + open.text;
    }
    return {};
}

}  // namespace

TaskOverview overview_of(const TaskState& state, LastActivity activity, const TaskPaths& paths) {
    TaskOverview overview = process_facts_of(paths);
    overview.activity = std::move(activity);
    overview.summary = summary_of(state);
    overview.can_be_extended = can_be_extended(state);
    overview.can_be_last = state.waiting_for() == "approval" && may_be_last(state);
    overview.can_resume = state.status != TaskStatus::failed || !fails_again(state.error_code);
    overview.set = std::filesystem::path(state.set_file).parent_path().filename().string();
    if (is_terminal(state.status)) { return overview; }
    overview.progress = overall_progress(state);
    for (const StageFigures& stage : stages_up_to_last(state)) {
        ++overview.stages;
        overview.stages_done += stage.done ? 1 : 0;
    }
    if (const auto open = open_question(state)) {
        overview.waiting_id = open->id;
        overview.question = words_of(*open, state.stage().name);
    } else if (state.escalation) {
        overview.question = state.escalation->question;  // About to be asked.
    } else if (!state.pause_reason.empty() && state.status == TaskStatus::paused) {
        overview.question = state.pause_reason;
    }
    update_answer(paths, overview);
    return overview;
}

TaskOverview overview_of(TaskSummary summary, const TaskPaths& paths) {
    TaskOverview overview = process_facts_of(paths);
    overview.summary = std::move(summary);
    return overview;
}

json::object to_json(const TaskOverview& overview) {
    const TaskSummary& task = overview.summary;
    json::object object{{"task_id", task.task_id},
                        {"request", task.request},
                        {"status", task.status},
                        {"state", state_name(overview)},
                        {"pipeline", task.pipeline},
                        {"current_stage", task.current_stage},
                        {"created_at", task.created_at},
                        {"updated_at", task.updated_at},
                        {"waiting_for", task.waiting_for},
                        {"problem", overview.problem ? json::value(problem_json(*overview.problem)) : json::value(nullptr)}};
    if (has_ended(task)) { return object; }
    object["running"] = overview.running;
    if (!overview.ended_in.empty()) { object["ended_in"] = overview.ended_in; }
    object["waiting_id"] = overview.waiting_id;
    object["answered"] = overview.answered;
    if (!overview.answer_problem.empty()) { object["answer_problem"] = overview.answer_problem; }
    object["stages_done"] = overview.stages_done;
    object["stages"] = overview.stages;
    object["progress"] = overview.progress;
    object["last_action"] = overview.activity.action;
    object["last_action_at"] = overview.activity.at;
    object["tests"] = overview.activity.tests;
    object["tests_passed"] = overview.activity.tests_passed;
    object["conformance"] = value_or_null(overview.activity.conformance);
    return object;
}

}  // namespace agentforge::kernel
