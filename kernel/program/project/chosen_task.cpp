// SPDX-License-Identifier: Apache-2.0
#include "program/project/chosen_task.hpp"

#include <algorithm>
#include <ostream>

#include "base/ids.hpp"
#include "base/text.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_listed = 10;

std::string described(const TaskSummary& task) {
    return short_id(task.task_id) + " (" + task.status + "): " + printable(first_line(task.request), 80);
}

/// Says which task was taken.
std::string taken(Program& program, const TaskSummary& task) {
    if (!program.quiet) { program.err << "agentforge: task " << described(task) << "\n"; }
    return task.task_id;
}

Error none(const TaskStore& tasks, const std::string& what) {
    return Error{"AF-CLI-190", "no task " + what, tasks.root().string(), "name the task; `agentforge status` lists them",
                 ErrorKind::not_found};
}

}  // namespace

Result<std::string> task_or_newest(Program& program, const TaskStore& tasks, const std::string& named) {
    if (!named.empty()) { return tasks.resolve(named); }
    AF_TRY(const TaskListing listing, tasks.list({}, 1));
    if (listing.tasks.empty()) { return none(tasks, "was started here"); }
    return taken(program, listing.tasks.front());
}

Result<std::string> task_or_only(Program& program, const TaskStore& tasks, const std::string& named, const std::string& what,
                                 const std::function<bool(const TaskSummary&)>& fits) {
    if (!named.empty()) { return tasks.resolve(named); }
    AF_TRY(TaskListing listing, tasks.list());
    std::erase_if(listing.tasks, [&fits](const TaskSummary& task) { return !fits(task); });
    if (listing.tasks.empty()) { return none(tasks, what); }
    if (listing.tasks.size() == 1) { return taken(program, listing.tasks.front()); }
    std::string list;
    for (std::size_t index = 0; index < std::min(listing.tasks.size(), most_listed); ++index) {
        list += "\n  " + described(listing.tasks[index]);
    }
    if (listing.tasks.size() > most_listed) { list += "\n  and " + std::to_string(listing.tasks.size() - most_listed) + " more"; }
    return Error{"AF-CLI-191", "several tasks fit:" + list, "", "give the id of one of them", ErrorKind::conflict};
}

}  // namespace agentforge::kernel
