// SPDX-License-Identifier: Apache-2.0
#include "pipeline/open_task.hpp"

#include "pipeline/stage_host.hpp"

namespace agentforge::kernel {

Result<void> OpenTask::open_workspace() {
    if (task_workspace) { return {}; }
    AF_TRY(task_workspace, setup.task_workspaces.open(state()));
    return task_workspace->restore(state().tree);
}

void OpenTask::warn(const Error& error) const {
    const StageClock clock(services.clock, std::chrono::seconds(0));
    KernelCallContext(services, clock, stage_name(), services.clock.now()).log(LogLevel::warning, error.to_string(), {});
}

}  // namespace agentforge::kernel
