// SPDX-License-Identifier: Apache-2.0

#include "host/command_line.hpp"
#include "host/outcome.hpp"

namespace agentforge::kernel {

void add_resume(CLI::App& app, Program& program) {
    auto task = std::make_shared<std::string>();
    const Command command = add_subcommand(app, "resume", "Go on with a task after an interruption, a failure or an answer");
    add_option(*command, "task", *task, "The task's id, or enough of it")->required();
    add_flag_callback(*command, "--wait", [&program] { program.settings.emplace_back("escalation.wait_seconds", "604800"); },
                               "Wait for a person where one is needed");
    add_flag(*command, "--json", program.json_output, "Answer as JSON on standard output, without progress");
    add_flag(*command, "--quiet,-q", program.quiet, "No progress");
    command->footer("Example:  agentforge resume task-20260102-add-oauth2-authentication-1f2e3d4c");
    command->callback([&program, task] {
        program.command = [&program, task] {
            return with_task(program, *task, [&program](Project& project, const std::string& id) { return resume_and_tell(program, project, id); });
        };
    });
}

}  // namespace agentforge::kernel
