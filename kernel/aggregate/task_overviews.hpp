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

/// A list takes what the store lists, which is compared with the end of each journal; a task that is looked at is read from its
/// journal, and a second look reads what it grew by. One thread at a time.
class TaskOverviews {
public:
    explicit TaskOverviews(const std::filesystem::path& agentforge_directory) : store_(agentforge_directory) {}

    struct Listing {
        std::vector<TaskOverview> tasks;  ///< Newest first. What only the journal says (stages, question, activity) is empty.
        TaskCounts counts;                ///< Of all of them.
        std::vector<Error> problems;      ///< One for each folder that is no readable task.
    };
    /// Errors: those of TaskStore::list.
    [[nodiscard]] Result<Listing> list();
    /// The task of a list with what its journal says. A journal that cannot be read is its `problem`; then `state.yaml` says what
    /// it can. An ended task stays as it is.
    [[nodiscard]] TaskOverview look_into(const TaskOverview& listed);
    /// One task, whether it has ended or not. Errors: those of TaskStore::state.
    [[nodiscard]] Result<TaskOverview> look_at(const std::string& task_id);

private:
    TaskStore store_;
    std::map<std::string, std::unique_ptr<FollowedTask>> followed_;
};

}  // namespace agentforge::kernel
