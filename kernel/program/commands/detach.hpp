// SPDX-License-Identifier: Apache-2.0
// `--detach`: the task runs in a separate process, and the command ends as soon as the task exists.
#pragma once

#include <functional>
#include <memory>

#include "program/log/progress.hpp"
#include "program/program.hpp"

namespace agentforge::kernel {

/// Forks. Call only before plugins are loaded, while the process has one thread. The child has its own session and no standard
/// input. Until the task has begun it writes to the parent's outputs, then to `<task>/detached.log`. The parent waits for that
/// moment, prints the task's id (or the child has printed an error) and returns the exit code: 0, or the child's if no task
/// began. Errors: AF-CLI-071 cannot fork.
int detach(Program& program, const std::function<int()>& work);

/// In the child: notifies the parent when the task has begun. Passes events on to `next`.
[[nodiscard]] std::unique_ptr<Progress> make_detached_progress(Program& program, std::unique_ptr<Progress> next);

}  // namespace agentforge::kernel
