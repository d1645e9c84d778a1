// SPDX-License-Identifier: Apache-2.0
// Whether a task that began now could end: what gates, setup and delivery would refuse later, said before it costs anything.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/pipelines.hpp"
#include "gates/engine/readiness.hpp"
#include "program/project/project.hpp"

namespace agentforge::kernel {

/// The roles that work in a stage: its reviewers, and its own.
[[nodiscard]] std::vector<std::string> roles_of(const StageTemplate& stage);

/// Whether each stage has what the code that runs it builds on, whatever its template says of prerequisites. Errors: AF-PIPE-020
/// with the place of the stage.
[[nodiscard]] Result<void> check_stage_needs(const PluginRegistry& plugins, const PipelineTemplate& pipeline,
                                             const std::vector<StageOrigin>& origins);

/// Whether everything of plugins that the stages need can be made: each is loaded and made, with its settings, as the task will
/// do it. Errors: AF-PIPE-020, AF-PLUG-…, AF-CLI-013, AF-MCP-…, AF-COST-014, and those of `Project::model`; the first. `where` is
/// the place in the pipeline's file where settings of a stage are wrong.
[[nodiscard]] Result<void> check_plugins(Project& project, const PipelineTemplate& pipeline);
/// The same for the stages from this one on, but for models. One error for each thing that cannot be had.
[[nodiscard]] std::vector<Error> plugin_problems(Project& project, const PipelineTemplate& pipeline, std::size_t from_stage = 0);

/// Whether some stage up to `exit` (empty: the pipeline's own end) has anything measured.
[[nodiscard]] bool measures_anything(const PipelineTemplate& pipeline, const std::string& exit);

/// What gates will need of HEAD's tree. Errors: those of `look_at_gates`; where a setting is wrong, `where` is the file and line
/// that says it.
[[nodiscard]] Result<GateReadiness> check_gates(Project& project);

/// Runs the suite of HEAD and summarizes it for people: `26 tests, none failing`. Gives up after a minute. On a terminal, says
/// that it is running. Errors: those of measure_head.
struct SuiteNow {
    bool passes = true;
    std::string text;
};
[[nodiscard]] Result<SuiteNow> measure_suite(Program& program, Project& project);

/// `tests of services/api: go, 3 files`, …: what gates will run, for people, each in a line.
[[nodiscard]] std::vector<std::string> gates_text(const GateReadiness& gates);
[[nodiscard]] json::array gates_json(const GateReadiness& gates);

/// Runs `true` the way gates run programs and returns the confinement that was in force. Errors: AF-EXEC-….
[[nodiscard]] Result<json::object> check_sandbox(const ExecHelper& helper, const std::string& folder);

/// One program that may be asked to do something at the end of a task.
struct DeliveryTool {
    std::string program;
    std::string use;
    std::vector<std::string> version;
    bool needed = true;
    bool found = false;
};
/// What the delivery as it is set will run besides git: the program that signs, the one that opens a pull request.
[[nodiscard]] std::vector<DeliveryTool> delivery_tools(const Project& project,
                                                       const std::map<std::string, std::string>& environment);

/// Whether what the settings order can be delivered. Errors (`unavailable`): AF-CLI-053 a pull request without a remote;
/// AF-CLI-100 commits are to be signed and git has no program or key for it.
[[nodiscard]] Result<void> check_delivery(Project& project, const std::map<std::string, std::string>& environment);

}  // namespace agentforge::kernel
