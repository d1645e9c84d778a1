// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "host/outcome.hpp"

namespace agentforge::kernel {

void add_resume(CLI::App& app, Program& program) {
    auto task = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("resume", "Go on with a task after an interruption, a failure or an answer");
    command->add_option("task", *task, "The task's id, or enough of it")->required();
    command->add_flag_callback("--wait", [&program] { program.settings.emplace_back("escalation.wait_seconds", "604800"); },
                               "Wait for a person where one is needed");
    command->add_flag("--json", program.json_output, "Answer as JSON on standard output, without progress");
    command->add_flag("--quiet,-q", program.quiet, "No progress");
    command->footer("Example:  agentforge resume task-20260102-add-oauth2-authentication-1f2e3d4c");
    command->callback([&program, task] {
        program.command = [&program, task] {
            return with_task(program, *task, [&program](Project& project, const std::string& id) { return resume_and_tell(program, project, id); });
        };
    });
}

}  // namespace agentforge::kernel
