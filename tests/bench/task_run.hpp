// SPDX-License-Identifier: Apache-2.0
// A whole eight-stage task with a model and gates that answer at once.
#pragma once

#include "task/state.hpp"

namespace agentforge::bench {

/// The state of a task that has gone through all eight stages to a commit.
[[nodiscard]] kernel::TaskState finished_task();

}  // namespace agentforge::bench
