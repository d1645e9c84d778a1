// SPDX-License-Identifier: Apache-2.0
// All tasks of one repository at a glance, for a command that looks once or repeatedly. The dashboard uses an Aggregator.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aggregate/figures.hpp"
#include "aggregate/followed_task.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// `list` takes the store's list, which is compared with the end of each journal. `with_journal_facts` and `read_task` read a
/// task from its journal; the next call reads only what was appended. One thread at a time.
class TaskOverviews {
public:
    explicit TaskOverviews(const std::filesystem::path& agentforge_directory) : store_(agentforge_directory) {}

    struct Listing {
        /// The newest of the wanted tasks, newest first, including those that cannot be read. Fields that only the journal has
        /// (stages, question, activity) are empty.
        std::vector<TaskOverview> tasks;
        TaskCounts counts;            ///< Counts over all tasks.
        std::size_t total = 0;        ///< Number of all tasks.
        std::size_t wanted = 0;       ///< Number of the wanted tasks.
        std::vector<Error> problems;  ///< One for each folder that is not a readable task.
    };
    /// Lists the tasks that `is_wanted` accepts (none: all), at most `limit` of them (0: all). With a limit, `is_wanted` may ask
    /// only for the state of an ended task. Errors: those of TaskStore::list.
    [[nodiscard]] Result<Listing> list(const std::function<bool(const TaskOverview&)>& is_wanted = {}, std::size_t limit = 0);
    /// Adds the facts from the journal to a listed task. If the journal cannot be read: projected_task. Returns a task that has
    /// ended or that was listed with a problem unchanged.
    [[nodiscard]] TaskOverview with_journal_facts(TaskOverview listed);
    /// Returns one task, ended or not, as it is in a list; `unknown` if it does not exist.
    [[nodiscard]] TaskOverview find(const std::string& task_id);
    /// Returns one task, ended or not. Errors: those of TaskStore::state; AF-TASK-014.
    [[nodiscard]] Result<TaskOverview> read_task(const std::string& task_id);

private:
    TaskStore store_;
    std::map<std::string, std::unique_ptr<FollowedTask>> followed_;
};

}  // namespace agentforge::kernel
