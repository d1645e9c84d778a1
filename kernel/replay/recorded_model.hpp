// SPDX-License-Identifier: Apache-2.0
// A model that answers what a task's journal says was answered at the same place.
#pragma once

#include <memory>

#include "backends/client.hpp"
#include "replay/recorded_task.hpp"
#include "replay/replay_watch.hpp"

namespace agentforge::kernel {

/// Answers for one role; `recorded` and `watch` outlive it. Where the journal has no answer but says that the visit failed, the
/// call fails with that error. Errors: AF-RPLY-002 what was done last does not fit the recording (ReplayWatch::misfit);
/// AF-RPLY-003 the recording ends here; AF-RPLY-005 the role's model worked agentically, and what its command did is not
/// replayed. Each pauses the task.
[[nodiscard]] std::unique_ptr<ModelClient> make_recorded_model(const RecordedTask& recorded, ReplayWatch& watch,
                                                               const std::string& role);

}  // namespace agentforge::kernel
