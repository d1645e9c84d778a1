// SPDX-License-Identifier: Apache-2.0
// The task of one run of the controller. Its parts (TaskRun, Watchdog, Acceptance, People) share this and nothing else.
#pragma once

#include <memory>
#include <string>

#include "pipeline/pipeline_controller.hpp"
#include "pipeline/task_session.hpp"
#include "pipeline/task_workspace.hpp"

namespace agentforge::kernel {

struct OpenTask {
    ControllerSetup& setup;
    TaskServices& services;
    /// Never null. Replaced when the watchdog gives up a thread: the old session stays with that thread.
    std::shared_ptr<TaskSession> session;
    std::shared_ptr<TaskWorkspace> task_workspace = {};  ///< Null before `open_workspace`, and again after a thread was given up.

    [[nodiscard]] const TaskState& state() const { return session->state(); }
    [[nodiscard]] const std::string& stage_name() const { return state().stage().name; }

    /// Opens the task's worktree at the recorded tree, unless it is open. Errors: those of `TaskWorkspaceFactory::open` and
    /// `TaskTrees::restore`.
    [[nodiscard]] Result<void> open_workspace();
    /// Shows the error as a warning of the current stage.
    void warn(const Error& error) const;
};

}  // namespace agentforge::kernel
