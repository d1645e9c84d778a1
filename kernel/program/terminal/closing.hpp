// SPDX-License-Identifier: Apache-2.0
// The closing text of a task's template: the summary of its deliverable, and what may follow.
#pragma once

#include "program/program.hpp"
#include "program/project/project.hpp"

namespace agentforge::kernel {

struct Closing {
    std::string summary;  ///< Lines; empty: the template names none, or the task ended at another stage.
    std::string prompt;   ///< Empty: nothing may follow.
    std::string command;  ///< The command that continues it.
    std::string next_pipeline;
};

/// Returns the closing of a completed task.
[[nodiscard]] Closing closing_of(Project& project, const PipelineResult& result);
/// `summary` and `continuation`, for `--json`.
[[nodiscard]] json::object closing_json(const Closing& closing);
void print_closing(Program& program, const Closing& closing);

}  // namespace agentforge::kernel
