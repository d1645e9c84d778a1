// SPDX-License-Identifier: Apache-2.0
// Two tasks side by side (North Star 5.3, 5.4).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "git/repository.hpp"
#include "replay/recorded_task.hpp"

namespace agentforge::kernel {

/// The first place where the two are not the same in one respect. Steps are paired in their order.
struct Parting {
    enum class Of : unsigned char { context = 1, answer, action };
    Of of = Of::context;
    std::array<std::uint64_t, 2> steps{};  ///< Their numbers; 0: the task has no step there.
    std::string stage;
    std::array<std::string, 2> sides;  ///< The first line in which the two differ.
};
[[nodiscard]] std::string_view to_string(Parting::Of of) noexcept;

/// A field of an artifact that the two have differently; empty: it is not there.
struct FieldDifference {
    std::string stage;
    std::string field;
    std::array<std::string, 2> sides;
};

/// How a gate of a stage ended in each; empty: it was not measured.
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
    std::string tree;  ///< Delivered, or the workspace as recorded last.
    std::uint64_t steps = 0;
    std::uint64_t calls = 0;
    std::uint64_t tokens = 0;
    std::uint64_t cost_microusd = 0;  ///< Of the calls whose cost is known.
    bool cost_known = false;
    std::uint64_t wall_ms = 0;
};

struct TaskComparison {
    std::array<ComparedTask, 2> tasks;
    std::vector<Parting> partings;  ///< None: the paths are the same.
    std::vector<FieldDifference> fields;
    std::vector<GatePair> gates;    ///< All of them, by stage.
    std::vector<TreeChange> files;  ///< From the first's tree to the second's.
    [[nodiscard]] bool same_path() const noexcept { return partings.empty(); }
    [[nodiscard]] bool same_tree() const noexcept { return tasks[0].tree == tasks[1].tree; }
};

/// What differs between any two runs (ids of tasks and commits, times, durations, absolute paths) is no difference.
/// Errors: those of RecordedTask::read; AF-GIT-… a tree is not in the repository any more.
[[nodiscard]] Result<TaskComparison> compare_tasks(const TaskStore& store, const Repository& repository, std::string_view one,
                                                   std::string_view other);

[[nodiscard]] json::object to_json(const TaskComparison& comparison);
/// One page that needs no other file and no network. Texts of tasks are escaped: they cannot act in it.
[[nodiscard]] std::string to_html(const TaskComparison& comparison);

}  // namespace agentforge::kernel
