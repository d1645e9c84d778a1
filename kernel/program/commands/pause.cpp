// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/ids.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/terminal/next_commands.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

int run_pause(Program& program, const std::string& task, const std::string& reason, PauseWhen when) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const TaskStore store(place->agentforge);
    const auto id = task_or_only(program, store, task, "is running", [](const TaskOverview& each) { return each.running; });
    if (!id.ok()) { return program.fail(id.error()); }
    if (!TaskLock::holder(store.paths(*id))) {
        const auto state = read_task_state(store, *id);
        if (!state.ok()) { return program.fail(state.error()); }
        return program.fail(Error{"AF-CLI-074", "no process runs the task, so there is nothing to pause", "task " + short_id(*id),
                                  status_and_command(*state, overview_of(*state, {}, store.paths(*id))), ErrorKind::conflict});
    }
    if (const auto asked = ask_to_pause(store, *id, reason, when); !asked.ok()) { return program.fail(asked.error()); }
    if (program.json_output) {
        program.print_json({{"task_id", *id},
                            {"asked_to_pause", true},
                            {"when", when == PauseWhen::at_once ? "at_once" : "after_step"},
                            {"reason", reason}});
    } else {
        program.out << "Asked the running process to pause" << (when == PauseWhen::at_once ? ": " : " after its step: ")
                    << short_id(*id) << "\n  continue with: " << program.with_place("agentforge resume " + short_id(*id)) << "\n";
    }
    return 0;
}

}  // namespace

void add_pause(CLI::App& app, Program& program) {
    struct Arguments {
        std::string task;
        std::string reason = "at your request";
        bool after_step = false;
    };
    auto arguments = std::make_shared<Arguments>();
    const Command command =
        add_subcommand(app, "pause", "Ask the running process to save the task and exit now; `agentforge resume` continues it");
    add_option(*command, "task", arguments->task, only_task_help)->type_name("TASK");
    add_option(*command, "--reason", arguments->reason, "The reason, for the journal")->type_name("TEXT");
    add_flag(*command, "--after-step", arguments->after_step, "Finish the current step first, so that no model call is repeated");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer(
        "Examples:\n  agentforge pause 1f2e3d4c --reason \"the machine is needed\"\n  agentforge pause 1f2e3d4c --after-step");
    command->callback([&program, arguments] {
        program.command = [&program, arguments] {
            return run_pause(program, arguments->task, arguments->reason,
                             arguments->after_step ? PauseWhen::after_step : PauseWhen::at_once);
        };
    });
}

}  // namespace agentforge::kernel
