// SPDX-License-Identifier: Apache-2.0
// The people of a recorded task, for its replay.
#pragma once

#include <memory>

#include "escalation/escalation_store.hpp"
#include "replay/recorded_task.hpp"
#include "replay/replay_watch.hpp"

namespace agentforge::kernel {

/// Answers as in the recording: questions in order, actions by their place. An approval applies only if artifact and tree are the
/// approved ones; any other artifact waits for a person. All four arguments must outlive it.
[[nodiscard]] std::shared_ptr<EscalationHandler> make_recorded_people(const RecordedTask& recorded, const ReplayWatch& watch,
                                                                      const EscalationStore& store);

}  // namespace agentforge::kernel
