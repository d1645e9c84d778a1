// SPDX-License-Identifier: Apache-2.0
// Reports the result of commands that run a task.
#pragma once

#include "aggregate/overview.hpp"
#include "program/program.hpp"
#include "program/project/project.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

/// Makes the output while a task runs: for people, or as a stream of events.
[[nodiscard]] std::unique_ptr<Progress> make_progress(Program& program);
/// Prints each AGENTFORGE_… variable that is not a setting, and the nearest one that is.
void warn_about_unknown_variables(Program& program, const Settings& settings);
/// Prints the result of start, resume, approve, … and returns the exit code. `more`: further fields of the result as JSON.
int print_outcome(Program& program, Project& project, const PipelineResult& result, const json::object& more = {});
/// Opens the project, resolves the task (whole id or unambiguous part) and runs `action` on it.
int with_task(Program& program, const std::string& task, const std::function<int(Project&, const std::string&)>& action);
/// Returns calls, tokens and cost of a sum, for `--json`. `cost_microusd`: the known part. `cost_known`: whether that is the
/// whole cost.
[[nodiscard]] json::object spend_json(const Spend& spend);
/// The same. If no task is named, uses the only one that `fits` (task_or_only).
int with_fitting_task(Program& program, const std::string& task, const std::string& what,
                      const std::function<bool(const TaskOverview&)>& fits,
                      const std::function<int(Project&, const std::string&)>& action,
                      const std::function<bool(const TaskOverview&)>& otherwise = nullptr);
/// Prints untrusted text with a bar at the beginning of each line, so that it cannot pass for our own output.
void print_quoted(std::ostream& out, const std::string& text);
/// Call after `id` was answered. Continues the task, unless `only_answer`. If another process holds the task, that process
/// continues; if it ends without having seen the answer, this process continues.
int resume_with_answer(Program& program, Project& project, const std::string& task_id, const std::string& id, bool only_answer);
/// True if the task was aborted or completed. Its open questions then need no answer.
[[nodiscard]] bool has_ended(const TaskStore& tasks, const std::string& task_id);
/// Continues a task of an open project and reports its result.
int resume_open_task(Program& program, Project& project, const std::string& task_id, const std::string& guidance);
/// Opens the project for the task, continues the task and reports its result.
int resume_and_report(Program& program, const std::string& task, const std::string& guidance = {});

}  // namespace agentforge::kernel
