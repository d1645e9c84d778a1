// SPDX-License-Identifier: Apache-2.0
// Iteration: a person asks a stage to revise its artifact. The agent's instructions, and its answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>

#include "escalation/feedback.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {

/// Converts issues to and from the form of their record.
[[nodiscard]] std::vector<records::FeedbackIssue> recorded(const std::vector<FeedbackIssue>& issues);
[[nodiscard]] std::vector<FeedbackIssue> issues_of(const std::vector<records::FeedbackIssue>& issues);

/// Returns what the agents of the current stage are told about the feedback: `iteration`, `max_iterations`, `previous_artifact`,
/// `feedback` (`must_address`, `overall`, `should_consider`), `instruction`. Empty if there is no feedback.
[[nodiscard]] json::object iteration_context(const TaskState& state);

/// Finds a place in an artifact: field names, indices or element names, separated by dots (`requirements.REQ-003`,
/// `files[0].path`). An element is found by one of its fields that holds the name. Null: there is no such place.
[[nodiscard]] const json::value* place_in(const json::object& artifact, std::string_view location);

/// Compares each issue that must be addressed in both versions: `changed` and `unchanged`, or `unmeasured` if neither version has
/// the place.
[[nodiscard]] std::vector<records::IssueAnswer> answers_to(const std::vector<records::FeedbackIssue>& issues,
                                                           const json::object& before, const json::object& after);
/// Returns "requirements.REQ-003: Missing acceptance criteria" for each unchanged issue.
[[nodiscard]] std::vector<std::string> unanswered(const std::vector<records::IssueAnswer>& answers);
/// The same for issues that only a person can judge.
[[nodiscard]] std::vector<std::string> unmeasured(const std::vector<records::IssueAnswer>& answers);
/// Returns a line for a person about each unchanged issue, and about each that only they can judge, with the reason.
[[nodiscard]] std::vector<std::string> remarks_on_answers(const std::vector<records::IssueAnswer>& answers);

/// Returns lines for a person who must decide on an artifact: its version, the template's questions to them, the issues that were
/// not addressed, the stage that rejecting leads to.
[[nodiscard]] std::vector<std::string> words_before_decision(const TaskState& state);

}  // namespace agentforge::kernel
