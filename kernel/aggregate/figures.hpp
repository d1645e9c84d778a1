// SPDX-License-Identifier: Apache-2.0
// The figures of a task, for `status`, the dashboard's API and its page. JSON has the field names of North Star 11.2 and 13.13.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/json.hpp>

#include "aggregate/followed_task.hpp"
#include "aggregate/overview.hpp"

namespace agentforge::kernel {

/// How one stage stands.
struct StageFigures {
    std::string name;
    std::string status;  ///< As in `state.yaml`.
    bool done = false;   ///< Completed or skipped.
    std::uint64_t steps = 0;
    unsigned attempts = 0;
    std::uint64_t duration_ms = 0;
    std::uint64_t tokens = 0;  ///< With those of lost calls.
    std::string skip_reason;   ///< This and what follows: empty where there is none.
    std::string error;
    std::string artifact;
};

/// What the calls of models came to.
struct CostFigures {
    std::uint64_t tokens = 0;
    std::uint64_t input_tokens = 0;
    std::uint64_t output_tokens = 0;
    std::uint64_t calls = 0;
    std::uint64_t calls_lost = 0;
    std::optional<double> usd;  ///< Nothing: no price is known.
    bool known = false;         ///< Each call had a price.
    std::string in_words;
};

[[nodiscard]] StageFigures figures_of(const TaskState& state, const StageState& stage);
/// The stages in order, up to the task's last one.
[[nodiscard]] std::vector<StageFigures> stages_to_the_end(const TaskState& state);
[[nodiscard]] CostFigures cost_figures(const TaskState& state);

struct TaskFigures {
    std::string repo;
    TaskOverview overview;
    Sequence seq = 0;  ///< Of the last record that they are computed from.
    std::uint64_t steps = 0;
    std::string text;  ///< `task_summary`, JSON in one line: as text it takes a quarter of the memory.
};

/// `pending`, `in_progress`, `awaiting_approval`, `escalated`, `paused`, `interrupted`, `completed`, `failed` or `aborted`.
[[nodiscard]] std::string condition_of(const TaskOverview& overview);
/// What a person can do with the task now: `respond`, `approve`, `revise`, `reject`, `pause`, `resume`, `abort`.
[[nodiscard]] std::vector<std::string> available_actions(const TaskOverview& overview);

/// How many tasks there are in each condition.
struct TaskCounts {
    std::map<std::string, std::uint64_t> conditions;  ///< By condition_of.
    std::uint64_t waiting = 0;                        ///< For a person.

    void take(const TaskOverview& task);
    [[nodiscard]] std::uint64_t of(const std::string& condition) const;
};
/// `waiting`, and each condition that a task has.
[[nodiscard]] json::object to_json(const TaskCounts& counts);

[[nodiscard]] TaskFigures figures_of(const FollowedTask& task, const std::string& repo);
/// The figures of a task whose journal cannot be read, from its `state.yaml`. `problem`: why; nothing: it was never begun.
[[nodiscard]] TaskFigures figures_of(const TaskState& projected, const TaskPaths& paths, const std::string& repo,
                                     std::optional<Error> problem);
/// The same, but for whether a process has the task, and in what its last one died.
[[nodiscard]] TaskFigures with_process(TaskFigures figures, const TaskPaths& paths);
/// Something that cannot be read, as the API says it.
[[nodiscard]] json::object problem_json(const Error& error);
/// `figures.text`, parsed.
[[nodiscard]] json::object to_json(const TaskFigures& figures);

/// How far the task is, from 0 to 1: stages to the end of its pipeline, the current one by its steps.
[[nodiscard]] double overall_progress(const TaskState& state);
[[nodiscard]] double stage_progress(const TaskState& state);

}  // namespace agentforge::kernel
