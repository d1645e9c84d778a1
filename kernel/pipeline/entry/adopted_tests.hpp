// SPDX-License-Identifier: Apache-2.0
// Imported tests, used instead of tests that a model would write. The kernel does the stage's work: it declares the specified
// interfaces, puts the files into the workspace, finds out which tests there are and which requirement each checks, and runs the
// stage's own gate on them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/host.hpp>

#include "pipeline/entry/imports.hpp"
#include "pipeline/task_workspace.hpp"

namespace agentforge::kernel {

/// Returns the stage's artifact, measured: the gate has passed on the recorded tree. Can be repeated after a crash. Errors:
/// AF-EXT-008 the tests do not fail as they should, or there are none; AF-EXT-009 a test's requirement is not known; AF-GATE-…;
/// cancelled.
[[nodiscard]] Result<json::object> adopt_tests(TaskSession& session, TaskWorkspace& task_workspace, EventSink& events,
                                               const Stop& stop);

/// A test of a file and the requirement that it checks, if the file names one.
struct TracedTest {
    std::string name;
    std::string requirement;   ///< Empty: not named.
    std::string unknown = {};  ///< An id that it names and the specification lacks. Then it has no requirement.
    bool guard = false;        ///< `REQ-001 (guard)`: it also passes before the change.
};

/// Finds which requirement each test of a file checks: the one that its name, its own lines or a comment right above them names
/// (`REQ-001`, `req_001`, the id of one of the specification's test cases), else the one named before the first test, else the
/// specification's only one.
[[nodiscard]] std::vector<TracedTest> trace_tests(std::string_view file, const std::vector<std::string>& names,
                                                  const json::object& specification);

}  // namespace agentforge::kernel
