// SPDX-License-Identifier: Apache-2.0
// Figures over many tasks, computed from their journals.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cost/ledger.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// One task's share of the figures.
struct TaskCase {
    std::string task_id;
    std::string pipeline;
    std::string model;  ///< The model that used most of the task's tokens. Empty: no model was called, or it has no name.
    std::string created_at;
    std::string base_tree;
    std::string commit;      ///< The delivered commit, or empty.
    bool delivered = false;  ///< The task is completed and delivered.
    bool completed = false;
    bool ended = false;
    bool escalated = false;   ///< The task asked a person a question.
    std::uint64_t gates = 0;  ///< Gate runs on a stage's complete work.
    std::uint64_t gates_passed = 0;
    std::uint64_t steps = 0;
    std::uint64_t people_ms = 0;  ///< Milliseconds that the task waited for people: questions, approvals, actions.
    Spend spend;
};

/// Reads the task's journal once. A task that never began has no figures. Errors: those of JournalTail and of the fold.
[[nodiscard]] Result<TaskCase> case_of(const TaskPaths& paths, const std::string& task_id);

/// Sums over tasks.
struct Statistics {
    std::uint64_t tasks = 0;
    std::uint64_t delivered = 0;
    std::uint64_t completed = 0;
    std::uint64_t ended = 0;
    std::uint64_t escalated = 0;
    std::uint64_t gates = 0;
    std::uint64_t gates_passed = 0;
    std::uint64_t people_ms = 0;
    Spend spend;
    std::vector<std::uint64_t> steps;                            ///< One value for each delivered task.
    std::vector<std::uint64_t> tokens;                           ///< One value for each delivered task.
    std::vector<std::uint64_t> people;                           ///< Milliseconds that each ended task waited for people.
    std::optional<std::chrono::system_clock::time_point> first;  ///< When the oldest task was created.

    void add(const TaskCase& task);
};

/// Returns the median (of an even number of values, the lower of the middle two). Empty if there are no values.
[[nodiscard]] std::optional<std::uint64_t> median(std::vector<std::uint64_t> values);
/// Returns `part` / `whole`. Empty if `whole` is 0.
[[nodiscard]] std::optional<double> share(std::uint64_t part, std::uint64_t whole);

}  // namespace agentforge::kernel
