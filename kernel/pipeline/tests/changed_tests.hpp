// SPDX-License-Identifier: Apache-2.0
// Existing tests that a task changes because the request contradicts them: which it may change, and which changes a person has
// yet to approve.
#pragma once

#include <string>
#include <vector>

#include <agentforge/host.hpp>

#include "gates/test_quality/outdated_tests.hpp"
#include "pipeline/task_session.hpp"

namespace agentforge::kernel {

/// Returns the ids of tests that passed before the task and may be changed: the specification calls them outdated
/// (`outdated_tests`), or a later stage has handed them back to the stage that writes tests.
[[nodiscard]] std::vector<std::string> outdated_tests(const TaskState& state, const json::object& specification,
                                                      const std::vector<TestOutcome>& base_tests);

/// Returns the changes of existing tests in the newest report of the gate `red`.
[[nodiscard]] Result<std::vector<ChangedTestNote>> changed_test_notes(const TaskSession& session);

/// Returns the notes that are not about a test that the user allows to change (`gates.outdated_tests`).
[[nodiscard]] std::vector<ChangedTestNote> without_allowed(std::vector<ChangedTestNote> notes,
                                                           const std::vector<std::string>& allowed);

[[nodiscard]] std::vector<std::string> descriptions(const std::vector<ChangedTestNote>& notes);

}  // namespace agentforge::kernel
