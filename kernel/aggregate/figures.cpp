// SPDX-License-Identifier: Apache-2.0
#include "aggregate/figures.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

constexpr double micro = 1e-6;

std::uint64_t seconds_between(const std::string& from, std::chrono::system_clock::time_point end) {
    const auto begin = parse_time(from);
    if (!begin.ok() || end < *begin) { return 0; }
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(end - *begin).count());
}

/// From its start to its end, or to its last record if it has not ended.
std::uint64_t elapsed_by_its_records(const TaskState& state) {
    const auto end = parse_time(state.completed_at.empty() ? state.updated_at : state.completed_at);
    return end.ok() ? seconds_between(state.created_at, *end) : 0;
}

bool is_done(const StageState& stage) { return stage.status == StageStatus::completed || stage.status == StageStatus::skipped; }

/// Returns the number of stages up to and including the task's last one.
std::size_t stage_count(const TaskState& state) {
    std::string exit = state.exit_after.value_or(state.pipeline.exit_stage);
    if (!state.user_exit.empty()) { exit = state.user_exit; }
    if (!state.exit_stage.empty()) { exit = state.exit_stage; }
    const auto found = std::ranges::find(state.stages, exit, &StageState::name);
    return found == state.stages.end() ? state.stages.size() : static_cast<std::size_t>(found - state.stages.begin()) + 1;
}

json::object timing_of(const TaskState& state) {
    const double done = overall_progress(state);
    const std::uint64_t worked = state.wall_ms() / 1000;
    json::object timing{{"started_at", state.created_at},
                        {"last_activity", state.updated_at},
                        {"completed_at", text_or_null(state.completed_at)},
                        {"elapsed_seconds", elapsed_by_its_records(state)},
                        {"working_seconds", worked},
                        {"estimated_remaining_seconds", nullptr}};
    constexpr double enough_to_estimate = 0.1;
    if (!is_terminal(state.status) && done >= enough_to_estimate) {
        timing["estimated_remaining_seconds"] = static_cast<std::uint64_t>(static_cast<double>(worked) * (1 - done) / done);
    }
    return timing;
}

json::object steps_of(const TaskState& state) {
    json::object by_phase;
    for (const StageState& stage : state.stages) {
        if (stage.visits > 0) { by_phase[stage.name] = stage.steps; }
    }
    return {{"total", state.steps}, {"by_phase", std::move(by_phase)}};
}

/// The input for computing figures.
struct Source {
    const TaskState& state;
    const LastActivity& activity;
    const std::vector<IterationDecision>& decisions;
    std::uint64_t recent_errors = 0;
    bool from_transcript = false;
};

json::object health_of(const Source& task) {
    const LastActivity& activity = task.activity;
    return {{"tests_passing", activity.tests_passed},
            {"tests_total", activity.tests},
            {"conformance_passing", value_or_null(activity.checks_passed)},
            {"conformance_total", value_or_null(activity.checks)},
            {"conformance", value_or_null(activity.conformance)},
            {"errors_recent", task.recent_errors}};
}

json::object cost_of(const Source& task) {
    const CostFigures cost = cost_figures(task.state);
    return {
        {"tokens_used", cost.tokens}, {"input_tokens", cost.input_tokens},      {"output_tokens", cost.output_tokens},
        {"calls", cost.calls},        {"calls_lost", cost.calls_lost},          {"estimated_cost_usd", value_or_null(cost.usd)},
        {"cost_known", cost.known},   {"from_transcript", task.from_transcript}};
}

json::object pipeline_of(const TaskState& state) {
    const std::vector<StageFigures> all = stages_up_to_last(state);
    json::array stages;
    for (const StageFigures& stage : all) {
        stages.push_back({{"name", stage.name},
                          {"status", stage.status},
                          {"steps", stage.steps},
                          {"attempts", stage.attempts},
                          {"duration_ms", stage.duration_ms},
                          {"tokens", stage.tokens},
                          {"skip_reason", text_or_null(stage.skip_reason)},
                          {"error", text_or_null(stage.error)},
                          {"artifact", text_or_null(stage.artifact)}});
    }
    return {{"template", state.pipeline.name},
            {"entry_stage", all.empty() ? "" : all.front().name},
            {"exit_stage", all.empty() ? "" : all.back().name},
            {"progress", overall_progress(state)},
            {"stages", std::move(stages)}};
}

/// Returns what can follow the end: the remaining stages, and the pipeline that continues this one.
json::value continuation_of(const TaskState& state) {
    if (!can_be_extended(state)) { return nullptr; }
    json::array stages;
    for (std::size_t index = state.stage_index + 1; index < state.stages.size(); ++index) {
        stages.emplace_back(state.stages[index].name);
    }
    return json::object{{"after", state.stage().name},
                        {"stages", std::move(stages)},
                        {"next_pipeline", text_or_null(state.pipeline.continuation.next_pipeline)}};
}

json::value current_stage_of(const TaskState& state) {
    if (state.stages.empty()) { return nullptr; }
    const StageState& stage = state.stage();
    const std::string_view status = (stage.iterations > 0 || (state.approval && iterates(state))) && !is_done(stage)
                                        ? std::string_view("iterating")
                                        : to_string(stage.status);
    const bool shown = state.approval && !stage.history.empty();
    return json::object{{"name", stage.name},
                        {"status", status},
                        {"artifact", text_or_null(state.stage_template().artifact)},
                        {"version", shown ? json::value(stage.history.back().version) : json::value(nullptr)},
                        {"iteration", stage.iterations + 1},
                        {"cycle", stage.cycles},
                        {"attempt", stage.attempts}};
}

json::value iteration_of(const Source& task) {
    const TaskState& state = task.state;
    if (state.stages.empty()) { return nullptr; }
    const StageState& stage = state.stage();
    json::array decisions;
    for (const IterationDecision& each : task.decisions) {
        if (each.stage != stage.name) { continue; }
        decisions.push_back({{"iteration", each.iteration},
                             {"decision", each.decision},
                             {"at", each.at},
                             {"by", each.by},
                             {"feedback", each.feedback}});
    }
    if (decisions.empty() && !state.approval) { return nullptr; }
    return json::object{{"stage", stage.name},
                        {"current", stage.iterations + 1},
                        {"max", state.stage_template().max_iterations},
                        {"decisions", std::move(decisions)}};
}

json::value last_action_of(const Source& task) {
    const LastActivity& activity = task.activity;
    if (activity.action.empty()) { return nullptr; }
    return json::object{{"step", task.state.steps},
                        {"action", activity.action},
                        {"target", text_or_null(activity.target)},
                        {"started_at", activity.at},
                        {"result", activity.succeeded ? "success" : "failure"}};
}

json::object delivery_of(const TaskState& state) {
    const auto or_null = [](const std::optional<std::string>& text) { return text ? json::value(*text) : json::value(nullptr); };
    return json::object{{"commit", text_or_null(state.commit)},
                        {"branch", text_or_null(state.branch)},
                        {"pr_url", or_null(state.delivery.pr_url)},
                        {"patch_file", or_null(state.delivery.patch_file)},
                        {"deliverable_type", or_null(state.delivery.deliverable_type)}};
}

}  // namespace

StageFigures figures_of(const TaskState& state, const StageState& stage) {
    return {.name = stage.name,
            .status = std::string(to_string(stage.status)),
            .done = is_done(stage),
            .steps = stage.steps,
            .attempts = stage.attempts,
            .duration_ms = stage.duration_ms,
            .tokens = state.ledger.of_stage(stage.name).tokens(),
            .skip_reason = stage.skip_reason,
            .error = stage.error,
            .artifact = stage.artifact};
}

std::vector<StageFigures> stages_up_to_last(const TaskState& state) {
    std::vector<StageFigures> all;
    for (std::size_t index = 0; index < stage_count(state); ++index) { all.push_back(figures_of(state, state.stages[index])); }
    return all;
}

CostFigures cost_figures(const TaskState& state) {
    const Spend spend = state.ledger.total();
    CostFigures cost{.tokens = spend.tokens(),
                     .input_tokens = spend.input_tokens,
                     .output_tokens = spend.output_tokens,
                     .calls = spend.calls,
                     .calls_lost = spend.lost,
                     .usd = static_cast<double>(spend.cost_microusd) * micro,
                     .known = spend.cost_known()};
    if (!cost.known && spend.cost_microusd == 0) { cost.usd = std::nullopt; }
    return cost;
}

bool answered_from_transcript(const TaskPaths& paths) {
    // Searches the text first: most tasks are not replays, and parsing the whole file takes longer than the rest of a command for
    // one task.
    const auto text = read_file(paths.task());
    if (!text.ok() || text->find("backend: \"replay\"") == std::string::npos) { return false; }
    const auto task = parse_yaml(*text, paths.task().string());
    if (!task.ok() || !task->value.is_object()) { return false; }
    const auto part = [](const json::object& object, std::string_view key) {
        const json::value* value = object.if_contains(key);
        return value != nullptr && value->is_object() ? value->get_object() : json::object();
    };
    return text_of(part(part(task->value.get_object(), "configuration"), "llm"), "backend") == "replay";
}

std::string cost_of_task(const TaskPaths& paths, const Spend& spend, const std::vector<std::string>& unpriced_models) {
    if (answered_from_transcript(paths)) { return "nothing, the answers came from a transcript"; }
    return cost_in_words(spend, unpriced_models);
}

double stage_progress(const TaskState& state) {
    if (state.stages.empty() || state.stages.size() <= state.stage_index) { return 0; }
    constexpr double most_while_working = 0.9;  // An estimate: gate, review and approval still follow.
    switch (state.progress) {
        case StageProgress::not_started:
            return is_done(state.stage()) ? 1 : 0;
        case StageProgress::accepted:
        case StageProgress::approving:
            return most_while_working;
        default:
            break;
    }
    const auto most_steps = static_cast<double>(std::max(1U, state.stage_template().max_steps));
    const double share = static_cast<double>(state.stage().steps) / most_steps;
    return std::min(most_while_working, share * 2);  // A stage usually takes half of the steps that it may take.
}

double overall_progress(const TaskState& state) {
    if (state.status == TaskStatus::completed) { return 1; }
    const std::size_t end = stage_count(state);
    if (end == 0) { return 0; }
    double done = 0;
    for (std::size_t index = 0; index < end; ++index) { done += is_done(state.stages[index]) ? 1 : 0; }
    if (!is_done(state.stage())) { done += stage_progress(state); }
    return std::min(1.0, done / static_cast<double>(end));
}

std::string state_name(const TaskOverview& overview) {
    const TaskSummary& task = overview.summary;
    if (overview.answered) { return overview.running ? "in_progress" : "paused"; }
    if (task.waiting_for == "escalation") { return "escalated"; }
    if (!task.waiting_for.empty()) { return "awaiting_approval"; }
    if (is_interrupted(overview)) { return "interrupted"; }
    const bool begins = task.status == "pending" && overview.running;
    return task.status == "running" || begins ? "in_progress" : task.status;
}

void TaskCounts::take(const TaskOverview& task) {
    ++conditions[state_name(task)];
    waiting += waits_for_person(task) ? 1 : 0;
}

std::uint64_t TaskCounts::of(const std::string& condition) const {
    const auto found = conditions.find(condition);
    return found == conditions.end() ? 0 : found->second;
}

json::object problem_json(const Error& error) {
    return {{"code", error.code}, {"title", error.message}, {"where", error.where}, {"detail", error.remedy}};
}

json::object to_json(const TaskCounts& counts) {
    json::object object{{"waiting", counts.waiting}};
    for (const auto& [condition, count] : counts.conditions) { object[condition] = count; }
    return object;
}

std::vector<std::string> available_actions(const TaskOverview& overview) {
    const TaskSummary& task = overview.summary;
    if (overview.problem) { return {}; }
    if (task.status == "completed" && overview.can_be_extended) { return {"extend"}; }
    if (task.status == "completed" || task.status == "aborted") { return {}; }
    if (overview.answered) { return {overview.running ? "pause" : "resume", "abort"}; }
    if (task.waiting_for == "escalation") { return {"respond", "abort"}; }
    if (task.waiting_for == "approval") {
        std::vector<std::string> actions{"approve", "revise"};
        if (overview.can_be_last) { actions.emplace_back("exit"); }
        actions.emplace_back("reject");
        if (overview.can_be_extended) { actions.emplace_back("extend"); }
        actions.emplace_back("abort");
        return actions;
    }
    if (task.waiting_for == "action") { return {"approve", "reject", "abort"}; }
    if (overview.running) { return {"pause", "abort"}; }
    if (!overview.can_resume) { return {"abort"}; }
    return {"resume", "abort"};
}

namespace {

/// Adds the fields that depend on whether a process runs the task, and on whether its question is answered.
void add_process(json::object& summary, const TaskOverview& overview) {
    json::object& status = summary["status"].as_object();
    status["state"] = state_name(overview);
    status["running"] = overview.running;
    status["ended_in"] = text_or_null(overview.ended_in);
    status["answered"] = overview.answered;
    status["answer_problem"] = text_or_null(overview.answer_problem);
    const bool waits = waits_for_person(overview);
    summary["health"].as_object()["escalations_pending"] = waits ? 1 : 0;
    if (json::object* stage = summary["current_stage"].if_object()) {
        (*stage)["awaiting"] = waits ? json::value("user_decision") : json::value(nullptr);
    }
    json::array actions;
    for (const std::string& action : available_actions(overview)) { actions.emplace_back(action); }
    summary["available_actions"] = std::move(actions);
}

}  // namespace

namespace {

TaskFigures figures_from(const Source& task, TaskOverview overview, const std::string& repo) {
    const TaskState& state = task.state;
    TaskFigures figures{.repo = repo, .overview = std::move(overview), .seq = state.seq, .steps = state.steps, .text = {}};
    json::object status{{"task_status", figures.overview.summary.status},
                        {"phase", state.stages.empty() ? json::value(nullptr) : json::value(state.stage().name)},
                        {"phase_progress", stage_progress(state)},
                        {"overall_progress", overall_progress(state)},
                        {"waiting_for", text_or_null(std::string(state.waiting_for()))},
                        {"waiting_id", text_or_null(figures.overview.waiting_id)},
                        {"question", text_or_null(figures.overview.question)},
                        {"error", text_or_null(state.error)},
                        {"error_code", text_or_null(state.error_code)},
                        {"pause_reason", text_or_null(state.pause_reason)}};
    json::object summary{{"task_id", state.task_id},
                         {"repo", repo},
                         {"request", state.request},
                         {"goal", state.request},
                         {"goal_type", state.goal_type},
                         {"sequence", state.seq},
                         {"status", std::move(status)},
                         {"timing", timing_of(state)},
                         {"steps", steps_of(state)},
                         {"health", health_of(task)},
                         {"cost", cost_of(task)},
                         {"current_action", last_action_of(task)},
                         {"pipeline", pipeline_of(state)},
                         {"current_stage", current_stage_of(state)},
                         {"iteration_summary", iteration_of(task)},
                         {"delivery", delivery_of(state)},
                         {"set", text_or_null(figures.overview.set)},
                         {"continuation", continuation_of(state)}};
    if (figures.overview.problem && state.stages.empty()) {  // Neither journal nor state.yaml says what it cost.
        json::object& cost = summary["cost"].as_object();
        cost["estimated_cost_usd"] = nullptr;
        cost["cost_known"] = false;
    }
    summary["problem"] = figures.overview.problem ? json::value(problem_json(*figures.overview.problem)) : json::value(nullptr);
    add_process(summary, figures.overview);
    figures.text = to_json_line(summary);
    return figures;
}

}  // namespace

TaskFigures figures_of(const FollowedTask& task, const std::string& repo) {
    TaskFigures figures =
        figures_from({task.state(), task.activity(), task.decisions(), task.recent_errors(), task.from_transcript()},
                     overview_of(task.state(), task.activity(), task.paths()), repo);
    figures.statistics = sample_of(task.state());
    return figures;
}

ProjectedTask projected_task(const TaskStore& store, const std::string& task_id, std::optional<Error> problem) {
    const auto stored = store.load_state(task_id);
    auto state = stored.ok() ? task_state_from_json(*stored) : Result<TaskState>(stored.error());
    ProjectedTask task;
    if (state.ok()) {
        task.state = std::move(*state);
        task.overview = overview_of(task.state, {}, store.paths(task_id));
    } else {
        // Before the first record the file has only the request.
        const bool is_request = stored.ok() && !problem && text_of(*stored, "status") == "pending" && !stored->contains("hash");
        TaskSummary summary;
        summary.task_id = task_id;
        summary.status = is_request ? "pending" : "unknown";
        if (is_request) {
            summary.request = text_of(*stored, "request");
            summary.pipeline = text_of(*stored, "pipeline");
            summary.created_at = text_of(*stored, "created_at");
            summary.updated_at = text_of(*stored, "updated_at");
        } else if (!problem) {
            problem = state.error();
        }
        task.state.task_id = task_id;
        task.state.request = summary.request;
        task.overview = overview_of(std::move(summary), store.paths(task_id));
    }
    task.overview.began = problem || !store.never_began(task_id);
    task.overview.problem = std::move(problem);
    return task;
}

TaskFigures figures_of(const ProjectedTask& task, const std::string& repo) {
    return figures_from({task.state, {}, {}, 0}, task.overview, repo);
}

TaskFigures with_process(TaskFigures figures, const TaskPaths& paths) {
    const TaskOverview now = overview_of(figures.overview.summary, paths);
    figures.overview.running = now.running;
    figures.overview.ended_in = now.ended_in;
    update_answer(paths, figures.overview);
    json::object summary = json::parse(figures.text).as_object();
    add_process(summary, figures.overview);
    figures.text = to_json_line(summary);
    return figures;
}

std::string text_at(const TaskFigures& figures, std::chrono::system_clock::time_point now) {
    constexpr std::string_view field = "\"elapsed_seconds\":";  // In a text of the task its quotes would be escaped.
    std::string text = figures.text;
    const TaskSummary& task = figures.overview.summary;
    const std::size_t found = has_ended(task) ? std::string::npos : text.find(field);
    if (found == std::string::npos) { return text; }
    const std::size_t begin = std::min(text.find_first_not_of(' ', found + field.size()), text.size());
    const std::size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
    return text.replace(begin, end - begin, std::to_string(seconds_between(task.created_at, now)));
}

json::object to_json(const TaskFigures& figures, std::chrono::system_clock::time_point now) {
    return json::parse(text_at(figures, now)).as_object();
}

}  // namespace agentforge::kernel
