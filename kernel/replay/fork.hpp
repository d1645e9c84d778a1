// SPDX-License-Identifier: Apache-2.0
// Makes a task that continues from another one after one of its steps.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "git/repository.hpp"
#include "pipeline/task_session.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

struct ForkPlace {
    TaskStore& tasks;
    const Repository& repository;
    Clock& clock;
    IdSource& ids;
    const Redactor& redactor;
};

struct ForkOptions {
    std::uint64_t from_step = 0;      ///< Step of the whole task, from 1.
    json::object configuration = {};  ///< For the new task's task.yaml.
    std::function<Result<void>(json::object& configuration)> seal = {};
};

/// Creates the task and returns its id. It is paused; PipelineController::resume continues it. Its history up to the step is the
/// parent's, shared instead of copied (Journal, BlobStore). Workspace, memory, budgets and gate measurements are those of that
/// moment. It stays complete if the parent's folder and refs are removed. The parent may be running, and is not changed. Errors
/// (nothing was created): those of TaskStore::load, TaskStore::state, StepIndex::find and TaskSession::fork; `not_found`
/// AF-TASK-017 no such step; AF-GIT-… a tree of that moment is no longer in the repository.
[[nodiscard]] Result<std::string> fork_task(const ForkPlace& place, std::string_view parent, const ForkOptions& options);

}  // namespace agentforge::kernel
