// SPDX-License-Identifier: Apache-2.0
// A task at a glance, for `status`, the dashboard's API and its page: its summary, whether a process runs it, its progress, and
// its latest action.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "task/state.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// Facts from a journal that are not in the task's state.
struct LastActivity {
    std::string action;  ///< Tool of the newest step. Empty: there is no step yet.
    std::string at;
    std::string target;       ///< What that step is about: the first file that it changed, else `target` of its action.
    bool succeeded = true;    ///< Whether that step succeeded.
    std::uint64_t tests = 0;  ///< Number of tests in the newest gate that ran any. 0: none has run.
    std::uint64_t tests_passed = 0;
    std::optional<bool> conformance;           ///< Result of the newest gate that checked it.
    std::optional<std::uint64_t> checks = {};  ///< Number of its checks. Empty: an old record without it.
    std::optional<std::uint64_t> checks_passed = {};

    /// Takes the next record of the journal.
    void take(const Record& record);
};

/// One task of a listing, with facts from its own files.
struct TaskOverview {
    TaskSummary summary;
    bool running = false;  ///< A process runs the task.
    bool began = true;     ///< The journal has a record.
    std::string ended_in;  ///< The plugin call in which the last process died, or empty.
    std::size_t stages_done = 0;
    std::size_t stages = 0;  ///< To the end of the pipeline. 0: not known.
    double progress = 0;     ///< See overall_progress (figures.hpp).
    std::string waiting_id;
    std::string question;          ///< The open question, or why the task is paused.
    bool answered = false;         ///< The question has an answer that no process has read yet; `resume` continues with it.
    std::string answer_problem;    ///< Why the answer's file cannot be used, or empty; the question stays open.
    std::optional<Error> problem;  ///< Why the journal cannot be read. The other fields are then from `state.yaml`.
    LastActivity activity;

    // Computed from the folded state. The lines of a listing have the default values.
    bool can_resume = true;  ///< False if the task failed for a reason that `resume` cannot change.
    bool can_be_extended =
        false;                 ///< True if stages follow, and the task has ended or shows the artifact that it would end with.
    bool can_be_last = false;  ///< True if the task may end with the artifact that it shows.
    std::string set;           ///< The set that contains the task, or empty.
};

/// True if the task can be read and waits for an answer that nobody has given yet.
[[nodiscard]] bool waits_for_person(const TaskOverview& task);
/// True if the task was in progress and no process runs it; `resume` continues it.
[[nodiscard]] bool is_interrupted(const TaskOverview& task);
/// True if stages are left for `continue --extend-to`.
[[nodiscard]] bool can_be_extended(const TaskState& state);
/// Updates `answered` and `answer_problem` from the folder of escalations that belongs to the task's folder. Returns true if one
/// of them changed.
bool update_answer(const TaskPaths& paths, TaskOverview& task);
/// Returns the overview of a task whose state is known. `paths`: the task's folder; its lock names the process that runs it.
[[nodiscard]] TaskOverview overview_of(const TaskState& state, LastActivity activity, const TaskPaths& paths);
/// Returns the overview of a task from its line of the listing.
[[nodiscard]] TaskOverview overview_of(TaskSummary summary, const TaskPaths& paths);
[[nodiscard]] json::object to_json(const TaskOverview& overview);

}  // namespace agentforge::kernel
