// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ostream>

#include "aggregate/figures.hpp"
#include "base/clock.hpp"
#include "cost/limits.hpp"
#include "cost/price_table.hpp"
#include "pipeline/budget.hpp"
#include "pipeline/task_session.hpp"
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

/// Prints the usage and cost of a task.
class CostReport {
public:
    CostReport(Program& program, const TaskStore& store, std::string id, TaskState state)
        : program_(program),
          store_(store),
          id_(std::move(id)),
          state_(std::move(state)),
          total_(state_.ledger.total()),
          price_lists_(state_.costing.prices.value_or(std::vector<records::PriceList>())),
          from_transcript_(answered_from_transcript(store.paths(id_))),
          ended_while_running_(state_.status == TaskStatus::running && !TaskLock::holder(store.paths(id_))) {}

    void print_as_json();
    void print();

private:
    void print_totals();
    void print_tokens();
    void print_remarks();
    void print_groups();
    void print_limits();
    void print_price_lists();

    Program& program_;
    const TaskStore& store_;
    const std::string id_;
    const TaskState state_;
    const Spend total_;
    const std::vector<records::PriceList> price_lists_;
    const bool from_transcript_;
    const bool ended_while_running_;
};

void CostReport::print_as_json() {
    const Ledger& ledger = state_.ledger;
    json::array unpriced;
    for (const std::string& model : ledger.unpriced_models()) { unpriced.emplace_back(model); }
    json::array prices;
    for (const records::PriceList& list : price_lists_) { prices.push_back(records::to_fields(list)); }
    program_.print_json({{"task_id", id_},
                         {"status", to_string(state_.status)},
                         {"total", spend_json(total_)},
                         {"by_stage", groups_json(ledger.by(&LedgerEntry::stage))},
                         {"by_agent", groups_json(ledger.by(&LedgerEntry::agent))},
                         {"by_model", groups_json(ledger.by(&LedgerEntry::model))},
                         {"entries", ledger.to_json()},
                         {"unpriced_models", std::move(unpriced)},
                         {"steps", state_.steps},
                         {"wall_time_ms", state_.wall_ms()},
                         {"gate_time", to_json(state_.gate_figures.time)},
                         {"limits", state_.costing.limits ? records::to_fields(*state_.costing.limits) : json::object()},
                         {"prices", std::move(prices)},
                         {"from_transcript", from_transcript_},
                         {"call_may_be_missing", ended_while_running_}});
}

void CostReport::print() {
    print_totals();
    print_tokens();
    print_remarks();
    print_groups();
    print_limits();
    print_price_lists();
}

void CostReport::print_totals() {
    program_.out << id_ << "  " << shown_status(store_, state_) << "\n  \"" << printable(state_.request, 400) << "\"\n\n"
                 << "  cost    " << printable(cost_of_task(store_.paths(id_), total_, state_.ledger.unpriced_models()), 1000)
                 << "\n"
                 << "  calls   " << total_.calls + total_.lost;
    if (total_.lost > 0) {
        program_.out << ", " << total_.lost << " of them without a recorded answer (counted at their maximum)";
    }
    if (total_.estimated > total_.lost) { program_.out << ", the tokens of " << total_.estimated - total_.lost << " estimated"; }
}

void CostReport::print_tokens() {
    const std::string written = total_.cache_write_input_tokens > 0
                                    ? fmt::format(", {} written to the cache", total_.cache_write_input_tokens)
                                    : std::string();
    program_.out << fmt::format(
        "\n  tokens  {} in ({} of them cached{}), {} out\n          the input costs as much as {} uncached tokens (a cache read counts 0.1, a cache write 1.25)\n  time    {}, {} steps\n",
        total_.input_tokens, total_.cached_input_tokens, written, total_.output_tokens, total_.input_token_equivalents(),
        human_duration(std::chrono::milliseconds(state_.wall_ms())), state_.steps);
    const GateTime& gates = state_.gate_figures.time;
    if (gates.total.count() > 0) { program_.out << "  gates   " << in_words(gates) << "\n"; }
}

void CostReport::print_remarks() {
    if (from_transcript_) {
        program_.out << "\n  The figures are those of the recorded calls. They cost: "
                     << printable(cost_in_words(total_, state_.ledger.unpriced_models()), 1000) << "\n";
    }
    if (ended_while_running_) {
        program_.out
            << "\n  The process that ran it has ended. A call may have been in progress; it is counted when the task continues.\n";
    }
}

void CostReport::print_groups() {
    const Ledger& ledger = state_.ledger;
    if (ledger.entries().empty()) { return; }
    show_groups(program_.out, "stage", ledger.by(&LedgerEntry::stage));
    show_groups(program_.out, "agent", ledger.by(&LedgerEntry::agent));
    show_groups(program_.out, "model", ledger.by(&LedgerEntry::model));
}

void CostReport::print_limits() {
    const TaskLimits limits = state_.costing.limits ? TaskLimits::from_record(*state_.costing.limits) : TaskLimits{};
    if (limits.any()) { program_.out << "\n"; }
    if (limits.task.any()) {
        program_.out << "  limits: " << limits_in_words(limits.task, total_, state_.steps, state_.wall_ms()) << "\n";
    }
    for (const StageState& stage : state_.stages) {
        const auto own = limits.stages.find(stage.name);
        if (own == limits.stages.end()) { continue; }
        program_.out << "  limits of " << stage.name << ": "
                     << limits_in_words(own->second, state_.ledger.of_stage(stage.name), stage.steps, stage.wall_ms) << "\n";
    }
}

void CostReport::print_price_lists() {
    if (price_lists_.empty()) { return; }
    std::string dates;
    for (const records::PriceList& list : price_lists_) { dates += (dates.empty() ? "" : ", your own of ") + *list.as_of; }
    program_.out << "\n  Prices of " << printable(dates) << ", unless the model's command reported the cost itself.\n";
}

int show_cost(Program& program, const std::string& task) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const TaskStore store(place->agentforge);
    const auto id = task_or_newest(program, store, task);
    if (!id.ok()) { return program.fail(id.error()); }
    auto state = read_task_state(store, *id);
    if (!state.ok()) { return program.fail(state.error()); }
    CostReport report(program, store, *id, std::move(*state));
    if (program.json_output) {
        report.print_as_json();
    } else {
        report.print();
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
        program.pages = program.wraps = true;
        program.command = [&program, task] { return show_cost(program, *task); };
    });
}

}  // namespace agentforge::kernel
