// SPDX-License-Identifier: Apache-2.0
// A task that goes on from where another one was after one of its steps (North Star 5.3).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "git/repository.hpp"
#include "pipeline/session.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

struct ForkPlace {
    TaskStore& tasks;
    const Repository& repository;
    Clock& clock;
    IdSource& ids;
    const Redactor& redactor;
};

struct ForkOptions {
    std::uint64_t from_step = 0;      ///< Of the whole task, from 1.
    json::object configuration = {};  ///< For the new task's task.yaml.
    std::function<Result<void>(json::object& configuration)> seal = {};
};

/// Makes the task and returns its id; it is paused, and goes on by PipelineController::resume. Its history up to the step is the
/// parent's, shared and not copied (Journal, BlobStore): workspace, memory, budgets and what gates have measured are those of
/// that moment. It stays whole when the parent's folder and refs are removed. The parent may be at work, and nothing of it is
/// changed. Errors (nothing was made): those of TaskStore::load, TaskStore::records and TaskSession::fork; `not_found`
/// AF-TASK-017 there is no such step; AF-GIT-… a tree of that moment is not in the repository any more.
[[nodiscard]] Result<std::string> fork_task(const ForkPlace& place, std::string_view parent, const ForkOptions& options);

}  // namespace agentforge::kernel
