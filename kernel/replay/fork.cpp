// SPDX-License-Identifier: Apache-2.0
#include "replay/fork.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "base/ids.hpp"
#include "pipeline/delivery/drift.hpp"
#include "pipeline/garbage.hpp"
#include "replay/recorded_task.hpp"
#include "task/step_index.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::string_view fork_command = "agentforge fork";
constexpr auto longest_wait_for_parent = std::chrono::seconds(10);

/// Returns all trees that a task in this state may need again, by the names under which they are kept.
std::map<std::string, std::string> trees_of(const TaskState& state) {
    std::map<std::string, std::string> trees{{"forked-base", state.base_tree},
                                             {"forked", state.tree},
                                             {"forked-tests", state.red_tree},
                                             {"forked-before-tests", state.before_red},
                                             {"forked-held-out", state.held_out.red_tree}};
    if (state.hand_back) {
        trees.emplace("forked-hand-back-base", state.hand_back->base_tree);
        trees.emplace("forked-hand-back-work", state.hand_back->work_tree);
    }
    std::erase_if(trees, [](const auto& tree) { return tree.second.empty(); });
    return trees;
}

Result<void> keep_trees(const Repository& repository, const TaskState& state) {
    for (const auto& [name, tree] : trees_of(state)) { AF_CHECK(repository.keep_tree(state.task_id + "/" + name, tree)); }
    return keep_uncommitted_base(repository, state.task_id, state.base_commit);
}

/// Returns the record of a task's step. Uses the snapshot and the index, so it rarely reads the whole journal.
Result<Record> step_of(const TaskStore& tasks, std::string_view task_id, std::uint64_t step) {
    AF_TRY(const TaskState state, tasks.state(task_id));
    AF_TRY(std::optional<Record> found, StepIndex(tasks.paths(task_id).journal()).find(step));
    if (found) { return std::move(*found); }
    return Error{
        "AF-TASK-017",
        "task " + std::string(task_id) + " has no step " + std::to_string(step) + "; it has " + std::to_string(state.steps), "",
        "`agentforge logs " + short_id(task_id) + "` shows them", ErrorKind::not_found};
}

/// Keeps `agentforge gc` away from the parent until the fork exists, which gc then sees. If a process holds the parent to run it,
/// nothing of it is freed.
std::optional<TaskLock> hold_parent(const ForkPlace& place, std::string_view parent) {
    const TaskPaths paths = place.tasks.paths(parent);
    const auto until = std::chrono::steady_clock::now() + longest_wait_for_parent;
    while (true) {
        auto lock = TaskLock::acquire(paths, fork_command, format_time(place.clock.now()));
        if (lock.ok()) { return std::move(*lock); }
        if (lock.error().kind != ErrorKind::conflict || std::chrono::steady_clock::now() > until) { return std::nullopt; }
        const auto holder = TaskLock::holder(paths);
        if (holder && holder->command != fork_command && holder->command != gc_command) { return std::nullopt; }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace

Result<std::string> fork_task(const ForkPlace& place, std::string_view parent, const ForkOptions& options) {
    AF_TRY(json::object task, place.tasks.load(parent));
    const std::optional<TaskLock> held = hold_parent(place, parent);
    AF_TRY(const Record last, step_of(place.tasks, parent, options.from_step));
    const std::string now = format_time(place.clock.now());
    std::string day = now.substr(0, 10);
    std::erase(day, '-');
    const json::value* const request = task.if_contains("request");
    const std::string id = make_task_id(
        request != nullptr && request->is_string() ? std::string_view(request->get_string()) : std::string_view(parent), day,
        place.ids);
    task["task_id"] = id;
    task["created_at"] = now;
    task["forked_from"] = json::object{{"task", parent}, {"step", options.from_step}};
    json::object configuration = options.configuration;
    if (options.seal) { AF_CHECK(options.seal(configuration)); }
    task["configuration"] = std::move(configuration);
    AF_TRY(auto session,
           TaskSession::fork(place.tasks, {place.tasks, parent, last}, task, place.clock, fork_command, place.redactor));
    if (auto kept = keep_trees(place.repository, session->state()); !kept.ok()) {
        session.reset();
        static_cast<void>(place.tasks.remove(id).ok());
        static_cast<void>(place.repository.drop_refs(id).ok());
        return with_way_to_trees(std::move(kept).error(), parent);
    }
    return id;
}

}  // namespace agentforge::kernel
