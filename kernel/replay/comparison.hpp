// SPDX-License-Identifier: Apache-2.0
// Compares two tasks.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "git/repository.hpp"
#include "replay/recorded_task.hpp"

namespace agentforge::kernel {

/// The first place where the two differ in one respect. Steps are paired in order.
struct Divergence {
    enum class Of : unsigned char { context = 1, answer, action };
    Of of = Of::context;
    std::array<std::uint64_t, 2> steps{};  ///< Step numbers. 0: the task has no step there.
    std::string stage;
    std::array<std::string, 2> sides;  ///< The first line in which the two differ.
};
[[nodiscard]] std::string_view to_string(Divergence::Of of) noexcept;
/// Returns `step N`, or `no step`.
[[nodiscard]] std::string step_of(std::uint64_t number);

/// A field of an artifact that differs between the two. Empty: the field is missing.
struct FieldDifference {
    std::string stage;
    std::string field;
    std::array<std::string, 2> sides;
};

/// The result of a stage's gate in each task. Empty: not measured.
struct GatePair {
    std::string stage;
    std::string gate;
    std::array<std::string, 2> sides;
};

struct ComparedTask {
    std::string task_id;
    std::string request;
    std::string status;
    std::string base_commit;
    std::string tree;  ///< The delivered tree, or the workspace as last recorded.
    std::uint64_t steps = 0;
    std::uint64_t calls = 0;
    std::uint64_t tokens = 0;
    std::uint64_t cost_microusd = 0;  ///< Sum over the calls with a known cost.
    bool cost_known = false;
    std::uint64_t wall_ms = 0;
};

struct TaskComparison {
    std::array<ComparedTask, 2> tasks;
    std::vector<Divergence> divergences;  ///< None: the paths are the same.
    std::vector<FieldDifference> fields;
    std::vector<GatePair> gates;    ///< All gates, by stage.
    std::vector<TreeChange> files;  ///< From the first one's tree to the second one's.
    [[nodiscard]] bool same_path() const noexcept { return divergences.empty(); }
    [[nodiscard]] bool same_tree() const noexcept { return tasks[0].tree == tasks[1].tree; }
};

/// Ignores everything that differs between any two runs (ids of tasks and commits, times, durations, absolute paths). Errors:
/// those of RecordedTask::read; AF-GIT-… a tree is no longer in the repository.
[[nodiscard]] Result<TaskComparison> compare_tasks(const TaskStore& store, const Repository& repository, std::string_view one,
                                                   std::string_view other);

[[nodiscard]] json::object to_json(const TaskComparison& comparison);
/// Returns one page that needs no other file and no network. Texts of tasks are escaped and cannot act in it.
[[nodiscard]] std::string to_html(const TaskComparison& comparison);

}  // namespace agentforge::kernel
