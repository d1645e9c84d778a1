// SPDX-License-Identifier: Apache-2.0
// The steps of an agent run in the journal.
#pragma once

#include <vector>

#include "agent/step_host.hpp"
#include "pipeline/agent_run/open_run.hpp"

namespace agentforge::kernel {

/// Returns the run's steps that are already in the journal, in order. Errors: those of the blob store; AF-ORCH-… a step cannot be
/// read.
[[nodiscard]] Result<std::vector<StepRecord>> recorded_steps(const OpenRun& run);

/// Journals the step. Records the workspace as a tree, with the patch of this step, if the step changed files; sets its `tree`.
[[nodiscard]] Result<void> record_step(OpenRun& run, StepRecord& step);

}  // namespace agentforge::kernel
