// SPDX-License-Identifier: Apache-2.0
// Whether what a specification depends on is there (docs/repositories.md). task/dependencies.hpp reads it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <agentforge/json.hpp>

#include "pipeline/services.hpp"
#include "pipeline/session.hpp"
#include "task/dependencies.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// What is wrong with them whatever others do, a line each: a task that there is not, or without that stage; one that waits for
/// this task; a repository that is not known; a version that is not a range. Empty: nothing.
[[nodiscard]] std::vector<std::string> faults_of(const Dependencies& dependencies, const TaskState& state, const TaskStore& tasks,
                                                 const FindRepository& find);

/// Called before a stage begins. Nothing to do, or all are there, which is recorded once for each specification; then the task
/// goes on. Errors: `unavailable` AF-DEP-001 a task has not come to the stage yet; AF-DEP-002 it never will (aborted, gone, no
/// such stage); `conflict` AF-DEP-003 it waits for this one in turn; AF-DEP-004 an artifact, or a version of it that fits, is not
/// there.
[[nodiscard]] Result<void> record_met_dependencies(TaskSession& session, const TaskStore& tasks, const FindRepository& find);

}  // namespace agentforge::kernel
