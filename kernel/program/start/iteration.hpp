// SPDX-License-Identifier: Apache-2.0
// Decides which artifacts of a task AgentForge shows to a person, to approve or revise.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "program/project/project.hpp"
#include "program/start/start_arguments.hpp"

namespace agentforge::kernel {

/// True if this run has a terminal with a person at it.
[[nodiscard]] bool is_at_terminal(const Program& program);

/// Returns the stages whose artifacts are shown: by --iterate, --iterate-at or --no-iterate, else by `pipeline.iterate`. `auto`,
/// the default, never makes a task wait for an absent person. It shows the artifact that the task ends with if that stage has
/// `iterate: true`, a person is at the terminal, and the user named no stage to end with (naming one is a decision in advance).
/// Errors: AF-CLI-160 a named stage does not iterate, or is not reached; AF-CLI-161 no stage iterates.
[[nodiscard]] Result<std::set<std::string>> iterated_stages(const Program& program, const Project& project,
                                                            const PipelineTemplate& pipeline, const Entry& entry,
                                                            const StartArguments& arguments);

}  // namespace agentforge::kernel
