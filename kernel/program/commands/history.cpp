// SPDX-License-Identifier: Apache-2.0
// `agentforge history TASK`: shows a task's path through its stages: each visit and how it ended, and each return to an earlier
// stage with its reason.
#include <fmt/format.h>

#include <ostream>

#include "base/ids.hpp"
#include "base/text.hpp"
#include "pipeline/task_session.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

struct HistoryArguments {
    std::string task;
    bool cycles = false;
};

json::object to_json(const Resumption::PastCycle& cycle, std::size_t number) {
    return {{"number", number}, {"from", cycle.from}, {"to", cycle.to}, {"reason", cycle.reason}, {"time", cycle.time}};
}

/// One line of the history: an event of a stage.
struct Waypoint {
    std::string time;
    std::string stage;
    std::string what;
    std::string detail;
};

/// Converts a record that enters, ends or leaves a stage.
struct Waypoints {
    using Said = std::optional<Waypoint>;
    Said operator()(const records::StageStarted& started) const {
        std::string how = fmt::format("visit {}", *started.visit);
        if (*started.attempt > 1) { how += fmt::format(", attempt {}", *started.attempt); }
        if (*started.cycle > 0) { how += fmt::format(", cycle {}", *started.cycle); }
        return Waypoint{"", started.stage, "entered", how};
    }
    Said operator()(const records::CallStarted& started) const {
        if (!started.plan_step) { return std::nullopt; }
        return Waypoint{"", *started.stage, "works", plan_step_text(*started.plan_step)};
    }
    Said operator()(const records::StageFailed& failed) const {
        return Waypoint{"", failed.stage, "failed", failed.error.code + " " + failed.error.message};
    }
    Said operator()(const records::StageSkipped& skipped) const { return Waypoint{"", skipped.stage, "skipped", skipped.reason}; }
    Said operator()(const records::StageCompleted& completed) const { return Waypoint{"", completed.stage, "completed", ""}; }
    Said operator()(const records::ArtifactRejected& rejected) const {
        return Waypoint{"", rejected.stage, "refused", rejected.errors.empty() ? "" : rejected.errors.front()};
    }
    Said operator()(const records::ReviewFinished& review) const {
        return Waypoint{"", review.stage, "reviewed", fmt::format("by {}: {} blocking", review.reviewer, review.blocking)};
    }
    Said operator()(const records::ApprovalDecided& decided) const {
        if (records::decision_of(decided) != "reject") { return std::nullopt; }
        return Waypoint{"", *decided.stage, "rejected", *decided.feedback};
    }
    Said operator()(const records::CycleStarted& cycle) const {
        return Waypoint{"", *cycle.to, "sent back", "from " + *cycle.stage + ": " + *cycle.reason};
    }
    Said operator()(const records::EscalationRaised& raised) const {
        return Waypoint{"", raised.stage, "asked", raised.escalation_id};
    }
    Said operator()(const records::EscalationResolved& resolved) const {
        return Waypoint{"", *resolved.stage, "answered",
                        resolved.escalation_id + (resolved.resolved_by->empty() ? "" : " by " + *resolved.resolved_by)};
    }
    template <class Other>
    Said operator()(const Other&) const {
        return std::nullopt;
    }
};

std::vector<Waypoint> waypoints_of(const std::vector<Record>& all) {
    std::vector<Waypoint> way;
    for (const Record& record : all) {
        const auto read = records::read_record(record.body);
        if (!read.ok()) { continue; }
        if (auto point = std::visit(Waypoints{}, read->body)) {
            point->time = read->envelope.timestamp;
            way.push_back(std::move(*point));
        }
    }
    return way;
}

int show_history(Program& program, const HistoryArguments& arguments) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const TaskStore store(place->agentforge);
    const auto id = task_or_newest(program, store, arguments.task);
    if (!id.ok()) { return program.fail(id.error()); }
    std::vector<Record> all;
    const auto state = read_task_state(store, *id, &all);
    if (!state.ok()) { return program.fail(state.error()); }
    const auto& cycles = state->resumption.cycles;
    const std::vector<Waypoint> way = arguments.cycles ? std::vector<Waypoint>() : waypoints_of(all);
    if (program.json_output) {
        json::array cycle_list;
        for (std::size_t at = 0; at < cycles.size(); ++at) { cycle_list.push_back(to_json(cycles[at], at + 1)); }
        json::object object{{"task_id", *id}, {"status", to_string(state->status)}, {"cycles", std::move(cycle_list)}};
        if (!arguments.cycles) {
            json::array way_list;
            for (const Waypoint& point : way) {
                way_list.push_back(
                    json::object{{"time", point.time}, {"stage", point.stage}, {"what", point.what}, {"detail", point.detail}});
            }
            object["way"] = std::move(way_list);
        }
        program.print_json(object);
        return 0;
    }
    program.out << short_id(*id) << "  " << shown_status(store, *state) << "\n  \"" << printable(state->request, 400) << "\"\n\n";
    for (const Waypoint& point : way) {
        program.out << fmt::format("  {}  {:<10} {}", point.time, printable(point.stage, 40), point.what);
        if (!point.detail.empty()) {
            program.out << std::string(point.what.size() < 10 ? 10 - point.what.size() : 0, ' ') << " "
                        << printable(point.detail, 400);
        }
        program.out << "\n";
    }
    if (!arguments.cycles) { return 0; }
    if (cycles.empty()) { program.out << "  never went back to an earlier stage\n"; }
    for (std::size_t at = 0; at < cycles.size(); ++at) {
        program.out << fmt::format("  {:>2}  {}  from {} back to {}\n      {}\n", at + 1, cycles[at].time,
                                   printable(cycles[at].from, 40), printable(cycles[at].to, 40),
                                   printable(cycles[at].reason, 1000));
    }
    for (std::size_t at = 0; at < state->stages.size(); ++at) {
        if (state->stages[at].cycles == 0) { continue; }
        program.out << fmt::format(
            "  {}: {} of at most {} before AgentForge asks a person\n", printable(state->stages[at].name, 40),
            state->stages[at].cycles - state->stages[at].cycles_before, state->pipeline.stages[at].max_cycles);
    }
    return 0;
}

}  // namespace

void add_history(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<HistoryArguments>();
    const Command command = add_subcommand(app, "history", "Show a task's path through its stages, and why it was sent back");
    add_option(*command, "task", arguments->task, newest_task_help)->type_name("TASK");
    add_flag(*command, "--cycles", arguments->cycles, "Only the returns to an earlier stage, with their reasons and limits");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Examples:\n  agentforge history 1f2e3d4c\n  agentforge history 1f2e3d4c --cycles");
    command->callback([&program, arguments] {
        program.pages = program.wraps = true;
        program.command = [&program, arguments] { return show_history(program, *arguments); };
    });
}

}  // namespace agentforge::kernel
