// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "host/command_line.hpp"
#include "host/display.hpp"
#include "host/project.hpp"

namespace agentforge::kernel {

namespace {

struct DiffArguments {
    std::string task;
    bool stat = false;
};

int run_diff(Program& program, const DiffArguments& arguments) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const TaskStore store(place->agentforge);
    const auto id = store.resolve(arguments.task);
    if (!id.ok()) { return program.fail(id.error()); }
    const auto state = read_task_state(store, *id);
    if (!state.ok()) { return program.fail(state.error()); }
    const std::string base = delivery_base(*state).tree;
    const std::string tree = delivered_tree(*state);
    if (!program.json_output && !arguments.stat) {
        const auto patch = whole_patch(place->root, base, tree);
        if (!patch.ok()) { return program.fail(patch.error()); }
        // What goes into a file or a pipe is for `git apply`; what people look at cannot act on their terminal.
        program.out << (program.out_is_terminal ? printable_lines(*patch) : *patch);
        if (patch->empty()) { program.err << "agentforge: task " << *id << " has changed no file so far\n"; }
        return 0;
    }
    const auto repository = Repository::open(place->root);
    if (!repository.ok()) { return program.fail(repository.error()); }
    const auto changes = repository->diff(base, tree);
    if (!changes.ok()) { return program.fail(changes.error()); }
    if (program.json_output) {
        json::array files;
        for (const TreeChange& change : *changes) {
            files.push_back(json::object{{"path", change.path}, {"old_path", change.old_path}, {"status", std::string(1, change.status)},
                                         {"lines_added", change.lines_added}, {"lines_removed", change.lines_removed}});
        }
        program.print_json({{"task_id", *id}, {"base_tree", base}, {"tree", tree}, {"files", std::move(files)}});
        return 0;
    }
    std::uint64_t added = 0;
    std::uint64_t removed = 0;
    for (const TreeChange& change : *changes) {
        added += change.lines_added;
        removed += change.lines_removed;
        program.out << change.status << "  " << (change.old_path.empty() ? "" : printable(change.old_path) + " -> ") << printable(change.path) << "  +" << change.lines_added << " -"
                    << change.lines_removed << "\n";
    }
    program.out << changes->size() << (changes->size() == 1 ? " file, " : " files, ") << added << " lines added, " << removed << " removed\n";
    return 0;
}

}  // namespace

void add_diff(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<DiffArguments>();
    const Command command = add_subcommand(app, "diff", "Show what a task has changed, as a patch");
    add_option(*command, "task", arguments->task, "The task's id, or enough of it")->type_name("TASK")->required();
    add_flag(*command, "--stat", arguments->stat, "Only the files, with the lines added and removed");
    add_flag(*command, "--json", program.json_output, "The files as JSON");
    command->footer("Examples:\n  agentforge diff 1f2e3d4c\n  agentforge diff 1f2e3d4c > change.patch");
    command->callback([&program, arguments] {
        program.pages = true;
        program.command = [&program, arguments] { return run_diff(program, *arguments); };
    });
}

}  // namespace agentforge::kernel
