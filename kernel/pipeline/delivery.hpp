// SPDX-License-Identifier: Apache-2.0
// Delivery: one last gate on the very tree that is committed, then the commit.
#pragma once

#include "pipeline/services.hpp"
#include "pipeline/session.hpp"
#include "pipeline/workshop.hpp"

namespace agentforge::kernel {

/// Measures the deliver gate on the recorded tree and, only if it passes, commits that tree to `agentforge/<task-id>` with
/// the task's id and the journal's head as trailers. Errors: AF-ORCH-030 the gate does not pass, AF-ORCH-031 nothing
/// changed, AF-GIT-….
[[nodiscard]] Result<Delivery> deliver_task(TaskSession& session, Workshop& workshop, TaskServices& services, StageClock& clock,
                                            const DeliveryRequest& request);

}  // namespace agentforge::kernel
