// SPDX-License-Identifier: Apache-2.0
// Figures over many tasks, computed from their states.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/json.hpp>

#include "cost/ledger.hpp"
#include "git/rework.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {

/// One task's share of the figures.
struct TaskSample {
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
    Spend own_spend;              ///< Without what a fork's parent had used.
    std::uint64_t own_steps = 0;  ///< Likewise.
};

[[nodiscard]] TaskSample sample_of(const TaskState& state);

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
    std::uint64_t all_steps = 0;
    Spend spend;
    std::vector<std::uint64_t> steps;                            ///< One value for each delivered task.
    std::vector<std::uint64_t> tokens;                           ///< One value for each delivered task.
    std::vector<std::uint64_t> people;                           ///< Milliseconds that each ended task waited for people.
    std::optional<std::chrono::system_clock::time_point> first;  ///< When the oldest task was created.

    void add(const TaskSample& task);
};

/// Returns the median (of an even number of values, the lower of the middle two). Empty if there are no values.
[[nodiscard]] std::optional<std::uint64_t> median(std::vector<std::uint64_t> values);
/// Returns `part` / `whole`. Empty if `whole` is 0.
[[nodiscard]] std::optional<double> share(std::uint64_t part, std::uint64_t whole);

/// How many lines of delivered commits people changed or removed later.
struct ReworkSum {
    std::uint64_t commits = 0;  ///< Delivered commits.
    std::uint64_t merged = 0;   ///< Commits that HEAD contains.
    std::uint64_t lines = 0;
    std::uint64_t reworked_lines = 0;
};

struct Sums {
    Statistics tasks;
    ReworkSum rework;
};
using Groups = std::map<std::string, Sums>;

/// Returns the rework of the commit that a task delivered; nothing if HEAD does not contain it.
using ReworkOf = std::function<std::optional<Rework>(const TaskSample& task)>;
/// The days after a delivery in which a changed line counts as reworked, unless the user says otherwise.
inline constexpr std::uint64_t default_rework_days = 14;

/// Everything that `agentforge stats` and the dashboard show about the tasks of one or several repositories.
struct TaskStatistics {
    std::optional<std::chrono::system_clock::time_point> since;  ///< Counts only tasks created since then.
    std::uint64_t rework_days = default_rework_days;
    bool has_rework = true;
    Sums all;
    Groups by_pipeline;
    Groups by_model;
    std::size_t repositories = 0;   ///< Repositories examined.
    std::size_t active = 0;         ///< Repositories with a task that has not ended.
    std::vector<Error> unreadable;  ///< One for each task whose journal cannot be read. Such a task counts nowhere else.
    std::size_t left_out = 0;       ///< Repositories that cannot be examined.

    [[nodiscard]] bool includes(std::string_view created_at) const;
    /// `rework`: for a delivered commit. Not called without `has_rework`.
    void add(const TaskSample& task, const ReworkOf& rework);
    /// Returns the weeks since the oldest task was created; at least one.
    [[nodiscard]] double weeks(std::chrono::system_clock::time_point now) const;
};
/// Returns what `agentforge stats --json` prints.
[[nodiscard]] json::object to_json(const TaskStatistics& statistics, std::chrono::system_clock::time_point now);

/// Parses `2026-11-01`, a full RFC 3339 time, or a time span before now (`30d`). Empty: the text is none of them.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_since(const std::string& text,
                                                                               std::chrono::system_clock::time_point now);

}  // namespace agentforge::kernel
