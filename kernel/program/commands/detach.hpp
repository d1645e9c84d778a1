// SPDX-License-Identifier: Apache-2.0
// --detach: the task goes on in a process of its own, and the command ends as soon as the task is there.
#pragma once

#include <functional>
#include <memory>

#include "program/log/progress.hpp"
#include "program/program.hpp"

namespace agentforge::kernel {

/// Forks; only before plugins are loaded, while the process has one thread. The child has a session of its own, no standard
/// input, and writes where the parent does until the task has begun; from then on into `<task>/detached.log`. The parent waits
/// for that moment, says which task it is (or lets the child's own error stand) and returns the exit code: 0, or the child's
/// where no task began. Errors: AF-CLI-071 no process can be made.
int detach(Program& program, const std::function<int()>& work);

/// In the child: tells the parent as soon as the task has begun. Events are passed on to `next`.
[[nodiscard]] std::unique_ptr<Progress> make_detached_progress(Program& program, std::unique_ptr<Progress> next);

}  // namespace agentforge::kernel
