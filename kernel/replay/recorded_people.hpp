// SPDX-License-Identifier: Apache-2.0
// The people of a recorded task, for its replay.
#pragma once

#include <memory>

#include "escalation/store.hpp"
#include "replay/recorded_task.hpp"
#include "replay/replay_watch.hpp"

namespace agentforge::kernel {

/// Answers what the replay asks as it was answered then: questions in their order, actions by their place. An approval counts
/// only where the artifact and the tree are those that were approved; any other artifact waits for a person. All four outlive it.
[[nodiscard]] std::shared_ptr<EscalationHandler> make_recorded_people(const RecordedTask& recorded, const ReplayWatch& watch,
                                                                      const EscalationStore& store);

}  // namespace agentforge::kernel
