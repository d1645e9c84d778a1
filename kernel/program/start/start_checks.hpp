// SPDX-License-Identifier: Apache-2.0
// Checks before a task starts, when an error costs nothing yet: its stages, its gates, its delivery, its folders.
#pragma once

#include <string>

#include "gates/engine/readiness.hpp"
#include "program/project/project.hpp"
#include "program/start/start_arguments.hpp"

namespace agentforge::kernel {

/// Checks that the stages named by the user are stages of the pipeline.
[[nodiscard]] Result<void> check_named_stages(const PipelineTemplate& pipeline, const std::vector<std::string>& named);
/// Refuses an approval at a stage that does not run. Errors: AF-CLI-201.
[[nodiscard]] Result<void> check_approvals_reached(const PipelineTemplate& pipeline, const Entry& entry,
                                                   const StartArguments& arguments);
/// Checks that each stage has its plugin, agents, tools and models. `beginning`: as for check_stages_ready. Errors: AF-CLI-205
/// the pipeline fixes a violation, but none is given; those of check_sandbox, check_plugins and check_prompts_fit.
[[nodiscard]] Result<void> check_stages(Project& project, const PipelineTemplate& pipeline, const std::string& request,
                                        const Beginning* beginning = nullptr);
/// Checks what gates, setup and delivery would refuse later, after model calls that cost money. Errors: AF-CLI-137 the branch
/// cannot be created; those of check_gates, check_can_measure and check_delivery.
[[nodiscard]] Result<GateReadiness> check_gates_and_delivery(const Program& program, Project& project,
                                                             const PipelineTemplate& pipeline, const StartArguments& arguments);
/// Checks the folders that the task writes to. Errors: those of check_environment.
[[nodiscard]] Result<void> check_environment_of(const Program& program, const Project& project);
/// True if every action of an agent needs the user's approval.
[[nodiscard]] bool wants_interactive(const Project& project, const StartArguments& arguments);
/// Refuses a role that works agentically: its command acts before AgentForge can ask anyone. Errors: AF-ESC-041.
[[nodiscard]] Result<void> check_interactive(const Project& project, const PipelineTemplate& pipeline);

/// Checks the stages that have not begun, before they cost anything: plugins, agents and their models, gates, delivery.
/// `beginning`: of an existing task; null: the template's. Returns what the gates will run.
[[nodiscard]] Result<GateReadiness> check_stages_ready(Program& program, Project& project, const PipelineTemplate& pipeline,
                                                       const std::string& exit_stage, const std::string& request,
                                                       const Beginning* beginning = nullptr);

}  // namespace agentforge::kernel
