// SPDX-License-Identifier: Apache-2.0
// An agentic command in the workspace of an agent run: its sandbox, and the check of its writes.
#pragma once

#include <string>

#include "pipeline/agent_run/agentic.hpp"
#include "pipeline/agent_run/run_workspace.hpp"

namespace agentforge::kernel {

class AgenticRun final : public AgenticPlace {
public:
    AgenticRun(OpenRun& run, RunWorkspace& workspace)
        : run_(run), workspace_(workspace), scratch_(run.task_workspace.scratch() + "/agentic") {}

    [[nodiscard]] const std::string& workspace() const noexcept override { return run_.task_workspace.root(); }
    [[nodiscard]] const std::string& scratch() const noexcept override { return scratch_; }
    [[nodiscard]] Result<void> begin() override;
    [[nodiscard]] Result<ProcessResult> run(const AgenticCommand& command) override;
    [[nodiscard]] Result<json::object> work() override;
    [[nodiscard]] Result<std::string> record_writes() override;
    [[nodiscard]] Result<void> take_back() override { return run_.task_workspace.restore(workspace_.tree()); }

    /// The folder of prior artifacts, which the command may read.
    [[nodiscard]] std::string inputs() const { return run_.task_workspace.scratch() + "/inputs"; }

private:
    OpenRun& run_;
    RunWorkspace& workspace_;
    std::string scratch_;
};

}  // namespace agentforge::kernel
