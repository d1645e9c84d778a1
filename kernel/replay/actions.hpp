// SPDX-License-Identifier: Apache-2.0
// Repeats only the recorded changes of a task, on a branch: no model, no gates, no new task.
#pragma once

#include <string>
#include <vector>

#include "replay/replay.hpp"

namespace agentforge::kernel {

struct ActionsOptions {
    std::string onto;              ///< A branch. Empty: the commit on which the recorded task began.
    bool past_mismatches = false;  ///< Skips and lists changes that do not fit, and applies the others.
};

struct ActionsReport {
    std::string task_id;
    std::string base_tree;
    std::string tree;  ///< The resulting tree, kept under `refs/agentforge/<task>/replayed`.
    bool same_base = true;
    std::uint64_t done = 0;                    ///< Recorded changes that were repeated.
    std::vector<ReplayDifference> mismatches;  ///< None of these is in the tree.
    std::vector<TreeChange> files;             ///< From the base to the tree.
};

/// Repeats each recorded action that changed files: through the tool bridge with the role's current tools and path rules, in a
/// scratch worktree. Merges in (three-way) what the kernel, a stage or a program changed. On the same base, the tree after each
/// change equals the recorded one byte for byte. On another base, an action that replaces a whole file must find the same content
/// as then. Stops at the first change that does not fit. Errors: those of RecordedTask::read; AF-RPLY-004; AF-GIT-…; AF-AGENT-… a
/// role is no longer defined.
[[nodiscard]] Result<ActionsReport> replay_actions(const ReplayPlace& place, std::string_view task_id,
                                                   const ActionsOptions& options);

}  // namespace agentforge::kernel
