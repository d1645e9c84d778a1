// SPDX-License-Identifier: Apache-2.0
// `agentforge setup`: fetches the dependencies in the project's lockfiles. Running the command is the approval.
#include <ostream>

#include "base/text.hpp"
#include "pipeline/gates_without_task.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

struct SetupArguments {
    std::string task;
    bool show = false;
};

std::string command_text(const std::vector<std::string>& argv) {
    std::string text;
    for (const std::string& argument : argv) { text += (text.empty() ? "" : " ") + argument; }
    return text;
}

json::object setup_json(const Setup& setup) {
    json::array steps;
    for (const SetupStep& step : setup.steps) {
        steps.push_back(json::object{{"name", step.name},
                                     {"files", json::array(step.files.begin(), step.files.end())},
                                     {"command", json::array(step.argv.begin(), step.argv.end())},
                                     {"folder", step.folder},
                                     {"ready", step.ready}});
    }
    return {{"tree", setup.tree}, {"steps", std::move(steps)}};
}

void print_setup(Program& program, const Setup& setup) {
    for (const SetupStep& step : setup.steps) {
        std::string files;
        for (const std::string& file : step.files) { files += (files.empty() ? "" : ", ") + file; }
        program.out << (step.ready ? "ready      " : "missing    ") << printable(step.name, 60) << ": " << printable(files, 300)
                    << "\n"
                    << "           " << printable(command_text(step.argv), 1000) << "\n"
                    << "           in " << printable(step.folder, 400) << "\n";
    }
}

int run_setup(Program& program, const SetupArguments& arguments) {
    const auto progress = make_progress(program);
    auto project = Project::open(program, *progress, arguments.task);
    if (!project.ok()) { return program.fail(project.error()); }
    std::string tree;
    if (!arguments.task.empty()) {
        const auto id = resolve_task((*project)->tasks(), arguments.task);
        if (!id.ok()) { return program.fail(id.error()); }
        const auto state = (*project)->controller().get_status(*id);
        if (!state.ok()) { return program.fail(state.error()); }
        tree = state->tree;
    }
    const Stop stop{program.cancel, std::nullopt};
    auto setup = setup_dependencies((*project)->task_workspace_options(), (*project)->processes(), tree, false, stop);
    if (!setup.ok()) { return program.fail(setup.error()); }
    const bool all_there = std::ranges::all_of(setup->steps, &SetupStep::ready);
    if (!arguments.show && !all_there) {
        if (!program.json_output) {
            print_setup(program, *setup);
            program.err << "Fetching from the network, into these folders only …\n" << std::flush;
        }
        setup = setup_dependencies((*project)->task_workspace_options(), (*project)->processes(), tree, true, stop);
        if (!setup.ok()) { return program.fail(setup.error()); }
    }
    if (program.json_output) {
        program.print_json(setup_json(*setup));
        return 0;
    }
    if (setup->steps.empty()) {
        program.out << "Nothing to set up: found no lockfile with dependencies that AgentForge can fetch.\n";
        return 0;
    }
    if (arguments.show || all_there) { print_setup(program, *setup); }
    if (arguments.show && !all_there) {
        program.out << "Fetch what is missing with: agentforge setup\n";
    } else {
        program.out
            << "Nothing is missing. Gates can read these folders, which do not change again; a changed lockfile gets new ones.\n";
    }
    return 0;
}

}  // namespace

void add_setup(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<SetupArguments>();
    const Command command =
        add_subcommand(app, "setup", "Fetch the dependencies that the gates need, as listed in the project's lockfiles");
    add_option(*command, "task", arguments->task, "Use the files of this task (default: those of the last commit)")
        ->type_name("TASK");
    add_flag(*command, "--show", arguments->show, "Only show which commands would run");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Example:  agentforge setup --show");
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_setup(program, *arguments); }; });
}

}  // namespace agentforge::kernel
