// SPDX-License-Identifier: Apache-2.0
// Garbage of ended tasks: worktrees, the refs that keep recorded trees, and blobs. Never a journal.
//
// Whatever the policy says, these are kept: everything of a task that can continue (running, waiting, paused, failed) or that a
// process holds; the history of a fork that can continue; the trees of a change that exists nowhere else (delivered to no branch,
// or to one that is gone or was reset); uncommitted changes that a task began with and delivered nothing on top of; blobs that
// are not in the task's archive.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "git/repository.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// The command in the lock of a task whose garbage is being removed.
inline constexpr std::string_view gc_command = "gc";

struct GarbagePolicy {
    std::chrono::system_clock::time_point before;  ///< Refs and blobs are removed only from tasks whose last record is older.
    bool blobs = false;                            ///< Remove blobs too, if the archive holds them.
};

enum class GarbageKind : unsigned char { worktree = 1, refs, blobs };
[[nodiscard]] std::string_view to_string(GarbageKind kind) noexcept;

struct Garbage {
    GarbageKind kind = GarbageKind::worktree;
    std::string task;
    std::string place;        ///< A folder or file, or the refs' common prefix.
    std::size_t count = 1;    ///< Number of refs.
    std::uint64_t bytes = 0;  ///< On disk. For refs, the uncompressed size that `git gc` can then free.
    std::string needed = {};  ///< A tree whose refs stay: `rebase` needs it.
};

/// An ended task that is due, and why part of it is kept.
struct KeptGarbage {
    std::string task;
    std::string why;
};

struct GarbagePlan {
    std::vector<Garbage> items;
    std::vector<KeptGarbage> kept;
    std::vector<Error> problems;  ///< Tasks that cannot be read. Nothing of them is removed.
};

struct GarbagePlace {
    const TaskStore& tasks;
    const Repository& repository;
    std::string state_directory;
};

/// Returns the ended tasks that no process holds and whose archive is missing or older than their journal: their process was
/// killed, or could not write it (PipelineController::archive_ended). Errors: AF-TASK-007, AF-GIT-….
[[nodiscard]] Result<std::vector<std::string>> find_unarchived(const TaskStore& tasks, const std::filesystem::path& repository);
/// Errors: AF-TASK-007, AF-GIT-….
[[nodiscard]] Result<GarbagePlan> find_garbage(const GarbagePlace& place, const GarbagePolicy& policy);
/// Removes one item under the task's lock, after checking again that it may be removed. Returns false if it may not. Errors:
/// `io`, AF-GIT-….
[[nodiscard]] Result<bool> remove_garbage(const GarbagePlace& place, const GarbagePolicy& policy, const Garbage& item);

}  // namespace agentforge::kernel
