// SPDX-License-Identifier: Apache-2.0
// A set: one request over several repositories, with a task in each, and branches in all of them or in none
// (docs/repositories.md).
//
//   specifying ──▶ specified ──every part's commit is ready──▶ branching ──every branch is there──▶ delivering ──▶ done
//       │            ▲  │                                        │                  every task has ended
//       │            └──┼── a branch cannot be made: those that were made are removed
//       └─── abort ─────┴──────── abort ──▶ undoing ◀────────────┘ abort
//                                             └── branches and checkouts are gone, every task is aborted ──▶ undone
//
// Its file is written before each action. `branching` names the branch and the commit of each part, so after a crash it is known
// which branches belong to the set. A set in `undoing` can only be undone.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "base/files.hpp"

namespace agentforge::kernel {

struct SetPart {
    std::string repo;                     ///< Name of the repository.
    std::filesystem::path path;           ///< Absolute path of its checkout.
    std::vector<std::string> depends_on;  ///< Names of other parts, whose branches are made first.
    std::string task;                     ///< Id of the task. Empty: not begun.
    std::string branch;                   ///< Set from `branching` on.
    std::string commit;                   ///< Set with `branch`.
};

enum class SetPhase : unsigned char { specifying = 1, specified, branching, delivering, done, undoing, undone };
[[nodiscard]] std::string_view to_string(SetPhase phase) noexcept;

struct TaskSet {
    std::string id;  ///< `set-…`
    std::string request;
    std::string pipeline;  ///< Pipeline of its parts. Empty: the one that specifications go to.
    std::string created_at;
    SetPhase phase = SetPhase::specifying;
    /// The task in the first repository. Empty: the specification was given, or the task was not begun.
    std::string specification_task;
    std::string test_result;     ///< Result of the command that tests the parts together. Empty: none was run.
    std::string reason;          ///< Why it went back or is being undone. Empty: it is not.
    std::vector<SetPart> parts;  ///< In the order named until `specified`, then each after those that it depends on.
    json::object settings;       ///< Settings for its tasks, in the form of `--set`.
    bool running = false;        ///< A process works on it. Only list_sets knows; not in the file.

    [[nodiscard]] SetPart* part_of_task(std::string_view task);
    /// True if there is nothing left to do for it.
    [[nodiscard]] bool has_ended() const noexcept { return phase == SetPhase::done || phase == SetPhase::undone; }
};

/// Errors: `corrupt` AF-SET-010 the file does not describe a set; `unavailable` AF-SET-011 it is missing.
[[nodiscard]] Result<TaskSet> load_set(const std::filesystem::path& file);
/// All sets below `folder`, the latest first. Empty if the folder is missing.
struct SetListing {
    std::vector<TaskSet> sets;
    std::vector<Error> problems;  ///< One for each unreadable set: the errors of load_set.
};
[[nodiscard]] SetListing list_sets(const std::filesystem::path& folder);
/// Returns the file of the set in this folder.
[[nodiscard]] inline std::filesystem::path set_file(const std::filesystem::path& set_folder) { return set_folder / "set.yaml"; }
/// Holds the set as long as it lives: one process works on a set at a time. Makes the folder. Errors: `conflict` AF-SET-008.
[[nodiscard]] Result<FileDescriptor> lock_set(const std::filesystem::path& set_folder);
/// Creates the folder `sets`/ID with the lock, the specification if there is one, and the set's file, whole or not at all.
/// Returns the lock. Removes leftovers of killed calls. Errors: `conflict` AF-SET-008; `io`, among them AF-SET-019.
[[nodiscard]] Result<FileDescriptor> create_set(const std::filesystem::path& sets, const TaskSet& set,
                                                const std::optional<std::string>& specification);
/// True if a process works on the set.
[[nodiscard]] bool is_set_locked(const std::filesystem::path& set_folder);
/// The set is on disk when it returns. Errors: `io`.
[[nodiscard]] Result<void> save_set(const std::filesystem::path& file, const TaskSet& set);

}  // namespace agentforge::kernel
