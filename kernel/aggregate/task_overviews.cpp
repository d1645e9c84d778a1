// SPDX-License-Identifier: Apache-2.0
#include "aggregate/task_overviews.hpp"

#include <utility>

#include "escalation/escalation_store.hpp"

namespace agentforge::kernel {

Result<TaskOverviews::Listing> TaskOverviews::list(const std::function<bool(const TaskOverview&)>& is_wanted, std::size_t limit) {
    AF_TRY(TaskListing found, store_.list({}, 0, limit));
    const AnsweredQuestions answered = EscalationStore(store_.root().parent_path()).answered();
    Listing listing;
    listing.problems = std::move(found.problems);
    if (limit == 0) { listing.tasks.reserve(found.tasks.size()); }
    const auto add = [&](TaskOverview overview) {
        listing.counts.take(overview);
        ++listing.total;
        if (is_wanted && !is_wanted(overview)) { return; }
        ++listing.wanted;
        if (limit == 0 || listing.tasks.size() < limit) { listing.tasks.push_back(std::move(overview)); }
    };
    const auto project = [&](const std::string& id, const Error& problem) {
        followed_.erase(id);
        add(projected_task(store_, id, problem).overview);
    };
    for (TaskSummary& summary : found.tasks) {
        if (const auto damage = found.damaged.extract(summary.task_id)) {
            project(summary.task_id, damage.mapped());
            continue;
        }
        TaskOverview overview;
        if (has_ended(summary) && summary.from_journal) {
            overview.summary = std::move(summary);
            followed_.erase(overview.summary.task_id);
        } else {
            const TaskPaths paths = store_.paths(summary.task_id);
            const bool is_behind = !summary.from_journal;
            overview = overview_of(std::move(summary), paths);
            overview.began = overview.summary.status != "pending" || !store_.never_began(overview.summary.task_id);
            const bool may_be_answered =
                !overview.summary.waiting_for.empty() && answered.has_any_of_task(overview.summary.task_id);
            if (is_behind || may_be_answered) { overview = with_journal_facts(std::move(overview)); }
        }
        add(std::move(overview));
    }
    for (const auto& [id, problem] : found.damaged) { project(id, problem); }
    for (const auto& [status, tasks] : found.left_out) {
        TaskOverview ended;
        ended.summary.status = status;
        listing.counts.conditions[state_name(ended)] += tasks;
        listing.total += tasks;
        listing.wanted += !is_wanted || is_wanted(ended) ? tasks : 0;
    }
    return listing;
}

TaskOverview TaskOverviews::with_journal_facts(TaskOverview listed) {
    if (listed.problem || (has_ended(listed.summary) && listed.summary.from_journal)) { return listed; }
    const std::string& id = listed.summary.task_id;
    auto overview = read_task(id);
    if (overview.ok()) {
        overview->began = listed.began;
        return std::move(*overview);
    }
    followed_.erase(id);
    return projected_task(store_, id, store_.damage(id, overview.error())).overview;
}

TaskOverview TaskOverviews::find(const std::string& task_id) {
    TaskOverview unread;
    unread.summary.task_id = task_id;
    return with_journal_facts(unread);
}

Result<TaskOverview> TaskOverviews::read_task(const std::string& task_id) {
    const TaskPaths paths = store_.paths(task_id);
    auto& task = followed_[task_id];
    if (!task) { task = std::make_unique<FollowedTask>(paths, task_id); }
    AF_CHECK(task->refresh());
    if (task->state().task_id != task_id) {  // Nothing is recorded yet; the store knows why.
        AF_TRY(const TaskState state, store_.state(task_id));
        return state.task_id.empty() ? Result<TaskOverview>(no_records(task_id, paths)) : overview_of(state, {}, paths);
    }
    return overview_of(task->state(), task->activity(), paths);
}

}  // namespace agentforge::kernel
