// SPDX-License-Identifier: Apache-2.0
#include "program/project/chosen_task.hpp"

#include <algorithm>
#include <iterator>
#include <ostream>
#include <vector>

#include "aggregate/figures.hpp"
#include "aggregate/task_overviews.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "git/archives.hpp"
#include "git/repository.hpp"
#include "program/project/project_trust.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_listed = 10;

std::string described(const TaskSummary& task, std::string_view how) {
    return short_id(task.task_id) + " (" + std::string(how) + "): " + printable(first_line(task.request), 80);
}

/// Prints which task was chosen.
std::string taken(Program& program, const TaskSummary& task, std::string_view how) {
    if (!program.quiet) { program.err << "agentforge: task " << described(task, how) << "\n"; }
    return task.task_id;
}

/// Returns a line for each task, the newest first.
std::string listed(const std::vector<TaskOverview>& tasks, std::size_t most) {
    std::string list;
    for (std::size_t index = 0; index < std::min(tasks.size(), most); ++index) {
        list += "\n  " + described(tasks[index].summary, state_name(tasks[index]));
    }
    if (tasks.size() > most) { list += "\n  and " + std::to_string(tasks.size() - most) + " more"; }
    return list;
}

/// Returns the stores of the repository's other checkouts: each has its own tasks.
std::vector<TaskStore> stores_elsewhere(const TaskStore& tasks) {
    std::vector<TaskStore> stores;
    const auto repository = Repository::open(tasks.root().parent_path().parent_path());
    if (!repository.ok()) { return stores; }
    std::error_code error;
    for (const std::filesystem::path& checkout : repository->other_checkouts()) {
        const std::filesystem::path folder = checkout / ".agentforge";
        if (std::filesystem::is_directory(folder / "tasks", error)) { stores.emplace_back(folder); }
    }
    return stores;
}

std::string place_of(const TaskStore& tasks) { return tasks.root().parent_path().parent_path().string(); }

std::string run_it_in(const std::string& place) {
    return "run the command there, or with: agentforge -C " + shell_quoted(place) + " …";
}

Error no_task_yet(const TaskStore& tasks) {
    if (const std::string place = checkout_with_tasks(tasks); !place.empty()) {
        return Error{"AF-CLI-190", "no task was started here; the tasks are in another worktree of the repository", place,
                     run_it_in(place), ErrorKind::not_found};
    }
    return Error{"AF-CLI-190", "no task was started here", tasks.root().parent_path().parent_path().string(),
                 "start one: agentforge start \"what you want\"", ErrorKind::not_found};
}

Error none_fits(const std::vector<TaskOverview>& all, const std::string& what) {
    constexpr std::size_t most_others = 3;
    return Error{"AF-CLI-190", "no task " + what + "; the newest:" + listed(all, most_others), "",
                 "`agentforge status TASK` shows how to continue one", ErrorKind::not_found};
}

}  // namespace

std::string checkout_with_tasks(const TaskStore& tasks) {
    for (const TaskStore& other : stores_elsewhere(tasks)) {
        const auto listing = other.list({}, 1);
        if (listing.ok() && !listing->tasks.empty()) { return place_of(other); }
    }
    return {};
}

std::optional<Error> in_another_worktree(const TaskStore& tasks, const std::string& named) {
    for (const TaskStore& other : stores_elsewhere(tasks)) {
        const auto there = other.resolve(named);
        if (!there.ok()) { continue; }
        return Error{"AF-TASK-002", "Task '" + printable(*there, 200) + "' is in another worktree of the repository",
                     place_of(other), run_it_in(place_of(other)), ErrorKind::not_found};
    }
    return {};
}

Result<std::string> resolve_task(const TaskStore& tasks, const std::string& named) {
    auto id = tasks.resolve(named);
    if (id.ok() || id.error().code != "AF-TASK-002") { return id; }
    if (const auto elsewhere = in_another_worktree(tasks, named)) { return *elsewhere; }
    const auto archived = archived_task(tasks.root().parent_path().parent_path(), named);
    if (!archived.ok() || archived->empty()) { return id; }
    return Error{"AF-TASK-002", "Task '" + printable(named, 200) + "' is only in the archive", id.error().where,
                 "`agentforge archive restore " + short_id(*archived) + "` brings it back.", ErrorKind::not_found};
}

Result<std::string> task_or_newest_that(Program& program, const TaskStore& tasks, const std::string& named,
                                        const std::string& what, const std::function<bool(const TaskOverview&)>& fits) {
    if (!named.empty()) { return resolve_task(tasks, named); }
    AF_TRY(const TaskOverviews::Listing all, TaskOverviews(tasks.root().parent_path()).list());
    if (all.tasks.empty()) { return no_task_yet(tasks); }
    const auto found = std::ranges::find_if(all.tasks, [&](const TaskOverview& task) { return !task.problem && fits(task); });
    if (found == all.tasks.end()) { return none_fits(all.tasks, what); }
    return taken(program, found->summary, state_name(*found));
}

Result<std::string> task_or_newest(Program& program, const TaskStore& tasks, const std::string& named) {
    if (!named.empty()) { return resolve_task(tasks, named); }
    AF_TRY(const TaskListing listing, tasks.list({}, 1, 1));
    if (listing.tasks.empty()) { return no_task_yet(tasks); }
    return taken(program, listing.tasks.front(), listing.tasks.front().status);
}

Result<std::string> task_or_newest(Program& program, const std::string& named) {
    AF_TRY(const ProjectPlace place, ProjectPlace::find(program));
    return task_or_newest(program, TaskStore(place.agentforge), named);
}

std::string shown_status(const TaskStore& tasks, const TaskState& state) {
    const bool ended_while_running = state.status == TaskStatus::running && !TaskLock::holder(tasks.paths(state.task_id));
    return ended_while_running ? "interrupted" : std::string(to_string(state.status));
}

void say_which(Program& program, const std::string& named, const std::string& task_id) {
    if (program.quiet || named.empty() || named == task_id || named == short_id(task_id)) { return; }
    program.err << "agentforge: task " << printable(task_id) << "\n";
}

Result<std::string> task_or_only(Program& program, const TaskStore& tasks, const std::string& named, const std::string& what,
                                 const std::function<bool(const TaskOverview&)>& fits,
                                 const std::function<bool(const TaskOverview&)>& otherwise) {
    if (!named.empty()) {
        auto id = resolve_task(tasks, named);
        if (id.ok()) { say_which(program, named, *id); }
        return id;
    }
    AF_TRY(const TaskOverviews::Listing all, TaskOverviews(tasks.root().parent_path()).list());
    if (all.tasks.empty()) { return no_task_yet(tasks); }
    std::vector<TaskOverview> fitting;
    for (const auto* kind : {&fits, &otherwise}) {
        if (!fitting.empty() || !*kind) { continue; }
        std::ranges::copy_if(all.tasks, std::back_inserter(fitting),
                             [&](const TaskOverview& task) { return !task.problem && (*kind)(task); });
    }
    if (fitting.size() == 1) { return taken(program, fitting.front().summary, state_name(fitting.front())); }
    if (!fitting.empty()) {
        return Error{"AF-CLI-191", "several tasks fit:" + listed(fitting, most_listed), "", "give the id of one of them",
                     ErrorKind::conflict};
    }
    return none_fits(all.tasks, what);
}

}  // namespace agentforge::kernel
