// SPDX-License-Identifier: Apache-2.0
// The input of a stage when it is entered.
#pragma once

#include <agentforge/stage.hpp>

#include "pipeline/task_session.hpp"

namespace agentforge::kernel {

/// Returns the input of the current stage: the artifacts so far as the stage may see them, feedback, a person's answer, the
/// previous attempt. Errors: those of the artifacts and blobs.
[[nodiscard]] Result<StageInput> stage_input(const TaskSession& session);

}  // namespace agentforge::kernel
