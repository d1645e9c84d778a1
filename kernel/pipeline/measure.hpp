// SPDX-License-Identifier: Apache-2.0
// Measuring a task's tree and turning what was measured into facts. Nothing here is claimed by a model.
#pragma once

#include <optional>
#include <string>

#include <agentforge/host.hpp>

#include "base/cancel.hpp"
#include "pipeline/session.hpp"
#include "pipeline/workshop.hpp"

namespace agentforge::kernel {

/// Runs a gate on a recorded tree of the task and journals the result. Gates that judge a whole stage (red, green,
/// refactor, deliver) first have the suite measured on the base tree, once (`baseline`).
/// `candidate` is the artifact that is being handed in, where the gate judges one.
/// Errors: AF-GATE-…; cancelled.
[[nodiscard]] Result<GateReport> measure(TaskSession& session, Workshop& workshop, EventSink& events, const GateRequest& request,
                                         const std::string& tree, const json::object* candidate, const Stop& stop);

/// The newest report of a gate, if it was measured.
[[nodiscard]] Result<std::optional<GateReport>> newest_report(const TaskSession& session, std::string_view gate);

/// North Star 2.4.4 from the reports that hold for the current tree.
[[nodiscard]] Result<json::object> current_verification(const TaskSession& session);

/// The files of the tests that RED recorded; nobody may write them from then on. Empty before RED.
[[nodiscard]] Result<std::vector<std::string>> locked_tests(const TaskSession& session);

/// Everything that `measured:` may name for the artifact of the current stage: ids, references, gate facts, file lists.
[[nodiscard]] Result<json::object> measured_facts(const TaskSession& session, Workshop& workshop, const json::object& artifact,
                                                  std::string_view now);

}  // namespace agentforge::kernel
