// SPDX-License-Identifier: Apache-2.0
// Recorded trees, measured again with the gates and rules of now.
#pragma once

#include <string>
#include <vector>

#include "replay/replay.hpp"

namespace agentforge::kernel {

/// A gate's verdict on a recorded tree, then and now.
struct Rejudged {
    Sequence seq = 0;  ///< Its record.
    std::string stage;
    std::string gate;
    std::string tree;
    bool passed = false;
    bool passes = false;   ///< Now.
    std::string recorded;  ///< In words.
    std::string now;
    bool other_rules = false;  ///< Settings or rules of the gates have changed since.
    [[nodiscard]] bool changed() const noexcept { return passed != passes; }
};

struct RejudgedTask {
    std::string task_id;
    std::vector<Rejudged> verdicts;  ///< Of each gate that judged a whole tree, in the order of the journal.
    [[nodiscard]] bool changed() const noexcept;
};

/// Measures each tree that a gate of the task judged as a whole again, with the state that the task was in then: its
/// specification, its tests before the task, its held-out tests. All of it happens in scratch folders; the task is not changed.
/// Gates that looked at some paths only say nothing of a tree, and are left out, as is the suite before the task, which passes
/// whatever it finds. Errors: those of RecordedTask::read; AF-GIT-… a tree is not in the repository any more; AF-GATE-… nothing
/// can be measured here.
[[nodiscard]] Result<RejudgedTask> rejudge_task(const ReplayPlace& place, std::string_view task_id, const Stop& stop);

}  // namespace agentforge::kernel
