// SPDX-License-Identifier: Apache-2.0
// Which artifacts of a task a person is shown, to approve or revise them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "program/commands/start.hpp"
#include "program/project/project.hpp"

namespace agentforge::kernel {

/// Whether a person sits at this run's terminal and can be asked there.
[[nodiscard]] bool sits_at_terminal(const Program& program);

/// The stages whose artifacts are shown: by --iterate, --iterate-at or --no-iterate, else by `pipeline.iterate`. `auto`, the
/// default, never makes a person a gatekeeper: it shows the artifact that the task ends with, where its stage has `iterate:
/// true`, somebody sits there, and no stage to end with was named: who says beforehand where the task ends has decided. Errors:
/// AF-CLI-160 a named stage does not iterate, or is not reached; AF-CLI-161 no stage iterates.
[[nodiscard]] Result<std::set<std::string>> iterated_stages(const Program& program, const Project& project,
                                                            const PipelineTemplate& pipeline, const Entry& entry,
                                                            const StartArguments& arguments);

/// How a task that has completed can go on, in commands: with its last artifact revised, with the stages that follow. Empty where
/// it has delivered, or nothing follows.
[[nodiscard]] std::vector<std::string> ways_after_end(const TaskState& state, const std::string& id);
/// How a person may decide on the artifact that a task shows, in commands with a remark.
[[nodiscard]] std::vector<std::string> ways_to_decide(const TaskState& state, const std::string& id);

}  // namespace agentforge::kernel
