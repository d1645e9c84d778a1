// SPDX-License-Identifier: Apache-2.0
// A model that returns the answers recorded at the same place in a task's journal.
#pragma once

#include <memory>
#include <string_view>

#include "backends/model_client.hpp"
#include "replay/recorded_task.hpp"
#include "replay/replay_watch.hpp"

namespace agentforge::kernel {

constexpr std::string_view does_not_fit_code = "AF-RPLY-002";
constexpr std::string_view recording_ends_code = "AF-RPLY-003";

/// Returns a client for one role; `recorded` and `watch` must outlive it. If the journal has no answer but says that the visit
/// failed, the call fails with that error. Errors: AF-RPLY-002 the last action does not fit the recording
/// (ReplayWatch::mismatch); AF-RPLY-003 the recording ends here; AF-RPLY-005 the role's model worked in agentic mode, whose
/// changes are not replayed. Each pauses the task.
[[nodiscard]] std::unique_ptr<ModelClient> make_recorded_model(const RecordedTask& recorded, ReplayWatch& watch,
                                                               const std::string& role);

}  // namespace agentforge::kernel
