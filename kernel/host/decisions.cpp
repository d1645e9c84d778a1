// SPDX-License-Identifier: Apache-2.0

#include "host/command_line.hpp"
#include "host/outcome.hpp"

namespace agentforge::kernel {

namespace {

using Decide = std::function<Result<void>(PipelineController&, const std::string&)>;

int decide_and_resume(Program& program, const std::string& task, const Decide& decide) {
    return with_task(program, task, [&](Project& project, const std::string& id) {
        if (const auto decided = decide(project.controller(), id); !decided.ok()) { return program.fail(decided.error()); }
        return resume_and_tell(program, project, id);
    });
}

}  // namespace

void add_decisions(CLI::App& app, Program& program) {
    const auto add = [&](const char* name, const char* help, const char* example) {
        auto task = std::make_shared<std::string>();
        const Command command = add_subcommand(app, name, help);
        add_option(*command, "task", *task, "The task's id, or enough of it")->type_name("TASK")->required();
        add_run_output(command, program);
        command->footer(example);
        return std::pair{command, task};
    };
    const auto [approve, approved] = add("approve", "Accept what the task shows, and go on", "Example:  agentforge approve 1f2e3d4c");
    approve->callback([&program, task = approved] {
        program.command = [&program, task] {
            return decide_and_resume(program, *task, [](PipelineController& controller, const std::string& id) { return controller.approve(id); });
        };
    });
    const auto [reject, rejected] = add("reject", "Refuse what the task shows; the task ends", "Example:  agentforge reject 1f2e3d4c");
    reject->callback([&program, task = rejected] {
        program.command = [&program, task] {
            return decide_and_resume(program, *task, [](PipelineController& controller, const std::string& id) { return controller.reject(id); });
        };
    });
    const auto [feedback, revised] = add("feedback", "Say what to change in what the task shows; its stage runs again",
                                         "Example:  agentforge feedback 1f2e3d4c \"Add rate limiting to the specification\"");
    auto text = std::make_shared<std::string>();
    add_option(*feedback, "text", *text, "What to change")->type_name("COMMENT")->required();
    feedback->callback([&program, task = revised, text] {
        program.command = [&program, task, text] {
            return decide_and_resume(program, *task, [text](PipelineController& controller, const std::string& id) {
                return controller.provide_feedback(id, *text);
            });
        };
    });
}

}  // namespace agentforge::kernel
