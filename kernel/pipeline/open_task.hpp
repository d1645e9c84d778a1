// SPDX-License-Identifier: Apache-2.0
// The task that a run of the controller works on. Its pieces (TaskRun, Watchdog, Acceptance, People) share this and nothing else
// of one another.
#pragma once

#include <memory>
#include <string>

#include "pipeline/controller.hpp"
#include "pipeline/session.hpp"
#include "pipeline/workspace.hpp"

namespace agentforge::kernel {

struct OpenTask {
    ControllerSetup& setup;
    TaskServices& services;
    std::shared_ptr<TaskSession>
        session;  ///< Never null. Another one once the watchdog gave up a thread: the old one stays with that thread.
    std::shared_ptr<TaskWorkspace> task_workspace = {};  ///< Null before `open_workspace`, and again once a thread was given up.

    [[nodiscard]] const TaskState& state() const { return session->state(); }
    [[nodiscard]] const std::string& stage_name() const { return state().stage().name; }

    /// Opens the task's worktree at the recorded tree, unless it is open. Errors: those of `TaskWorkspaceFactory::open` and
    /// `TaskWorkspace::restore`.
    [[nodiscard]] Result<void> open_workspace();
    /// Shows the error as a warning of the current stage.
    void warn(const Error& error) const;
};

}  // namespace agentforge::kernel
