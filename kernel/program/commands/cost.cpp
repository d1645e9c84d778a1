// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ostream>

#include "aggregate/figures.hpp"
#include "base/clock.hpp"
#include "cost/limits.hpp"
#include "cost/prices.hpp"
#include "pipeline/budget.hpp"
#include "pipeline/session.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

using Group = std::pair<std::string, Spend>;

constexpr std::size_t widest_name = 40;

std::string shown_name(const std::string& name) { return name.empty() ? "(not named)" : printable(name, widest_name); }

std::string shown_cost(const Spend& spend) {
    if (spend.cost_known()) { return money(spend.cost_microusd); }
    return spend.unpriced == spend.calls + spend.lost ? "unknown" : "at least " + money(spend.cost_microusd);
}

void show_groups(std::ostream& out, const char* title, const std::vector<Group>& groups) {
    out << fmt::format("\n  {:<28} {:>6} {:>9} {:>9} {:>9} {:>9}  {}\n", title, "calls", "input", "cached", "as tokens", "output",
                       "cost");
    for (const auto& [name, spend] : groups) {
        out << fmt::format("    {:<26} {:>6} {:>9} {:>9} {:>9} {:>9}  {}\n", shown_name(name), spend.calls + spend.lost,
                           spend.input_tokens, spend.cached_input_tokens, spend.input_token_equivalents(), spend.output_tokens,
                           shown_cost(spend));
    }
}

std::string limits_in_words(const Limits& limits, const Spend& spend, std::uint64_t steps, std::uint64_t wall_ms) {
    std::string text;
    const auto add = [&](const char* name, const std::optional<std::uint64_t>& limit, std::uint64_t used,
                         const std::string& written) {
        if (!limit) { return; }
        text +=
            (text.empty() ? "" : ", ") + std::string(name) + " " + written +
            fmt::format(" ({} % used)",
                        used >= *limit ? 100 : static_cast<int>(100.0 * static_cast<double>(used) / static_cast<double>(*limit)));
    };
    add("max_cost_usd", limits.cost_microusd, spend.cost_microusd, limits.cost_microusd ? money(*limits.cost_microusd) : "");
    add("max_tokens", limits.tokens, spend.tokens(), std::to_string(limits.tokens.value_or(0)));
    add("max_steps", limits.steps, steps, std::to_string(limits.steps.value_or(0)));
    add("max_wall_time", limits.wall_ms, wall_ms, time_span(limits.wall_ms.value_or(0)));
    return text;
}

json::array groups_json(const std::vector<Group>& groups) {
    json::array out;
    for (const auto& [name, spend] : groups) {
        json::object one{{"name", name}};
        for (auto& [key, value] : spend_json(spend)) { one[key] = value; }
        out.push_back(std::move(one));
    }
    return out;
}

int show_cost(Program& program, const std::string& task) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const TaskStore store(place->agentforge);
    const auto id = task_or_newest(program, store, task);
    if (!id.ok()) { return program.fail(id.error()); }
    const auto state = read_task_state(store, *id);
    if (!state.ok()) { return program.fail(state.error()); }
    const Ledger& ledger = state->ledger;
    const GateTime& gates = state->gate_figures.time;
    const Spend total = ledger.total();
    const records::CostingInForce& costing = state->costing;
    const auto price_lists = costing.prices.value_or(std::vector<records::PriceList>());
    const TaskLimits limits = costing.limits ? TaskLimits::from_record(*costing.limits) : TaskLimits{};
    const bool from_transcript = answered_from_transcript(store.paths(*id));
    const bool ended_while_running = state->status == TaskStatus::running && !TaskLock::holder(store.paths(*id));
    if (program.json_output) {
        json::array unpriced;
        for (const std::string& model : ledger.unpriced_models()) { unpriced.emplace_back(model); }
        json::array prices;
        for (const records::PriceList& list : price_lists) { prices.push_back(records::to_fields(list)); }
        program.print_json({{"task_id", *id},
                            {"status", to_string(state->status)},
                            {"total", spend_json(total)},
                            {"by_stage", groups_json(ledger.by(&LedgerEntry::stage))},
                            {"by_agent", groups_json(ledger.by(&LedgerEntry::agent))},
                            {"by_model", groups_json(ledger.by(&LedgerEntry::model))},
                            {"entries", ledger.to_json()},
                            {"unpriced_models", std::move(unpriced)},
                            {"steps", state->steps},
                            {"wall_time_ms", state->wall_ms()},
                            {"gate_time", to_json(gates)},
                            {"limits", costing.limits ? records::to_fields(*costing.limits) : json::object()},
                            {"prices", std::move(prices)},
                            {"from_transcript", from_transcript},
                            {"call_may_be_missing", ended_while_running}});
        return 0;
    }
    program.out << *id << "  " << shown_status(store, *state) << "\n  \"" << printable(state->request, 400) << "\"\n\n"
                << "  cost    " << printable(cost_of_task(store.paths(*id), total, ledger.unpriced_models()), 1000) << "\n"
                << "  calls   " << total.calls + total.lost;
    if (total.lost > 0) {
        program.out << ", " << total.lost << " of them without a recorded answer (counted as the most that they can have used)";
    }
    if (total.estimated > total.lost) { program.out << ", the tokens of " << total.estimated - total.lost << " estimated"; }
    const std::string written = total.cache_write_input_tokens > 0
                                    ? fmt::format(", {} written to the cache", total.cache_write_input_tokens)
                                    : std::string();
    program.out << fmt::format(
        "\n  tokens  {} in ({} of them cached{}), {} out\n          the input costs as much as {} uncached tokens (a cache read counts 0.1, a cache write 1.25)\n  time    {}, {} steps\n",
        total.input_tokens, total.cached_input_tokens, written, total.output_tokens, total.input_token_equivalents(),
        human_duration(std::chrono::milliseconds(state->wall_ms())), state->steps);
    if (gates.total.count() > 0) { program.out << "  gates   " << in_words(gates) << "\n"; }
    if (from_transcript) {
        program.out << "\n  The figures are those of the recorded calls. They cost: "
                    << printable(cost_in_words(total, ledger.unpriced_models()), 1000) << "\n";
    }
    if (ended_while_running) {
        program.out
            << "\n  The process that ran it has ended. A call may have been in progress; it is counted when the task continues.\n";
    }
    if (!ledger.entries().empty()) {
        show_groups(program.out, "stage", ledger.by(&LedgerEntry::stage));
        show_groups(program.out, "agent", ledger.by(&LedgerEntry::agent));
        show_groups(program.out, "model", ledger.by(&LedgerEntry::model));
    }
    if (limits.any()) { program.out << "\n"; }
    if (limits.task.any()) {
        program.out << "  limits: " << limits_in_words(limits.task, total, state->steps, state->wall_ms()) << "\n";
    }
    for (const StageState& stage : state->stages) {
        const auto own = limits.stages.find(stage.name);
        if (own == limits.stages.end()) { continue; }
        program.out << "  limits of " << stage.name << ": "
                    << limits_in_words(own->second, ledger.of_stage(stage.name), stage.steps, stage.wall_ms) << "\n";
    }
    if (!price_lists.empty()) {
        std::string dates;
        for (const records::PriceList& list : price_lists) { dates += (dates.empty() ? "" : ", your own of ") + *list.as_of; }
        program.out << "\n  Prices of " << printable(dates) << ", unless the model's command reported the cost itself.\n";
    }
    return 0;
}

}  // namespace

json::object spend_json(const Spend& spend) {
    json::object out = to_json(spend);
    out.erase("dearest_microusd");
    out.erase("largest_input_tokens");
    out["input_token_equivalents"] = spend.input_token_equivalents();
    out["cost_known"] = spend.cost_known();
    return out;
}

void add_cost(CLI::App& app, Program& program) {
    auto task = std::make_shared<std::string>();
    const Command command =
        add_subcommand(app, "cost", "Show what a task's model calls used and cost, by stage, agent and model");
    add_option(*command, "task", *task, newest_task_help)->type_name("TASK");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Example:  agentforge cost 1f2e3d4c");
    command->callback([&program, task] {
        program.pages = program.folds = true;
        program.command = [&program, task] { return show_cost(program, *task); };
    });
}

}  // namespace agentforge::kernel
