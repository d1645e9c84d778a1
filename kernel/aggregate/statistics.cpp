// SPDX-License-Identifier: Apache-2.0
#include "aggregate/statistics.hpp"

#include <algorithm>
#include <set>

#include "aggregate/figures.hpp"
#include "base/clock.hpp"
#include "base/json_fields.hpp"

namespace agentforge::kernel {

namespace {

std::string main_model(const Ledger& ledger) {
    const auto models = ledger.by(&LedgerEntry::model);
    const auto most = std::ranges::max_element(models, {}, [](const auto& model) { return model.second.tokens(); });
    return most == models.end() ? std::string() : most->first;
}

}  // namespace

TaskSample sample_of(const TaskState& state) {
    TaskSample found{.task_id = state.task_id,
                     .pipeline = state.pipeline.name,
                     .model = main_model(state.ledger),
                     .created_at = state.created_at,
                     .base_tree = state.base_tree,
                     .commit = state.commit,
                     .delivered = state.status == TaskStatus::completed && has_delivered(state),
                     .completed = state.status == TaskStatus::completed,
                     .ended = is_terminal(state.status),
                     .escalated = state.people_figures.escalated,
                     .steps = state.steps,
                     .people_ms = state.people_figures.waited_ms,
                     .spend = state.ledger.total(),
                     .own_spend = state.ledger.total().without(state.inherited.spend),
                     .own_steps = state.steps - state.inherited.steps};
    std::set<std::string> closing_gates;
    for (const StageTemplate& stage : state.pipeline.stages) { closing_gates.insert(closing_gate(stage)); }
    for (const auto& [gate, runs] : state.gate_figures.runs) {
        if (!closing_gates.contains(gate)) { continue; }
        found.gates += runs.all;
        found.gates_passed += runs.passed;
    }
    return found;
}

void Statistics::add(const TaskSample& task) {
    tasks += 1;
    delivered += task.delivered ? 1 : 0;
    completed += task.completed ? 1 : 0;
    ended += task.ended ? 1 : 0;
    if (task.ended) { people.push_back(task.people_ms); }
    escalated += task.escalated ? 1 : 0;
    gates += task.gates;
    gates_passed += task.gates_passed;
    people_ms += task.people_ms;
    all_steps += task.own_steps;
    spend.add(task.own_spend);
    if (const auto created = parse_time(task.created_at); created.ok() && (!first || *created < *first)) { first = *created; }
    if (!task.delivered) { return; }
    steps.push_back(task.steps);
    tokens.push_back(task.spend.tokens());
}

std::optional<std::uint64_t> median(std::vector<std::uint64_t> values) {
    if (values.empty()) { return std::nullopt; }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

std::optional<double> share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? std::nullopt : std::optional(static_cast<double>(part) / static_cast<double>(whole));
}

namespace {

using std::chrono::system_clock;

json::object rework_json(const ReworkSum& rework) {
    return {{"delivered_commits", rework.commits},
            {"in_head", rework.merged},
            {"lines", rework.lines},
            {"lines_changed", rework.reworked_lines},
            {"rate", value_or_null(share(rework.reworked_lines, rework.lines))}};
}

json::object sums_json(const Sums& found, bool has_rework) {
    const Statistics& sums = found.tasks;
    return {{"tasks", sums.tasks},
            {"delivered", sums.delivered},
            {"completed", sums.completed},
            {"ended", sums.ended},
            {"escalated", sums.escalated},
            {"escalation_rate", value_or_null(share(sums.escalated, sums.tasks))},
            {"gates", sums.gates},
            {"gates_passed", sums.gates_passed},
            {"verification_pass_rate", value_or_null(share(sums.gates_passed, sums.gates))},
            {"steps_per_delivered_task", value_or_null(median(sums.steps))},
            {"tokens_per_delivered_task", value_or_null(median(sums.tokens))},
            {"waited_for_people_ms", sums.people_ms},
            {"waited_for_people_ms_per_ended_task", value_or_null(median(sums.people))},
            {"rework", has_rework ? json::value(rework_json(found.rework)) : json::value(nullptr)},
            {"tokens", sums.spend.tokens()},
            {"estimated_cost_usd", static_cast<double>(sums.spend.cost_microusd) * 1e-6},
            {"cost_known", sums.spend.cost_known()}};
}

json::array groups_json(const Groups& groups, bool has_rework) {
    json::array list;
    for (const auto& [name, sums] : groups) {
        json::object one{{"name", name}};
        for (auto& [key, value] : sums_json(sums, has_rework)) { one[key] = value; }
        list.push_back(std::move(one));
    }
    return list;
}

}  // namespace

bool TaskStatistics::includes(std::string_view created_at) const {
    if (!since) { return true; }
    const auto created = parse_time(created_at);
    return !created.ok() || *created >= *since;
}

void TaskStatistics::add(const TaskSample& task, const ReworkOf& rework) {
    std::vector<Sums*> groups{&all, &by_pipeline[task.pipeline]};
    if (task.spend.calls + task.spend.lost > 0) { groups.push_back(&by_model[task.model]); }
    for (Sums* sums : groups) { sums->tasks.add(task); }
    if (!has_rework || task.commit.empty() || !task.delivered) { return; }
    const auto known = rework(task);
    for (Sums* sums : groups) {
        sums->rework.commits += 1;
        sums->rework.merged += known ? 1 : 0;
        sums->rework.lines += known ? known->lines : 0;
        sums->rework.reworked_lines += known ? known->gone : 0;
    }
}

double TaskStatistics::weeks(system_clock::time_point now) const {
    const auto span = all.tasks.first ? now - *all.tasks.first : system_clock::duration::zero();
    return std::max(
        1.0, std::chrono::duration<double>(span).count() / std::chrono::duration<double>(std::chrono::hours(24 * 7)).count());
}

json::object to_json(const TaskStatistics& statistics, system_clock::time_point now) {
    const Statistics& sums = statistics.all.tasks;
    json::object object = sums_json(statistics.all, statistics.has_rework);
    if (json::object* rework = object["rework"].if_object()) { (*rework)["days"] = statistics.rework_days; }
    object["since"] = statistics.since ? json::value(format_time(*statistics.since)) : json::value(nullptr);
    object["tasks_per_week"] = sums.tasks == 0 ? 0.0 : static_cast<double>(sums.tasks) / statistics.weeks(now);
    object["completed_per_week"] = sums.tasks == 0 ? 0.0 : static_cast<double>(sums.completed) / statistics.weeks(now);
    object["audit_trail_completeness"] = value_or_null(share(sums.tasks, sums.tasks + statistics.unreadable.size()));
    object["repositories"] = statistics.repositories;
    object["repositories_with_open_tasks"] = statistics.active;
    object["unreadable_tasks"] = statistics.unreadable.size();
    std::vector<Error> unreadable = statistics.unreadable;
    std::ranges::sort(unreadable, {}, &Error::where);
    json::array problems;
    for (const Error& problem : unreadable) { problems.push_back(problem_json(problem)); }
    object["problems"] = std::move(problems);
    object["repositories_left_out"] = statistics.left_out;
    object["by_pipeline"] = groups_json(statistics.by_pipeline, statistics.has_rework);
    object["by_model"] = groups_json(statistics.by_model, statistics.has_rework);
    return object;
}

std::optional<system_clock::time_point> parse_since(const std::string& text, system_clock::time_point now) {
    if (const auto span = parse_time_span(text)) { return now - *span; }
    for (const std::string& whole : {text, text + "T00:00:00.000Z"}) {
        if (const auto time = parse_time(whole); time.ok()) { return *time; }
    }
    return std::nullopt;
}

}  // namespace agentforge::kernel
