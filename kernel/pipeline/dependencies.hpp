// SPDX-License-Identifier: Apache-2.0
// Checks whether the dependencies of a specification are met (docs/repositories.md). task/dependencies.hpp reads them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <agentforge/json.hpp>

#include "pipeline/task_services.hpp"
#include "pipeline/task_session.hpp"
#include "task/dependencies.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// Returns the permanent problems, one line each: a task that does not exist or lacks that stage; a task that waits for this one;
/// an unknown repository; a version that is not a range. Empty if there are none.
[[nodiscard]] std::vector<std::string> faults_of(const Dependencies& dependencies, const TaskState& state, const TaskStore& tasks,
                                                 const FindRepository& find);

/// Call before a stage begins. Succeeds if there are no dependencies or all are met, and records this once for each
/// specification. Errors: `unavailable` AF-DEP-001 a task has not reached the stage yet; AF-DEP-002 it never will (aborted, gone,
/// no such stage); `conflict` AF-DEP-003 it also waits for this one; AF-DEP-004 an artifact, or a matching version of it, does
/// not exist.
[[nodiscard]] Result<void> record_met_dependencies(TaskSession& session, const TaskStore& tasks, const FindRepository& find);

}  // namespace agentforge::kernel
