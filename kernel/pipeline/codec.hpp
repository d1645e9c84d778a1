// SPDX-License-Identifier: Apache-2.0
// JSON form of the results of host calls, for the journal. from_json(to_json(x)) equals x.
#pragma once

#include <agentforge/stage.hpp>

#include "agent/step_host.hpp"
#include "records/records.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {

[[nodiscard]] json::object to_json(const Error& error);
[[nodiscard]] Error error_from_json(const json::object& value);
[[nodiscard]] records::RecordedError recorded(const Error& error);
[[nodiscard]] json::object to_json(const Change& change);
[[nodiscard]] Change change_from_json(const json::object& value);
[[nodiscard]] json::array to_json(const std::vector<Change>& changes);
/// Returns the changes as they are recorded.
[[nodiscard]] std::vector<records::FileChange> recorded(const std::vector<Change>& changes);
[[nodiscard]] std::vector<Change> changes_from_json(const json::array& value);
[[nodiscard]] json::object to_json(const EscalationRequest& request);
[[nodiscard]] EscalationRequest escalation_from_json(const json::object& value);
[[nodiscard]] json::object to_json(const Completion& completion);
[[nodiscard]] Completion completion_from_json(const json::object& value);
[[nodiscard]] json::object to_json(const StepRecord& record);
[[nodiscard]] StepRecord step_from_json(const json::object& value);
/// Reads a step from its blob. Errors: `corrupt` AF-ORCH-022 it is not a map.
[[nodiscard]] Result<StepRecord> recorded_step(const json::value& value);
[[nodiscard]] json::object to_json(const AgentOutcome& outcome);
[[nodiscard]] AgentOutcome outcome_from_json(const json::object& value);
[[nodiscard]] json::object to_json(const ProcessResult& result);
[[nodiscard]] ProcessResult process_from_json(const json::object& value);
[[nodiscard]] json::object to_json(const Delivery& delivery);
[[nodiscard]] Delivery delivery_from_json(const json::object& value);
[[nodiscard]] json::object to_json(const FileView& view);
[[nodiscard]] FileView view_from_json(const json::object& value);
[[nodiscard]] json::object to_json(const Listing& listing);
[[nodiscard]] Listing listing_from_json(const json::object& value);
[[nodiscard]] json::object to_json(const SearchHits& hits);
[[nodiscard]] SearchHits hits_from_json(const json::object& value);

}  // namespace agentforge::kernel
