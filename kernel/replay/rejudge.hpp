// SPDX-License-Identifier: Apache-2.0
// Measures recorded trees again with the current gates and rules.
#pragma once

#include <string>
#include <vector>

#include "replay/replay.hpp"

namespace agentforge::kernel {

/// A gate's verdict on a recorded tree, then and now.
struct Rejudged {
    Sequence seq = 0;  ///< Number of its record.
    std::string stage;
    std::string gate;
    std::string tree;
    bool passed = false;
    bool passes = false;   ///< The verdict now.
    std::string recorded;  ///< In words.
    std::string now;
    bool other_rules = false;  ///< Settings or rules of the gates have changed since.
    [[nodiscard]] bool changed() const noexcept { return passed != passes; }
};

struct RejudgedTask {
    std::string task_id;
    std::vector<Rejudged> verdicts;  ///< One for each gate that judged a whole tree, in journal order.
    [[nodiscard]] bool changed() const noexcept;
};

/// Measures again each tree that a gate of the task judged as a whole, and that of each rebase, with the task's state at that
/// time: its specification, its tests before the task, its held-out tests. Works in scratch folders and does not change the task.
/// Leaves out gates that checked only some paths, because they do not judge a tree. Also leaves out the suite before the task,
/// because it always passes, and commit
/// hooks, which are the user's and not part of a clone. Errors: those of RecordedTask::read; AF-GIT-… a tree is no longer in the
/// repository; AF-GATE-… nothing can be measured here.
[[nodiscard]] Result<RejudgedTask> rejudge_task(const ReplayPlace& place, std::string_view task_id, const Stop& stop);

}  // namespace agentforge::kernel
