// SPDX-License-Identifier: Apache-2.0
#include "pipeline/open_task.hpp"

#include "pipeline/stage_host.hpp"

namespace agentforge::kernel {

Result<void> OpenTask::open_workshop() {
    if (workshop) { return {}; }
    AF_TRY(workshop, setup.workshops.open(state()));
    return workshop->restore(state().tree);
}

void OpenTask::warn(const Error& error) const {
    const StageClock clock(services.clock, std::chrono::seconds(0));
    KernelCallContext(services, clock, stage_name(), services.clock.now()).log(LogLevel::warning, error.to_string(), {});
}

}  // namespace agentforge::kernel
