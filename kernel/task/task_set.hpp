// SPDX-License-Identifier: Apache-2.0
// A set: one request over several repositories, a task in each, and branches in all of them or in none (docs/repositories.md).
//
//   specified ──every part's commit is ready──▶ branching ──every branch is there──▶ delivering ──every task has ended──▶ done
//       ▲  │                                        │
//       │  └──────────────── abort ──▶ undone ◀─────┘ abort
//       └──────── a branch cannot be made: those that were made are removed
//
// Its file says what is about to be done before it is done. `branching` names the branch and the commit of each part, so that
// whoever comes after a crash knows which branches are the set's.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct SetPart {
    std::string repo;                     ///< The repository's name.
    std::filesystem::path path;           ///< Absolute: its checkout.
    std::vector<std::string> depends_on;  ///< Names of other parts, whose branches are made before.
    std::string task;                     ///< Empty: it was not begun.
    std::string branch;                   ///< From `branching` on.
    std::string commit;                   ///< With it.
};

enum class SetPhase : unsigned char { specifying = 1, specified, branching, delivering, done, undone };
[[nodiscard]] std::string_view to_string(SetPhase phase) noexcept;

struct TaskSet {
    std::string id;  ///< `set-…`
    std::string request;
    std::string pipeline;  ///< Of its parts; empty: the one that specifications go to.
    std::string created_at;
    SetPhase phase = SetPhase::specifying;
    std::string specification_task;  ///< Of the first repository; empty: the specification was given, or the task was not begun.
    std::string test_result;         ///< What the command that tests the parts together came to; empty: none was run.
    std::string reason;              ///< Why it went back or was undone; empty: it did not.
    std::vector<SetPart>
        parts;              ///< As they were named until `specified`, then so that each stands behind those that it depends on.
    json::object settings;  ///< As `--set` gives them, for its tasks.

    [[nodiscard]] SetPart* part_of_task(std::string_view task);
    /// Nothing is left to do for it.
    [[nodiscard]] bool has_ended() const noexcept { return phase == SetPhase::done || phase == SetPhase::undone; }
};

/// Errors: `corrupt` AF-SET-010 the file is none of a set; `unavailable` AF-SET-011 it is gone.
[[nodiscard]] Result<TaskSet> load_set(const std::filesystem::path& file);
/// All sets below `folder`, the newest first. A folder that is not there has none.
struct SetListing {
    std::vector<TaskSet> sets;
    std::vector<Error> problems;  ///< One for each set that cannot be read; those of load_set.
};
[[nodiscard]] SetListing list_sets(const std::filesystem::path& folder);
/// The file of the set whose own folder this is.
[[nodiscard]] inline std::filesystem::path set_file(const std::filesystem::path& set_folder) { return set_folder / "set.yaml"; }
/// On disk when it returns. Errors: `io`.
[[nodiscard]] Result<void> save_set(const std::filesystem::path& file, const TaskSet& set);

}  // namespace agentforge::kernel
