// SPDX-License-Identifier: Apache-2.0
// The watchdog for plugins that hang: runs their code by a guarded call (guarded_call.hpp) and abandons it after its deadline.
//
// The thread shares ownership of everything it uses. An abandoned thread keeps its session and workspace but can record nothing
// more; the main thread takes over the journal in a new session, records the failure and pauses the task.
#pragma once

#include <memory>

#include <agentforge/stage.hpp>

#include "pipeline/open_task.hpp"
#include "pipeline/stage_host.hpp"

namespace agentforge::kernel {

class Watchdog {
public:
    explicit Watchdog(OpenTask& task) : task_(task) {}

    /// Returns the stage's result; its error is AF-ORCH-002 if the thread was abandoned.
    [[nodiscard]] Result<StageResult> run_stage(const std::shared_ptr<Stage>& plugin, const std::shared_ptr<StageHost>& host);
    /// Runs a review on the thread, because its agent's model may hang as well. Errors: AF-ORCH-002 the thread was abandoned.
    [[nodiscard]] Result<AgentOutcome> run_review(const AgentRun& run, const std::shared_ptr<StageClock>& clock);

    /// True if a thread was abandoned. It may still hold its plugin's locks, so this process does no more work on the task.
    [[nodiscard]] bool gave_up() const noexcept { return gave_up_; }

private:
    [[nodiscard]] Result<void> continue_without_thread();

    OpenTask& task_;
    bool gave_up_ = false;
};

}  // namespace agentforge::kernel
