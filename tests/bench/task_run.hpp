// SPDX-License-Identifier: Apache-2.0
// A complete eight-stage task with a model and gates that answer at once.
#pragma once

#include "task/state.hpp"

namespace agentforge::bench {

/// Returns the state of a task that has completed all eight stages and has a commit.
[[nodiscard]] kernel::TaskState finished_task();

}  // namespace agentforge::bench
