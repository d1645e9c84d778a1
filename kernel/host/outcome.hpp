// SPDX-License-Identifier: Apache-2.0
// How commands that run a task tell what came of it.
#pragma once

#include "host/display.hpp"
#include "host/program.hpp"
#include "host/project.hpp"

namespace agentforge::kernel {

[[nodiscard]] Display make_display(Program& program);
/// Prints the result of start, resume, approve, … and returns the exit code.
int tell(Program& program, Project& project, const PipelineResult& result);
/// Opens the project, resolves the task (whole id or unambiguous part) and runs `action` on it.
int with_task(Program& program, const std::string& task, const std::function<int(Project&, const std::string&)>& action);
/// Goes on with a task and tells what came of it.
int resume_and_tell(Program& program, Project& project, const std::string& task_id);

}  // namespace agentforge::kernel
