// SPDX-License-Identifier: Apache-2.0
// Builds the task description that an agent gets (RunSpec): goal, criteria, context, limits.
#pragma once

#include <optional>
#include <string>

#include "agent/run_spec.hpp"
#include "contracts/contract.hpp"
#include "pipeline/agent_run/open_run.hpp"

namespace agentforge::kernel {

/// Returns the specification of a run, without its limits. `agent`: lists only the tools that it really has. `gate`: its exit
/// gate, or empty. Errors: those of the artifacts and of the trees.
[[nodiscard]] Result<RunSpec> run_spec(const OpenRun& open, const AgentDefinition& agent, const AgentRun& run,
                                       const std::optional<Contract>& contract, const std::string& gate,
                                       const ArtifactsByName& by_contract);

/// Checks, before a task begins, that the system prompt and the tools of the stage's agent and reviewers leave room in the
/// context. A task without that room cannot succeed. Does not count tools of servers and of plugins from elsewhere: they are
/// unknown until they run. Errors: AF-AGENT-013, and those of the agents, contracts and models.
[[nodiscard]] Result<void> check_prompts_fit(const TaskServices& services, const StageTemplate& stage,
                                             const std::string& request);

}  // namespace agentforge::kernel
