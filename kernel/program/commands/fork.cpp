// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/ids.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"
#include "replay/fork.hpp"

namespace agentforge::kernel {

namespace {

struct ForkArguments {
    std::string task;
    std::uint64_t from_step = 0;
    std::string feedback;
    std::string backend;  ///< Empty: that of the task.
    bool only_make = false;
};

Result<std::string> make_fork(Project& project, const std::string& parent, const ForkArguments& arguments) {
    if (!arguments.backend.empty()) { AF_CHECK(project.backend(arguments.backend, "")); }
    AF_TRY(const Repository repository, Repository::open(project.place().root));
    const TaskServices& services = project.services();
    ForkOptions options{.from_step = arguments.from_step, .configuration = project.settings_for_task()};
    options.seal = [&project](json::object& configuration) { return project.seal(configuration); };
    return fork_task({project.tasks(), repository, services.clock, project.ids(), services.redactor}, parent, options);
}

int run_fork(Program& program, Project& project, const std::string& parent, const ForkArguments& arguments) {
    const auto id = make_fork(project, parent, arguments);
    if (!id.ok()) { return program.fail(id.error()); }
    if (!arguments.only_make) {
        if (!program.json_output && !program.quiet) {
            program.out << "Forked " << short_id(*id) << " from " << short_id(parent) << " after step " << arguments.from_step
                        << "\n";
        }
        const auto result = project.controller().resume(*id, arguments.feedback);
        return result.ok() ? print_outcome(program, project, *result) : program.fail(result.error());
    }
    if (program.json_output) {
        program.print_json({{"task_id", *id}, {"parent", parent}, {"from_step", arguments.from_step}});
    } else {
        program.out << "Forked: " << short_id(*id) << "\n"
                    << "  from " << short_id(parent) << " after step " << arguments.from_step << "\n"
                    << "  continue with: agentforge resume " << short_id(*id) << "\n";
    }
    return 0;
}

}  // namespace

void add_fork(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<ForkArguments>();
    const Command command = add_subcommand(app, "fork", "Start a separate task from a step of another");
    add_option(*command, "task", arguments->task, newest_task_help)->type_name("TASK");
    add_option(*command, "--from-step", arguments->from_step,
               "Continue after this step; `agentforge logs TASK` shows the steps' numbers")
        ->type_name("N")
        ->required()
        ->positive();
    const Option feedback = add_option(*command, "--with-feedback", arguments->feedback,
                                       "Add this message to every context that the model gets in the continued stage");
    feedback->type_name("TEXT");
    add_option_function(
        *command, "--backend",
        [&program, arguments](const std::string& name) {
            arguments->backend = name;
            program.settings.emplace_back("llm.backend", name);
        },
        "Model backend of the fork (default: that of the task)")
        ->type_name("BACKEND");
    add_option_function(
        *command, "--model", [&program](const std::string& name) { program.settings.emplace_back("llm.model", name); },
        "Model of the fork (default: that of the task)")
        ->type_name("NAME");
    const Option only_make = add_flag(*command, "--no-resume", arguments->only_make,
                                      "Only create the fork; continue it later with `agentforge resume`");
    only_make->excludes(feedback);
    add_run_output(command, program);
    command->footer("Example:  agentforge fork 1f2e3d4c --from-step 23 --with-feedback \"Leave the old endpoint as it is\"");
    command->callback([&program, arguments] {
        program.command = [&program, arguments] {
            if (!arguments->feedback.empty()) {
                if (const auto fits = check_guidance(arguments->feedback); !fits.ok()) { return program.fail(fits.error()); }
            }
            const auto id = task_or_newest(program, arguments->task);
            if (!id.ok()) { return program.fail(id.error()); }
            return with_task(program, *id, [&](Project& project, const std::string& task) {
                return run_fork(program, project, task, *arguments);
            });
        };
    });
}

}  // namespace agentforge::kernel
