// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "base/ids.hpp"
#include "base/text.hpp"
#include "git/archives.hpp"
#include "program/command_line.hpp"
#include "program/project/project.hpp"
#include "program/project/project_folder.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

struct ArchiveArguments {
    std::vector<std::string> tasks;
    bool all = false;
};

bool is_there(const ProjectPlace& place, const std::string& task_id) {
    std::error_code error;
    return std::filesystem::exists(TaskStore(place.agentforge).paths(task_id).task(), error);
}

int list_archive(Program& program) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const auto tasks = archived_tasks(place->root);
    if (!tasks.ok()) { return program.fail(tasks.error()); }
    if (program.json_output) {
        json::array list;
        for (const ArchivedTask& task : *tasks) {
            list.push_back(json::object{{"task_id", task.task_id},
                                        {"request", task.request},
                                        {"status", task.status},
                                        {"updated_at", task.updated_at},
                                        {"there", is_there(*place, task.task_id)}});
        }
        program.print_json({{"archived", std::move(list)}});
        return 0;
    }
    for (const ArchivedTask& task : *tasks) {
        program.out << (is_there(*place, task.task_id) ? "there    " : "archive  ")
                    << (task.status.empty() ? "unreadable" : task.status) << "  " << printable(task.task_id, 120) << "\n"
                    << "         \"" << printable(task.request, 120) << "\"\n";
    }
    if (tasks->empty()) { program.out << "No task is archived in this repository.\n"; }
    return 0;
}

/// Returns the one archived task that `part` names.
Result<std::string> archived_id(const std::vector<ArchivedTask>& tasks, const std::string& part) {
    std::vector<std::string> ids;
    for (const ArchivedTask& task : tasks) { ids.push_back(task.task_id); }
    const std::vector<std::string> found = ids_named(ids, part);
    if (found.size() == 1) { return found.front(); }
    return Error{"AF-CLI-052",
                 found.empty() ? "the repository has no archive of task `" + printable(part, 120) + "`"
                               : "`" + printable(part, 120) + "` may be " + found[0] + " or " + found[1],
                 "", "`agentforge archive list` lists all archives", ErrorKind::not_found};
}

int restore_archive(Program& program, const ArchiveArguments& arguments) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const auto tasks = archived_tasks(place->root);
    if (!tasks.ok()) { return program.fail(tasks.error()); }
    std::vector<std::string> wanted;
    if (arguments.all) {
        for (const ArchivedTask& task : *tasks) { wanted.push_back(task.task_id); }
    }
    for (const std::string& part : arguments.tasks) {
        const auto id = archived_id(*tasks, part);
        if (!id.ok()) { return program.fail(id.error()); }
        wanted.push_back(*id);
    }
    if (wanted.empty() && !arguments.all) {
        program.fail(Error{"AF-CLI-051", "no task is named", "", "name one or more of `agentforge archive list`, or give --all",
                           ErrorKind::invalid});
        return 2;
    }
    if (const auto made = prepare_project_folder(*place, false); !made.ok()) { return program.fail(made.error()); }
    json::array restored;
    json::object different;  // The files that are not those of the archive, by task.
    for (const std::string& id : wanted) {
        const auto left = restore_task(place->root, id, place->agentforge / "tasks", place->agentforge / "escalations");
        if (!left.ok() && left.error().kind == ErrorKind::conflict && arguments.all) { continue; }  // Nothing is missing.
        if (!left.ok()) { return program.fail(left.error()); }
        restored.emplace_back(id);
        if (!left->empty()) { different[id] = json::array(left->begin(), left->end()); }
        if (program.json_output) { continue; }
        program.out << "Restored: " << id << (left->empty() ? "" : ", only its missing blobs and questions") << "\n";
        for (const std::string& name : *left) { program.out << "  not restored: " << printable(name, 300) << "\n"; }
        if (!left->empty()) {
            program.err
                << "agentforge: these files are missing, or are not those of the archive. They stay as they are. To restore "
                   "the archived ones, move the task's folder away and run `agentforge archive restore "
                << short_id(id) << "` again\n";
        }
    }
    if (program.json_output) {
        program.print_json({{"restored", std::move(restored)}, {"not_restored", std::move(different)}});
    } else if (restored.empty()) {
        program.out << "All archived tasks are complete; nothing was restored.\n";
    }
    return 0;
}

}  // namespace

void add_archive(CLI::App& app, Program& program) {
    const Command group = add_subcommand(app, "archive", "List and restore archived tasks, which the repository keeps in git");
    group->require_subcommand();
    group->footer("Examples:\n  agentforge archive list\n  agentforge archive restore --all");
    const Command list = add_subcommand(*group, "list", "List archived tasks, and whether their folders exist");
    list->footer("Example:  agentforge archive list");
    add_flag(*list, "--json", program.json_output, "Print JSON");
    list->callback([&program] {
        program.pages = true;
        program.command = [&program] { return list_archive(program); };
    });
    auto arguments = std::make_shared<ArchiveArguments>();
    const Command restore = add_subcommand(
        *group, "restore", "Write archived tasks, or the blobs that `gc --blobs` removed, back into .agentforge/tasks");
    add_option(*restore, "task", arguments->tasks, "The ids of tasks, or unique parts")->type_name("ARCHIVED_TASK");
    add_flag(*restore, "--all", arguments->all, "All archived tasks whose folders or blobs are gone");
    add_flag(*restore, "--json", program.json_output, "Print JSON");
    restore->footer("Example:  agentforge archive restore --all");
    restore->callback(
        [&program, arguments] { program.command = [&program, arguments] { return restore_archive(program, *arguments); }; });
}

}  // namespace agentforge::kernel
