// SPDX-License-Identifier: Apache-2.0
// All tasks of one repository at a glance, for a command that looks once or again and again. The dashboard has an Aggregator.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aggregate/figures.hpp"
#include "aggregate/followed_task.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// The first look reads the journals of the tasks that have not ended; each further one reads what they grew by. Of an ended task
/// the listing is enough: TaskStore::list compares it with the end of the journal. One thread at a time.
class TaskOverviews {
public:
    explicit TaskOverviews(const std::filesystem::path& agentforge_directory) : store_(agentforge_directory) {}

    struct Listing {
        std::vector<TaskOverview> tasks;  ///< Newest first.
        TaskCounts counts;                ///< Of all of them.
        std::vector<Error> problems;      ///< One for each folder that is no readable task.
    };
    /// Errors: those of TaskStore::list. A journal that cannot be read is a `problem` of its task.
    [[nodiscard]] Result<Listing> list();
    /// One task, whether it has ended or not. Errors: those of TaskStore::state.
    [[nodiscard]] Result<TaskOverview> look_at(const std::string& task_id);

private:
    [[nodiscard]] TaskOverview from_journal(const TaskSummary& summary);

    TaskStore store_;
    std::map<std::string, std::unique_ptr<FollowedTask>> followed_;
};

}  // namespace agentforge::kernel
