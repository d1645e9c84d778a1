// SPDX-License-Identifier: Apache-2.0
// The figures of a task as the dashboard's API tells them (North Star 11.2, 13.13). Field names are those of that document.
#pragma once

#include <string>
#include <vector>

#include <agentforge/json.hpp>

#include "aggregate/followed_task.hpp"
#include "aggregate/glance.hpp"

namespace agentforge::kernel {

struct TaskFigures {
    std::string repo;
    TaskGlance glance;
    Sequence seq = 0;           ///< Of the last record that they are computed from.
    std::uint64_t steps = 0;
    std::string text;           ///< `task_summary`, JSON in one line: as text it takes a quarter of the memory.
};

/// `pending`, `in_progress`, `awaiting_approval`, `escalated`, `paused`, `interrupted`, `completed`, `failed` or `aborted`.
[[nodiscard]] std::string condition_of(const TaskGlance& glance);
/// What a person can do with the task now: `respond`, `approve`, `revise`, `reject`, `pause`, `resume`, `abort`.
[[nodiscard]] std::vector<std::string> available_actions(const TaskGlance& glance);

[[nodiscard]] TaskFigures figures_of(const FollowedTask& task, const std::string& repo);
/// The same, but for whether a process has the task.
[[nodiscard]] TaskFigures with_process(TaskFigures figures, bool running);
/// `figures.text`, parsed.
[[nodiscard]] json::object to_json(const TaskFigures& figures);

/// How far the task is, from 0 to 1: stages to the end of its pipeline, the current one by its steps.
[[nodiscard]] double overall_progress(const TaskState& state);
[[nodiscard]] double stage_progress(const TaskState& state);

}  // namespace agentforge::kernel
