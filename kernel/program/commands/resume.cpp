// SPDX-License-Identifier: Apache-2.0

#include "aggregate/figures.hpp"
#include "program/command_line.hpp"
#include "program/commands/detach.hpp"
#include "program/commands/sets.hpp"
#include "program/project/chosen_task.hpp"
#include "program/sets/find_set.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

void add_resume(CLI::App& app, Program& program) {
    auto task = std::make_shared<std::string>();
    auto detached = std::make_shared<bool>(false);
    auto guidance = std::make_shared<std::string>();
    const Command command =
        add_subcommand(app, "resume", "Continue a task, or a set of tasks, after an interruption, a failure or an answer");
    add_option(*command, "task", *task,
               "A task's id, or a unique part, or a set's id (set-…); default: the only task that can be resumed")
        ->type_name("TASK");
    add_flag_callback(
        *command, "--wait", [&program] { program.settings.emplace_back("escalation.wait_seconds", "604800"); },
        "If a person is needed, wait for the answer");
    add_flag(*command, "--detach", *detached, "Continue in the background; follow it with `agentforge attach`");
    add_option(*command, "--say", *guidance, "Add this message to every context that the model gets in the continued stage")
        ->type_name("TEXT");
    add_run_output(command, program);
    command->footer(
        "Examples:\n  agentforge resume task-20260102-add-oauth2-authentication-1f2e3d4c\n  agentforge resume 1f2e3d4c --say \"Leave the old endpoint as it is; write tests only for the new one\"");
    command->callback([&program, task, detached, guidance] {
        program.command = [&program, task, detached, guidance] {
            if (is_set_id(*task)) {
                if (guidance->empty() && !*detached) { return resume_set(program, *task); }
                return program.fail(Error{"AF-SET-014",
                                          "--say and --detach work for one task, but a set has tasks in several repositories",
                                          *task, "agentforge --repo NAME resume TASK --say \"…\"", ErrorKind::invalid});
            }
            if (!guidance->empty()) {
                if (const auto fits = check_guidance(*guidance); !fits.ok()) { return program.fail(fits.error()); }
            }
            const auto run = [&] {
                return with_fitting_task(
                    program, *task, "can be resumed",
                    [](const TaskOverview& each) {
                        const std::string condition = state_name(each);
                        return condition == "paused" || condition == "interrupted" || condition == "failed";
                    },
                    [&](Project& project, const std::string& id) { return resume_open_task(program, project, id, *guidance); },
                    // Reports what the task waits for, or why an answer cannot be used. --say answers a question.
                    [](const TaskOverview& each) { return waits_for_person(each); });
            };
            return *detached ? detach(program, run) : run();
        };
    });
}

}  // namespace agentforge::kernel
