// SPDX-License-Identifier: Apache-2.0
#include "aggregate/task_overviews.hpp"

#include <utility>

namespace agentforge::kernel {

Result<TaskOverviews::Listing> TaskOverviews::list() {
    AF_TRY(TaskListing found, store_.list());
    Listing listing;
    listing.problems = std::move(found.problems);
    listing.tasks.reserve(found.tasks.size());
    for (TaskSummary& summary : found.tasks) {
        const bool is_enough = has_ended(summary) && summary.from_journal;
        if (is_enough) { followed_.erase(summary.task_id); }
        TaskOverview overview;
        if (is_enough) {
            overview.summary = std::move(summary);
        } else {
            overview = from_journal(summary);
        }
        listing.counts.take(overview);
        listing.tasks.push_back(std::move(overview));
    }
    return listing;
}

TaskOverview TaskOverviews::from_journal(const TaskSummary& summary) {
    const std::string& id = summary.task_id;
    auto overview = look_at(id);
    if (!overview.ok()) {
        followed_.erase(id);
        const TaskPaths paths = store_.paths(id);
        const auto projection = store_.load_state(id);
        const auto state = projection.ok() ? task_state_from_json(*projection) : Result<TaskState>(projection.error());
        TaskOverview projected = state.ok() ? overview_of(*state, {}, paths) : overview_of(summary, paths);
        projected.began = !store_.never_began(id);
        if (projected.began) { projected.problem = std::move(overview).error(); }
        return projected;
    }
    return std::move(*overview);
}

Result<TaskOverview> TaskOverviews::look_at(const std::string& task_id) {
    const TaskPaths paths = store_.paths(task_id);
    auto& task = followed_[task_id];
    if (!task) { task = std::make_unique<FollowedTask>(paths, task_id); }
    AF_CHECK(task->refresh());
    if (task->state().task_id != task_id) {  // Nothing was recorded yet: the store says why.
        AF_TRY(const TaskState state, store_.state(task_id));
        return overview_of(state, {}, paths);
    }
    return overview_of(task->state(), task->activity(), paths);
}

}  // namespace agentforge::kernel
