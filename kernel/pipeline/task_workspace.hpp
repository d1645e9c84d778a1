// SPDX-License-Identifier: Apache-2.0
// A task's workspace: its files, their snapshots, the gates that measure them, and delivery.
#pragma once

#include <agentforge/result.hpp>

#include "pipeline/target_repository.hpp"
#include "pipeline/task_gates.hpp"
#include "pipeline/task_trees.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {

/// Everything of a task outside its journal. Take the part that you use: a function that uses only `TaskTrees`, `TaskGates` or
/// `TargetRepository` takes that one and includes its header. It takes the whole if it uses more than one part, `run` or `close`,
/// or passes the whole on. Used by one thread at a time.
class TaskWorkspace : public TaskTrees, public TaskGates, public TargetRepository {
public:
    [[nodiscard]] virtual Result<ProcessOutcome> run(ProcessRequest request, const Stop& stop) = 0;
    /// Removes the workspace; kept trees remain. Called once the task has ended.
    [[nodiscard]] virtual Result<void> close() = 0;
};

}  // namespace agentforge::kernel
