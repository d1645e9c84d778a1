// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/open_run.hpp"

namespace agentforge::kernel {

const RunState* OpenRun::journaled() const {
    if (visit != state().stage().visits) { return nullptr; }
    const auto& runs = state().resumption.runs;
    const auto found = runs.find(RunPlace{number, who.role, who.mode});
    return found == runs.end() ? nullptr : &found->second;
}

}  // namespace agentforge::kernel
