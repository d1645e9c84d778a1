// SPDX-License-Identifier: Apache-2.0

#include "host/command_line.hpp"
#include "host/detach.hpp"
#include "host/outcome.hpp"

namespace agentforge::kernel {

void add_resume(CLI::App& app, Program& program) {
    auto task = std::make_shared<std::string>();
    auto detached = std::make_shared<bool>(false);
    const Command command = add_subcommand(app, "resume", "Go on with a task after an interruption, a failure or an answer");
    add_option(*command, "task", *task, "The task's id, or enough of it")->type_name("TASK")->required();
    add_flag_callback(*command, "--wait", [&program] { program.settings.emplace_back("escalation.wait_seconds", "604800"); },
                               "Wait for a person where one is needed");
    add_flag(*command, "--detach", *detached, "Go on in a process of its own; `agentforge logs --follow` shows what it does");
    add_run_output(command, program);
    command->footer("Example:  agentforge resume task-20260102-add-oauth2-authentication-1f2e3d4c");
    command->callback([&program, task, detached] {
        program.command = [&program, task, detached] {
            const auto go_on = [&] { return resume_and_tell(program, *task); };
            return *detached ? detach(program, go_on) : go_on();
        };
    });
}

}  // namespace agentforge::kernel
