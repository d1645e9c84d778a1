// SPDX-License-Identifier: Apache-2.0
#include "replay/comparison.hpp"

#include <algorithm>

#include "backends/hashes.hpp"
#include "base/text.hpp"
#include "replay/replay_watch.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_shown = 400;

ComparedTask figures_of(const TaskState& state) {
    const Spend spend = state.ledger.total();
    return {state.task_id,
            state.request,
            std::string(to_string(state.status)),
            state.base_commit,
            delivered_tree(state),
            state.steps,
            spend.calls + spend.lost,
            spend.tokens(),
            spend.cost_microusd,
            spend.cost_known(),
            state.wall_ms()};
}

std::vector<const RecordedStep*> in_order(const RecordedTask& task) {
    std::vector<const RecordedStep*> steps;
    for (const auto& [place, step] : task.steps) { steps.push_back(&step); }
    std::ranges::sort(steps, {}, &RecordedStep::seq);
    return steps;
}

/// Returns a step in the three respects in which paths are compared.
std::array<std::string, 3> respects(const StepRecord& step) {
    std::string answer = step.completion.text;
    for (const ToolCall& call : step.completion.tool_calls) { answer += "\n" + call.name + " " + to_json_line(call.arguments); }
    return {without_volatile_parts(step.system + "\n" + step.context), without_volatile_parts(answer),
            without_volatile_parts(step.tool + " " + to_json_line(step.arguments))};
}

/// Finds where the two paths diverge in each respect. A step that only one of them has counts as a different action.
Result<std::vector<Divergence>> divergences_of(const RecordedTask& one, const RecordedTask& other) {
    std::vector<Divergence> divergences;
    const auto first = in_order(one);
    const auto second = in_order(other);
    std::array<bool, 3> parted{};
    constexpr std::array kinds{Divergence::Of::context, Divergence::Of::answer, Divergence::Of::action};
    for (std::size_t at = 0; at < std::max(first.size(), second.size()) && !std::ranges::all_of(parted, std::identity()); ++at) {
        if (at >= first.size() || at >= second.size()) {
            const RecordedStep& left = at < first.size() ? *first[at] : *second[at];
            const std::string what = *left.body.action->type + ": " + ellipsis(*left.body.result->summary, most_shown);
            if (!parted[2]) {
                divergences.push_back({Divergence::Of::action,
                                       {at < first.size() ? left.number : 0, at < first.size() ? 0 : left.number},
                                       left.body.phase,
                                       {at < first.size() ? what : "no such step", at < first.size() ? "no such step" : what}});
            }
            break;
        }
        // Tasks share these steps if one was forked from the other.
        if (*first[at]->body.record_blob == *second[at]->body.record_blob) { continue; }
        AF_TRY(const StepRecord left, one.whole(first[at]->body));
        AF_TRY(const StepRecord right, other.whole(second[at]->body));
        const auto lefts = respects(left);
        const auto rights = respects(right);
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            if (parted[kind] || lefts[kind] == rights[kind]) { continue; }
            parted[kind] = true;
            const auto sides = first_difference(lefts[kind], rights[kind], most_shown);
            divergences.push_back(
                {kinds[kind], {first[at]->number, second[at]->number}, first[at]->body.phase, {sides.first, sides.second}});
        }
    }
    return divergences;
}

/// Collects each leaf of a value under its place: `requirements[0].id`.
void flatten(const json::value& value, const std::string& place, std::map<std::string, std::string>& out) {
    if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
        for (const auto& [key, item] : *object) {
            flatten(item, place.empty() ? std::string(key) : place + "." + std::string(key), out);
        }
    } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
        for (std::size_t at = 0; at < array->size(); ++at) { flatten((*array)[at], place + "[" + std::to_string(at) + "]", out); }
    } else {
        out[place] = value.is_string() ? std::string(value.get_string()) : json::serialize(value);
    }
}

Result<std::map<std::string, std::string>> fields_of(const RecordedTask& task, const std::string& stage) {
    std::map<std::string, std::string> fields;
    const auto found = std::ranges::find(task.state.stages, stage, &StageState::name);
    if (found == task.state.stages.end() || found->artifact_hash.empty()) { return fields; }
    AF_TRY(const json::value artifact, task.kept(records::Kept{std::nullopt, found->artifact_hash}));
    flatten(artifact, "", fields);
    return fields;
}

/// Returns the stages of both, each once, in the order of the first.
std::vector<std::string> stages_of(const RecordedTask& one, const RecordedTask& other) {
    std::vector<std::string> names;
    for (const RecordedTask* const task : {&one, &other}) {
        for (const StageState& stage : task->state.stages) {
            if (std::ranges::find(names, stage.name) == names.end()) { names.push_back(stage.name); }
        }
    }
    return names;
}

Result<std::vector<FieldDifference>> field_differences(const RecordedTask& one, const RecordedTask& other) {
    std::vector<FieldDifference> differences;
    for (const std::string& stage : stages_of(one, other)) {
        AF_TRY(auto left, fields_of(one, stage));
        AF_TRY(auto right, fields_of(other, stage));
        for (const auto& [field, text] : left) { right.try_emplace(field); }
        for (const auto& [field, text] : right) {
            const std::string& then = left[field];
            if (without_volatile_parts(then) != without_volatile_parts(text)) {
                differences.push_back({stage, field, {ellipsis(then, most_shown), ellipsis(text, most_shown)}});
            }
        }
    }
    return differences;
}

std::map<std::pair<std::string, std::string>, std::string> verdicts_of(const RecordedTask& task) {
    std::map<std::pair<std::string, std::string>, std::string> verdicts;
    std::map<std::pair<std::string, std::string>, std::uint64_t> times;
    for (const auto& [place, gates] : task.gates) {  // By visit, the last one last.
        const std::pair key{place.stage, place.gate};
        const std::uint64_t measured = times[key] += gates.size();
        const records::Gate& last = gates.back();
        verdicts[key] = std::string(last.passed ? "passed" : "failed") + " (measured " + std::to_string(measured) +
                        (measured == 1 ? " time): " : " times): ") + ellipsis(last.summary, most_shown);
    }
    return verdicts;
}

std::vector<GatePair> gates_of(const RecordedTask& one, const RecordedTask& other) {
    std::vector<GatePair> pairs;
    const auto left = verdicts_of(one);
    const auto right = verdicts_of(other);
    for (const std::string& stage : stages_of(one, other)) {
        auto names = left;
        names.insert(right.begin(), right.end());
        for (const auto& [place, verdict] : names) {
            if (place.first != stage) { continue; }
            const auto side = [&](const auto& verdicts) { return verdicts.contains(place) ? verdicts.at(place) : std::string(); };
            pairs.push_back({stage, place.second, {side(left), side(right)}});
        }
    }
    return pairs;
}

template <class T>
json::array pair_json(const std::array<T, 2>& pair) {
    return json::array{pair[0], pair[1]};
}

json::object to_json(const ComparedTask& task) {
    return {{"task_id", task.task_id},
            {"request", task.request},
            {"status", task.status},
            {"base_commit", task.base_commit},
            {"tree", task.tree},
            {"steps", task.steps},
            {"calls", task.calls},
            {"tokens", task.tokens},
            {"cost_microusd", task.cost_microusd},
            {"cost_known", task.cost_known},
            {"wall_ms", task.wall_ms}};
}

}  // namespace

std::string step_of(std::uint64_t number) { return number == 0 ? "no step" : "step " + std::to_string(number); }

std::string_view to_string(Divergence::Of of) noexcept {
    switch (of) {
        case Divergence::Of::context:
            return "context";
        case Divergence::Of::answer:
            return "answer";
        case Divergence::Of::action:
            return "action";
    }
    return "unknown";
}

Result<TaskComparison> compare_tasks(const TaskStore& store, const Repository& repository, std::string_view one,
                                     std::string_view other) {
    AF_TRY(const RecordedTask first, RecordedTask::read(store, one));
    AF_TRY(const RecordedTask second, RecordedTask::read(store, other));
    TaskComparison comparison;
    comparison.tasks = {figures_of(first.state), figures_of(second.state)};
    AF_TRY(comparison.divergences, divergences_of(first, second));
    AF_TRY(comparison.fields, field_differences(first, second));
    comparison.gates = gates_of(first, second);
    AF_TRY(comparison.files, repository.diff(comparison.tasks[0].tree, comparison.tasks[1].tree));
    return comparison;
}

json::object to_json(const TaskComparison& comparison) {
    json::array divergences;
    for (const Divergence& one : comparison.divergences) {
        divergences.push_back(json::object{
            {"of", to_string(one.of)}, {"stage", one.stage}, {"steps", pair_json(one.steps)}, {"sides", pair_json(one.sides)}});
    }
    json::array fields;
    for (const FieldDifference& one : comparison.fields) {
        fields.push_back(json::object{{"stage", one.stage}, {"field", one.field}, {"sides", pair_json(one.sides)}});
    }
    json::array gates;
    for (const GatePair& one : comparison.gates) {
        gates.push_back(json::object{{"stage", one.stage}, {"gate", one.gate}, {"sides", pair_json(one.sides)}});
    }
    json::array files;
    for (const TreeChange& one : comparison.files) {
        files.push_back(json::object{{"path", one.path},
                                     {"old_path", one.old_path},
                                     {"status", std::string(1, one.status)},
                                     {"lines_added", one.lines_added},
                                     {"lines_removed", one.lines_removed}});
    }
    return {{"tasks", json::array{to_json(comparison.tasks[0]), to_json(comparison.tasks[1])}},
            {"same_path", comparison.same_path()},
            {"same_tree", comparison.same_tree()},
            {"partings", std::move(divergences)},
            {"artifacts", std::move(fields)},
            {"gates", std::move(gates)},
            {"files", std::move(files)}};
}

}  // namespace agentforge::kernel
