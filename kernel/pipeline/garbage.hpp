// SPDX-License-Identifier: Apache-2.0
// What ended tasks leave behind and nobody needs: worktrees, the refs that keep recorded trees, blobs. Never a journal.
//
// Kept are, whatever the policy says: all of a task that may go on (running, waiting, paused, failed) or that a process has; what
// a fork goes on from, as long as the fork may go on; the trees of a change that is nowhere else (delivered to no branch, or to
// one that is gone or was reset); uncommitted changes that a task began with and delivered nothing on top of; blobs that the
// task's archive does not hold.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "git/repository.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// Who holds the lock of a task whose garbage is removed.
inline constexpr std::string_view gc_command = "gc";

struct GarbagePolicy {
    std::chrono::system_clock::time_point before;  ///< Refs and blobs go only of tasks whose last record is older.
    bool blobs = false;                            ///< Blobs too, where the archive holds them.
};

enum class GarbageKind : unsigned char { worktree = 1, refs, blobs };
[[nodiscard]] std::string_view to_string(GarbageKind kind) noexcept;

struct Garbage {
    GarbageKind kind = GarbageKind::worktree;
    std::string task;
    std::string place;        ///< A folder or file, or the refs' common beginning.
    std::size_t count = 1;    ///< Of refs.
    std::uint64_t bytes = 0;  ///< On disk; of refs, what `git gc` may free then, uncompressed.
};

/// An ended task that would be due, and why something of it stays.
struct KeptGarbage {
    std::string task;
    std::string why;
};

struct GarbagePlan {
    std::vector<Garbage> items;
    std::vector<KeptGarbage> kept;
    std::vector<Error> problems;  ///< Tasks that cannot be read: nothing of them is touched.
};

struct GarbagePlace {
    const TaskStore& tasks;
    const Repository& repository;
    std::string state_directory;
};

/// Errors: AF-TASK-007, AF-GIT-….
[[nodiscard]] Result<GarbagePlan> find_garbage(const GarbagePlace& place, const GarbagePolicy& policy);
/// Removes one item after looking again whether it may go, under the task's lock. False: it may not any more. Errors: `io`,
/// AF-GIT-….
[[nodiscard]] Result<bool> remove_garbage(const GarbagePlace& place, const GarbagePolicy& policy, const Garbage& item);

}  // namespace agentforge::kernel
