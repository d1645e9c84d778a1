// SPDX-License-Identifier: Apache-2.0
// The recorded changes of a task alone, done again on a branch: no model, no gates, no new task.
#pragma once

#include <string>
#include <vector>

#include "replay/replay.hpp"

namespace agentforge::kernel {

struct ActionsOptions {
    std::string onto;           ///< A branch; empty: the commit that the recorded task began on.
    bool past_misfits = false;  ///< What does not fit is left out and named, and the rest is done.
};

struct ActionsReport {
    std::string task_id;
    std::string base_tree;
    std::string tree;  ///< What came of it; kept under `refs/agentforge/<task>/replayed`.
    bool same_base = true;
    std::uint64_t done = 0;                 ///< Recorded changes.
    std::vector<ReplayDifference> misfits;  ///< Nothing of these is in the tree.
    std::vector<TreeChange> files;          ///< From the base to the tree.
};

/// Does each recorded action that changed files again: through the tool bridge with the role's tools and path rules of now, in a
/// scratch worktree. What the kernel, a stage or a program changed is put in by a three-way merge. On the same base the tree is
/// the recorded one after each change, byte for byte; on another an action that replaces a whole file must find it as it was
/// found then. Stops at the first that does not fit. Errors: those of RecordedTask::read; AF-RPLY-004; AF-GIT-…; AF-AGENT-… a
/// role is not defined any more.
[[nodiscard]] Result<ActionsReport> replay_actions(const ReplayPlace& place, std::string_view task_id,
                                                   const ActionsOptions& options);

}  // namespace agentforge::kernel
