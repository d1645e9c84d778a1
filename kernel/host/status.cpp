// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ostream>

#include "base/text.hpp"
#include "base/clock.hpp"
#include "git/archives.hpp"
#include "host/command_line.hpp"
#include "host/display.hpp"
#include "host/outcome.hpp"
#include "host/project.hpp"

namespace agentforge::kernel {

namespace {

struct StatusArguments {
    std::string task;
    std::string state;
    bool all = false;
};

constexpr std::size_t shown_by_default = 20;

std::string symbol(std::string_view status, bool waits) {
    if (waits) { return "!"; }
    if (status == "completed") { return "+"; }
    if (status == "failed" || status == "aborted") { return "x"; }
    return "*";
}

json::object summary_json(const TaskSummary& task) {
    return {{"task_id", task.task_id},       {"request", task.request},
            {"status", task.status},         {"pipeline", task.pipeline},
            {"current_stage", task.current_stage}, {"created_at", task.created_at},
            {"updated_at", task.updated_at}, {"waiting_for", task.waiting_for}};
}

/// Newest first; what was left out is said.
int list_tasks(Program& program, const ProjectPlace& place, const StatusArguments& arguments) {
    const TaskStore store(place.agentforge);
    std::optional<std::string> filter;
    if (!arguments.state.empty()) {
        const auto status = parse_task_status(arguments.state);
        if (!status.ok()) { return program.fail(status.error()); }
        filter = arguments.state;
    }
    const auto listing = store.list(filter, 0);
    if (!listing.ok()) { return program.fail(listing.error()); }
    for (const Error& problem : listing->problems) { program.err << "agentforge: " << problem.to_string() << "\n"; }
    const std::size_t shown = arguments.all ? listing->tasks.size() : std::min(listing->tasks.size(), shown_by_default);
    if (program.json_output) {
        json::array tasks;
        for (std::size_t index = 0; index < shown; ++index) { tasks.push_back(summary_json(listing->tasks[index])); }
        program.print_json({{"tasks", std::move(tasks)}, {"total", listing->tasks.size()}});
        return 0;
    }
    std::size_t active = 0;
    std::size_t completed = 0;
    std::size_t waiting = 0;
    for (const TaskSummary& task : listing->tasks) {
        waiting += task.waiting_for.empty() ? 0 : 1;
        completed += task.status == "completed" ? 1 : 0;
        active += task.status == "running" || task.status == "pending" ? 1 : 0;
    }
    program.out << "AGENTFORGE STATUS  " << place.root.filename().string() << "\n"
                << "Active: " << active << "    Completed: " << completed << "    Waiting for a person: " << waiting << "\n";
    for (std::size_t index = 0; index < shown; ++index) {
        const TaskSummary& task = listing->tasks[index];
        program.out << fmt::format("\n{} {:<18} {:<9} {}\n    \"{}\"\n", symbol(task.status, !task.waiting_for.empty()), task.status, task.current_stage,
                                   task.task_id, printable(task.request, 100));
        if (!task.waiting_for.empty()) { program.out << "    waits for: " << task.waiting_for << "\n"; }
    }
    if (shown < listing->tasks.size()) { program.out << "\n… and " << listing->tasks.size() - shown << " more: agentforge status --all\n"; }
    if (listing->tasks.empty()) {
        const auto archived = archived_tasks(place.root);
        if (archived.ok() && !archived->empty()) {
            program.out << "\nNo task is here, and " << archived->size() << (archived->size() == 1 ? " is" : " are") << " kept in the repository: agentforge archive list\n";
        } else {
            program.out << "\nNo task yet. Begin with: agentforge start \"what you want\"\n";
        }
    }
    return 0;
}

/// The journal is what counts: the projection may be some records behind. Where the journal cannot be read, the projection is better than nothing.
Result<TaskState> load_state(Program& program, const TaskStore& store, const std::string& id) {
    auto state = read_task_state(store, id);
    if (state.ok()) { return state; }
    if (const auto projection = store.load_state(id); projection.ok()) {
        if (auto shown = task_state_from_json(*projection); shown.ok()) {
            program.err << state.error().to_string() << "\nWhat follows is from state.yaml.\n";
            return shown;
        }
    }
    return state;
}

int show_task(Program& program, const ProjectPlace& place, const std::string& task) {
    const TaskStore store(place.agentforge);
    const auto id = store.resolve(task);
    if (!id.ok()) { return program.fail(id.error()); }
    const auto state = load_state(program, store, *id);
    if (!state.ok()) { return program.fail(state.error()); }
    if (program.json_output) {
        json::object object = to_json(*state);
        object.erase("pipeline_template");
        program.print_json(object);
        return 0;
    }
    program.out << state->task_id << "  " << to_string(state->status) << "\n  \"" << printable(state->request, 400) << "\"\n"
                << "  pipeline " << state->pipeline.name << ", started " << state->created_at << ", last activity " << state->updated_at << "\n\n";
    for (const StageState& stage : state->stages) {
        program.out << fmt::format("  {:<10} {:<10} {:>3} steps {:>8} tokens {:>8}{}\n", stage.name, to_string(stage.status), stage.steps,
                                   stage.input_tokens + stage.output_tokens, human_duration(std::chrono::milliseconds(stage.duration_ms)),
                                   stage.error.empty() ? "" : "  " + printable(stage.error, 200));
    }
    if (const Spend spend = state->ledger.total(); spend.calls + spend.lost > 0) {
        program.out << "\n  cost " << cost_of_task(store, *id, spend, state->ledger.unpriced_models()) << "\n";
    }
    if (!state->gates.empty()) { program.out << "\n"; }
    for (const auto& [name, gate] : state->gates) {
        program.out << fmt::format("  gate {:<12} {} {}\n", name, gate.passed ? "passed" : "FAILED", printable(gate.summary, 200));
    }
    if (state->escalation) { program.out << "\n  waits for an answer to " << state->escalation->id << ": " << printable(state->escalation->question, 1000) << "\n"; }
    if (state->approval) { program.out << "\n  waits for approval " << state->approval->id << " of " << state->stage().artifact << "\n"; }
    if (!state->pause_reason.empty() && state->error.empty()) { program.out << "\n  paused: " << printable(state->pause_reason, 1000) << "\n"; }
    if (!state->error.empty()) { program.out << "\n  " << printable(state->error, 1000) << "\n"; }
    if (!state->commit.empty()) { program.out << "\n  commit " << state->commit << " on " << state->branch << "\n"; }
    for (const auto& [label, key] : {std::pair{"patch", "patch_file"}, {"request", "pr_url"}, {"hooks", "commit_hooks"}}) {
        const json::value* value = state->delivery.if_contains(key);
        if (value != nullptr && value->is_string() && !value->get_string().empty() && value->get_string() != "none") {
            program.out << fmt::format("  {:<6} {}\n", label, printable(std::string(value->get_string()), 300));
        }
    }
    if (const auto holder = TaskLock::holder(store.paths(*id))) {
        program.out << "\n  running now: process " << holder->pid << " on " << holder->host << " since " << holder->since << "\n";
    }
    return 0;
}

}  // namespace

void add_status(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<StatusArguments>();
    const Command command = add_subcommand(app, "status", "Show all tasks, or one");
    add_option(*command, "task", arguments->task, "The task's id, or enough of it; without it: all tasks");
    add_option(*command, "--state", arguments->state, "Only tasks with this status")->type_name("STATUS");
    add_flag(*command, "--all", arguments->all, "All tasks, not only the newest 20");
    add_flag(*command, "--json", program.json_output, "Answer as JSON");
    command->footer("Examples:\n  agentforge status\n  agentforge status 1f2e3d4c --json");
    command->callback([&program, arguments] {
        program.command = [&program, arguments] {
            const auto place = ProjectPlace::find(program);
            if (!place.ok()) { return program.fail(place.error()); }
            return arguments->task.empty() ? list_tasks(program, *place, *arguments) : show_task(program, *place, arguments->task);
        };
    });
}

}  // namespace agentforge::kernel
