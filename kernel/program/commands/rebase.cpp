// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/ids.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/terminal/next_commands.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

struct RebaseArguments {
    std::string task;
    bool check = false;
};

int run_rebase(Program& program, Project& project, const std::string& id, bool check) {
    const auto result = project.controller().rebase(id, check);
    if (!result.ok()) { return program.fail(with_status_and_command(result.error(), project.tasks(), id)); }
    if (program.json_output) {
        program.print_json({{"task_id", id},
                            {"rebased", result->done},
                            {"drift", to_json(result->drift)},
                            {"branch", result->branch},
                            {"replaced", result->replaced},
                            {"commit", result->done ? result->commit : result->replaced},
                            {"gate", result->summary},
                            {"commit_hooks", result->hooks}});
        return 0;
    }
    program.out << printable(describe(result->drift, result->since_rebase), 500) << "\n";
    if (!result->done) {
        program.out << (result->drift.moved() ? "It can be rebased: " + program.with_place("agentforge rebase " + short_id(id))
                                              : std::string("There is nothing to rebase."))
                    << "\n";
        return 0;
    }
    program.out << "Rebased: " << short_id(id) << "\n"
                << "  commit " << result->commit << " on branch " << result->branch << " (was " << result->replaced.substr(0, 12)
                << ")\n"
                << "  gate:    " << printable(result->summary, 300) << "\n";
    if (result->hooks != "none") { program.out << "  hooks:   " << printable(result->hooks, 300) << "\n"; }
    if (result->pushed_before) {
        program.out << "  The pushed branch is still the old one; update it: git push --force-with-lease REMOTE "
                    << result->branch << "\n";
    }
    return 0;
}

}  // namespace

void add_rebase(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<RebaseArguments>();
    const Command command =
        add_subcommand(app, "rebase", "Rebase a delivered commit onto the newest base, and run its gates again");
    add_option(*command, "task", arguments->task, only_task_help)->type_name("TASK");
    add_flag(*command, "--check", arguments->check, "Only report how the base has moved and whether the change merges with it");
    add_run_output(command, program);
    command->footer("Example:  agentforge rebase 1f2e3d4c");
    command->callback([&program, arguments] {
        program.command = [&program, arguments] {
            return with_fitting_task(
                program, arguments->task, "has delivered a change",
                [](const TaskOverview& each) { return each.summary.status == "completed"; },
                [&](Project& project, const std::string& id) { return run_rebase(program, project, id, arguments->check); });
        };
    });
}

}  // namespace agentforge::kernel
