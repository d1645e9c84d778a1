// SPDX-License-Identifier: Apache-2.0
// Tests from outside, in the place of those that a model would have written (North Star 13.9). The kernel does the stage's work:
// it declares the specified interfaces, puts the files into the workspace, finds out which tests there are and which requirement
// each checks, and has the stage's own gate judge them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/host.hpp>

#include "pipeline/entry/imports.hpp"
#include "pipeline/workspace.hpp"

namespace agentforge::kernel {

/// What the stage hands in, measured: the gate has passed on the recorded tree. Calling it again after a crash does the same.
/// Errors: AF-EXT-008 the tests do not fail as they must, or are none; AF-EXT-009 what a test checks is not known; AF-GATE-…;
/// cancelled.
[[nodiscard]] Result<json::object> adopt_tests(TaskSession& session, TaskWorkspace& task_workspace, EventSink& events,
                                               const Stop& stop);

/// A test of a file and the requirement that it checks, as far as the file says so.
struct TracedTest {
    std::string name;
    std::string requirement;  ///< Empty: not said.
    bool guard = false;       ///< `REQ-001 (guard)`: it passes before the change, too.
};

/// Which requirement each test of a file checks: the one that its name, its own lines or a comment right above them names
/// (`REQ-001`, `req_001`, the id of one of the specification's test cases), else the one named before the first test, else the
/// only one that the specification has.
[[nodiscard]] std::vector<TracedTest> trace_tests(std::string_view file, const std::vector<std::string>& names,
                                                  const json::object& specification);

}  // namespace agentforge::kernel
