// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/ids.hpp"
#include "program/command_line.hpp"
#include "program/commands/sets.hpp"
#include "program/project/chosen_task.hpp"
#include "program/sets/find_set.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

std::string_view word(AbortOutcome outcome) {
    switch (outcome) {
        case AbortOutcome::aborted:
            return "aborted";
        case AbortOutcome::asked_to_stop:
            return "asked_to_stop";
        case AbortOutcome::already_asked:
            return "already_asked";
        case AbortOutcome::finished:
            return "finished";  // The task had already ended. Only its leftovers are removed.
    }
    return "unknown";
}

std::string_view in_words(AbortOutcome outcome) {
    switch (outcome) {
        case AbortOutcome::aborted:
            return "Aborted";
        case AbortOutcome::asked_to_stop:
            return "Asked the running process to abort";
        case AbortOutcome::already_asked:
            return "Another command has already asked to abort";
        case AbortOutcome::finished:
            return "Already aborted";
    }
    return "Unknown";
}

int run_abort(Program& program, Project& project, const std::string& id, const std::string& reason) {
    const auto removed = project.tasks().remove_if_never_began(id);
    if (!removed.ok()) { return program.fail(removed.error()); }
    if (*removed) {
        if (program.json_output) {
            program.print_json(
                {{"task_id", id}, {"aborted", true}, {"asked_to_stop", false}, {"outcome", "removed"}, {"reason", reason}});
        } else {
            program.out << "Removed: " << short_id(id) << " never began: its process ended before it could start\n";
        }
        return 0;
    }
    const auto done = project.controller().abort(id, reason);
    if (!done.ok()) { return program.fail(done.error()); }
    if (program.json_output) {
        const bool stops_later = *done == AbortOutcome::asked_to_stop || *done == AbortOutcome::already_asked;
        program.print_json({{"task_id", id},
                            {"aborted", !stops_later},
                            {"asked_to_stop", stops_later},
                            {"outcome", word(*done)},
                            {"reason", reason}});
    } else {
        program.out << in_words(*done) << ": " << short_id(id) << "\n";
    }
    return 0;
}

}  // namespace

void add_abort(CLI::App& app, Program& program) {
    struct Arguments {
        std::string task;
        std::string reason = "at your request";
    };
    auto arguments = std::make_shared<Arguments>();
    const Command command = add_subcommand(app, "abort", "End a task for good; its journal stays");
    add_option(*command, "task", arguments->task,
               "A task's id, or a unique part, or a set's id (set-…); default: the only task that has not ended")
        ->type_name("TASK");
    add_option(*command, "--reason", arguments->reason, "The reason, for the journal")->type_name("TEXT");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Example:  agentforge abort 1f2e3d4c --reason \"wrong request\"");
    command->callback([&program, arguments] {
        program.command = [&program, arguments] {
            if (is_set_id(arguments->task)) { return abort_set(program, arguments->task, arguments->reason); }
            return with_fitting_task(
                program, arguments->task, "is open", [](const TaskOverview& each) { return !has_ended(each.summary); },
                [&](Project& project, const std::string& id) { return run_abort(program, project, id, arguments->reason); });
        };
    });
}

}  // namespace agentforge::kernel
