// SPDX-License-Identifier: Apache-2.0
// `agentforge metrics TASK`: shows the usage of each stage of a task: time, tokens and their share of the limit, retries, cycles,
// plan steps.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "aggregate/figures.hpp"
#include "base/text.hpp"
#include "cost/limits.hpp"
#include "pipeline/task_session.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

TaskLimits limits_of(const TaskState& state) {
    return state.costing.limits ? TaskLimits::from_record(*state.costing.limits) : TaskLimits{};
}

/// Returns the stage's own token limit, or its share of the task's limit. A stage may also use what earlier stages left.
std::optional<std::uint64_t> own_tokens(const TaskLimits& limits, const StageTemplate& stage) {
    if (const auto own = limits.stages.find(stage.name); own != limits.stages.end() && own->second.tokens) {
        return own->second.tokens;
    }
    if (!limits.task.tokens || stage.budget_share == 0) { return std::nullopt; }
    return *limits.task.tokens * stage.budget_share / 100;
}

unsigned sent_back_by(const TaskState& state, const std::string& stage) {
    return static_cast<unsigned>(std::ranges::count(state.resumption.cycles, stage, &Resumption::PastCycle::from));
}

json::object stage_metrics(const TaskState& state, std::size_t index, const TaskLimits& limits) {
    const StageState& stage = state.stages[index];
    const StageTemplate& shape = state.pipeline.stages[index];
    json::object object{{"stage", stage.name},
                        {"part", shape.part},
                        {"status", to_string(stage.status)},
                        {"duration_ms", stage.duration_ms},
                        {"wall_ms", stage.wall_ms},
                        {"tokens", figures_of(state, stage).tokens},
                        {"budget_share", shape.budget_share},
                        {"visits", stage.visits},
                        {"retries", stage.retries},
                        {"cycles", stage.cycles},
                        {"sent_back", sent_back_by(state, stage.name)},
                        {"steps", stage.steps}};
    if (const auto budget = own_tokens(limits, shape)) { object["token_budget"] = *budget; }
    if (stage.plan_step) { object["plan_step"] = records::to_fields(*stage.plan_step); }
    return object;
}

int show_metrics(Program& program, const std::string& task) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const TaskStore store(place->agentforge);
    const auto id = task_or_newest(program, store, task);
    if (!id.ok()) { return program.fail(id.error()); }
    const auto state = read_task_state(store, *id);
    if (!state.ok()) { return program.fail(state.error()); }
    const TaskLimits limits = limits_of(*state);
    if (program.json_output) {
        json::array stages;
        for (std::size_t at = 0; at < state->stages.size(); ++at) { stages.push_back(stage_metrics(*state, at, limits)); }
        program.print_json({{"task_id", *id},
                            {"status", to_string(state->status)},
                            {"pipeline", state->pipeline.name},
                            {"wall_ms", state->wall_ms()},
                            {"tokens", cost_figures(*state).tokens},
                            {"cycles", state->resumption.cycles.size()},
                            {"stages", std::move(stages)}});
        return 0;
    }
    program.out << short_id(*id) << "  " << shown_status(store, *state) << "\n  \"" << printable(state->request, 400) << "\"\n\n"
                << fmt::format("  {:<10} {:<9} {:>9} {:>20} {:>7} {:>6} {:>9}  {}\n", "stage", "part", "time", "tokens",
                               "retries", "cycles", "sent back", "steps");
    for (std::size_t at = 0; at < state->stages.size(); ++at) {
        const StageState& stage = state->stages[at];
        const auto budget = own_tokens(limits, state->pipeline.stages[at]);
        const std::string tokens =
            std::to_string(figures_of(*state, stage).tokens) + (budget ? " / " + std::to_string(*budget) : "");
        const std::string plan =
            stage.plan_step ? fmt::format(", {} of {} of the plan", stage.plan_step->number, stage.plan_step->of) : "";
        program.out << fmt::format("  {:<10} {:<9} {:>9} {:>20} {:>7} {:>6} {:>9}  {}{}\n", printable(stage.name, 40),
                                   state->pipeline.stages[at].part, human_duration(std::chrono::milliseconds(stage.duration_ms)),
                                   tokens, stage.retries, stage.cycles, sent_back_by(*state, stage.name), stage.steps, plan);
    }
    program.out << fmt::format("\n  {} tokens, sent back {} time{}, {} while it ran\n", cost_figures(*state).tokens,
                               state->resumption.cycles.size(), state->resumption.cycles.size() == 1 ? "" : "s",
                               human_duration(std::chrono::milliseconds(state->wall_ms())));
    return 0;
}

}  // namespace

void add_metrics(CLI::App& app, Program& program) {
    auto task = std::make_shared<std::string>();
    const Command command =
        add_subcommand(app, "metrics", "Show what each stage of a task used: time, tokens of its budget, retries, cycles, steps");
    add_option(*command, "task", *task, newest_task_help)->type_name("TASK");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Example:  agentforge metrics 1f2e3d4c");
    command->callback([&program, task] {
        program.pages = program.wraps = true;
        program.command = [&program, task] { return show_metrics(program, *task); };
    });
}

}  // namespace agentforge::kernel
