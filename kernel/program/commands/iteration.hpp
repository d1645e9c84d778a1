// SPDX-License-Identifier: Apache-2.0
// Which artifacts of a task are shown to a person, to approve or revise.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "program/commands/start.hpp"
#include "program/project/project.hpp"

namespace agentforge::kernel {

/// True if a person is at this run's terminal.
[[nodiscard]] bool is_at_terminal(const Program& program);

/// Returns the stages whose artifacts are shown: by --iterate, --iterate-at or --no-iterate, else by `pipeline.iterate`. `auto`,
/// the default, never makes a task wait for an absent person: it shows the artifact that the task ends with if that
/// stage has `iterate: true`, a person is at the terminal, and no stage to end with was named (naming one is a decision in
/// advance). Errors: AF-CLI-160 a named stage does not iterate, or is not reached; AF-CLI-161 no stage iterates.
[[nodiscard]] Result<std::set<std::string>> iterated_stages(const Program& program, const Project& project,
                                                            const PipelineTemplate& pipeline, const Entry& entry,
                                                            const StartArguments& arguments);

}  // namespace agentforge::kernel
