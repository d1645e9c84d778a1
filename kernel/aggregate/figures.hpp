// SPDX-License-Identifier: Apache-2.0
// The figures of a task, for `status`, the dashboard's API and its page.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/json.hpp>

#include "aggregate/followed_task.hpp"
#include "aggregate/overview.hpp"
#include "aggregate/statistics.hpp"

namespace agentforge::kernel {

/// The progress of one stage.
struct StageFigures {
    std::string name;
    std::string status;  ///< As in `state.yaml`.
    bool done = false;   ///< Completed or skipped.
    std::uint64_t steps = 0;
    unsigned attempts = 0;
    std::uint64_t duration_ms = 0;
    std::uint64_t tokens = 0;  ///< Includes those of lost calls.
    std::string skip_reason;   ///< This field and those below are empty if there is none.
    std::string error;
    std::string artifact;
};

/// Totals of the model calls.
struct CostFigures {
    std::uint64_t tokens = 0;
    std::uint64_t input_tokens = 0;
    std::uint64_t output_tokens = 0;
    std::uint64_t calls = 0;
    std::uint64_t calls_lost = 0;
    std::optional<double> usd;  ///< Empty if no price is known.
    bool known = false;         ///< True if each call had a price.
};

[[nodiscard]] StageFigures figures_of(const TaskState& state, const StageState& stage);
/// Returns the stages in order, up to the task's last one.
[[nodiscard]] std::vector<StageFigures> stages_up_to_last(const TaskState& state);
[[nodiscard]] CostFigures cost_figures(const TaskState& state);
/// True if the task was started with the replay backend.
[[nodiscard]] bool answered_from_transcript(const TaskPaths& paths);
/// Returns what a task cost: nothing if its answers came from a transcript, otherwise as cost_in_words.
[[nodiscard]] std::string cost_of_task(const TaskPaths& paths, const Spend& spend,
                                       const std::vector<std::string>& unpriced_models);

struct TaskFigures {
    std::string repo;
    TaskOverview overview;
    Sequence seq = 0;  ///< Sequence number of the last record in these figures.
    std::uint64_t steps = 0;
    /// The figures as the API shows them (`TaskSummary` in kernel/dashboard/openapi.yaml), JSON in one line. `elapsed_seconds` of
    /// an open task is out of date: use `text_at`. Text takes a quarter of the memory of JSON values.
    std::string text;
    std::optional<TaskSample> statistics = {};  ///< Its share of the statistics. Empty: its journal cannot be read.
};

/// Returns `pending`, `in_progress`, `awaiting_approval`, `escalated`, `paused`, `interrupted`, `completed`, `failed`, `aborted`,
/// or `unknown` if neither the journal nor `state.yaml` can be read.
[[nodiscard]] std::string state_name(const TaskOverview& overview);
/// Returns the actions that a person can take now: `respond`, `approve`, `revise`, `exit`, `reject`, `extend`, `pause`,
/// `resume`, `abort`.
[[nodiscard]] std::vector<std::string> available_actions(const TaskOverview& overview);

/// The number of tasks in each condition.
struct TaskCounts {
    std::map<std::string, std::uint64_t> conditions;  ///< By the name that state_name returns.
    std::uint64_t waiting = 0;                        ///< Tasks that wait for a person.

    void take(const TaskOverview& task);
    [[nodiscard]] std::uint64_t of(const std::string& condition) const;
};
/// Returns `waiting`, and each condition that at least one task has.
[[nodiscard]] json::object to_json(const TaskCounts& counts);

[[nodiscard]] TaskFigures figures_of(const FollowedTask& task, const std::string& repo);
/// A task whose journal cannot be read.
struct ProjectedTask {
    TaskState state;  ///< From `state.yaml`; only the id if that cannot be read either. The task is then `unknown`.
    TaskOverview overview;
};
/// Returns what is known of a task whose journal cannot be read. `status`, `stats`, the dashboard's API and its page all use it.
/// `problem`: the result of TaskStore::damage. Reads the files on each call, so the result does not depend on what this process
/// read before the damage.
[[nodiscard]] ProjectedTask projected_task(const TaskStore& store, const std::string& task_id, std::optional<Error> problem);
[[nodiscard]] TaskFigures figures_of(const ProjectedTask& task, const std::string& repo);
/// Returns the figures with the current process: whether one works on the task, and in which plugin the last one died.
[[nodiscard]] TaskFigures with_process(TaskFigures figures, const TaskPaths& paths);
/// Returns the API's form of an error about a task or repository that cannot be read.
[[nodiscard]] json::object problem_json(const Error& error);
/// Returns `figures.text` with `elapsed_seconds` at this time: from the task's start to its end, or to `now` if it is open.
[[nodiscard]] std::string text_at(const TaskFigures& figures, std::chrono::system_clock::time_point now);
/// The same, parsed.
[[nodiscard]] json::object to_json(const TaskFigures& figures, std::chrono::system_clock::time_point now);

/// Returns the progress of the task, from 0 to 1: stages done of those in its pipeline, plus the current stage's share by its
/// steps.
[[nodiscard]] double overall_progress(const TaskState& state);
[[nodiscard]] double stage_progress(const TaskState& state);

}  // namespace agentforge::kernel
