// SPDX-License-Identifier: Apache-2.0
// Figures over many tasks (North Star part 10), each from the journals.
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

/// What one task adds to the figures.
struct TaskCase {
    std::string task_id;
    std::string pipeline;
    std::string model;  ///< With which most of its tokens were used; empty: none was called, or it has no name.
    std::string created_at;
    std::string base_tree;
    std::string commit;      ///< Delivered; empty: none.
    bool delivered = false;  ///< Completed, with a delivery.
    bool completed = false;
    bool ended = false;
    bool escalated = false;   ///< A person was asked a question.
    std::uint64_t gates = 0;  ///< Judgements of a stage's whole work.
    std::uint64_t gates_passed = 0;
    std::uint64_t steps = 0;
    std::uint64_t people_ms = 0;  ///< That it waited for a person: questions, approvals, actions.
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
    std::vector<std::uint64_t> steps;   ///< Of each delivered task.
    std::vector<std::uint64_t> tokens;  ///< Of each delivered task.
    std::vector<std::uint64_t> people;  ///< Of each task that has ended: milliseconds that it waited for people.
    std::optional<std::chrono::system_clock::time_point> first;  ///< When the oldest of them was created.

    void add(const TaskCase& task);
};

/// The middle one, or the lower of the two in the middle; empty: there are none.
[[nodiscard]] std::optional<std::uint64_t> median(std::vector<std::uint64_t> values);
/// `part` of `whole`; empty: `whole` is 0.
[[nodiscard]] std::optional<double> share(std::uint64_t part, std::uint64_t whole);

}  // namespace agentforge::kernel
