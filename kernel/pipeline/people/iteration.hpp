// SPDX-License-Identifier: Apache-2.0
// A stage that a person sends round: what its agent is told, and what became of it (North Star 13.6).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>

#include "escalation/feedback.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {

/// What the agents of the current stage are told of the feedback that it runs again with: `iteration`, `max_iterations`,
/// `previous_artifact`, `feedback` (`must_address`, `overall`, `should_consider`), `instruction`. Empty where there is no
/// feedback.
[[nodiscard]] json::object iteration_context(const TaskState& state);

/// A place in an artifact: names of fields, numbers or names of elements, parted by dots (`requirements.REQ-003`,
/// `files[0].path`). An element is found by a field of its own that holds the name. Null: there is no such place.
[[nodiscard]] const json::value* place_in(const json::object& artifact, std::string_view location);

/// What became of all that must be addressed, by what was measured: `changed` and `unchanged` compare the place in both versions,
/// `unmeasured` names none that either has. As the record `artifact_accepted` keeps it.
[[nodiscard]] json::array answers_to(const json::array& issues, const json::object& before, const json::object& after);
/// "requirements.REQ-003: Missing acceptance criteria", for each that is as it was.
[[nodiscard]] std::vector<std::string> unanswered(const json::array& answers);
/// The same for those that only a person can judge.
[[nodiscard]] std::vector<std::string> unmeasured(const json::array& answers);

/// What a person who is asked about an artifact should know besides it, in lines: which version it is, what the template asks of
/// them, what was not addressed, where rejecting leads.
[[nodiscard]] std::vector<std::string> words_before_decision(const TaskState& state);

}  // namespace agentforge::kernel
