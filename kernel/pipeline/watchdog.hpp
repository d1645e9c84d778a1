// SPDX-License-Identifier: Apache-2.0
// The watchdog over plugins that hang: runs their code on a thread of its own and gives it up at its deadline.
//
// The thread owns a share of all that it uses. Given up, it keeps its session and workspace, can record nothing any more, and the
// task goes on with a session of its own.
#pragma once

#include <memory>

#include <agentforge/stage.hpp>

#include "pipeline/agent/agent_session.hpp"
#include "pipeline/open_task.hpp"
#include "pipeline/stage_host.hpp"

namespace agentforge::kernel {

class Watchdog {
public:
    explicit Watchdog(OpenTask& task) : task_(task) {}

    /// The stage's result; AF-ORCH-002 as its error where it was given up.
    [[nodiscard]] Result<StageResult> run_stage(const std::shared_ptr<Stage>& plugin, const std::shared_ptr<StageHost>& host);
    /// A review runs an agent, whose model may hang as well. Errors: AF-ORCH-002 where it was given up.
    [[nodiscard]] Result<AgentOutcome> run_review(const AgentRun& run, const std::shared_ptr<StageClock>& clock);

    /// Whether a thread was given up. It may still hold its plugin's locks: this process does no more work on the task.
    [[nodiscard]] bool gave_up() const noexcept { return gave_up_; }

private:
    [[nodiscard]] Result<void> go_on_without_thread();

    OpenTask& task_;
    bool gave_up_ = false;
};

}  // namespace agentforge::kernel
