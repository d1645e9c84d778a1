// SPDX-License-Identifier: Apache-2.0
// A task at a glance, for `status`, the dashboard's API and its page: its summary, whether a process runs it, its progress, what
// it did last.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "task/state.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// What a journal says of a task beyond its state.
struct LastActivity {
    std::string action;  ///< The newest step's tool; empty: none was seen.
    std::string at;
    bool succeeded = true;    ///< That step.
    std::uint64_t tests = 0;  ///< Of the newest gate that ran any; 0: none was seen.
    std::uint64_t tests_passed = 0;
    std::optional<bool> conformance;  ///< Of the newest gate that checked it.

    /// The next record of the journal.
    void take(const Record& record);
};

/// One task of a listing, with what only its own files say.
struct TaskOverview {
    TaskSummary summary;
    bool running = false;  ///< A process has it.
    bool began = true;     ///< Its journal has a record.
    std::string ended_in;  ///< The plugin call in which its last process died, or empty.
    std::size_t stages_done = 0;
    std::size_t stages = 0;  ///< To the end of its pipeline; 0: not known.
    double progress = 0;     ///< overall_progress (figures.hpp).
    std::string waiting_id;
    std::string question;          ///< What it waits for, in words.
    bool can_be_extended = false;  ///< It has come to its end, or shows the artifact that it would end with, and stages follow.
                                   ///< Not known of a listing.
    std::string set;               ///< The set that it is a part of, or empty. Not known of a listing.
    std::optional<Error> problem;  ///< Why the journal cannot be read: the rest is from `state.yaml`.
    LastActivity activity;
};

/// It was under way, and no process has it: `resume` goes on.
[[nodiscard]] bool is_interrupted(const TaskOverview& task);
/// Whether `continue --extend-to` has stages to go on with.
[[nodiscard]] bool can_be_extended(const TaskState& state);
/// Of a task whose state is known; `paths`, its folder, says who has it.
[[nodiscard]] TaskOverview overview_of(const TaskState& state, LastActivity activity, const TaskPaths& paths);
/// Of a task of which only the listing's line is known.
[[nodiscard]] TaskOverview overview_of(TaskSummary summary, const TaskPaths& paths);
[[nodiscard]] json::object to_json(const TaskOverview& overview);

}  // namespace agentforge::kernel
