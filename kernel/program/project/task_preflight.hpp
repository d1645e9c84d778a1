// SPDX-License-Identifier: Apache-2.0
// Checks whether a task that starts now can be completed. Reports problems that gates, setup and delivery would report later,
// before the task costs anything.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/pipeline_set.hpp"
#include "config/template_checks.hpp"
#include "gates/engine/readiness.hpp"
#include "program/project/project.hpp"

namespace agentforge::kernel {

/// Returns the roles that work in a stage: its reviewers and its own.
[[nodiscard]] std::vector<std::string> roles_of(const StageTemplate& stage);

/// Returns where a stage is defined, as `file:line:column`; `otherwise` for a stage without an origin.
[[nodiscard]] std::string place_of_stage(const std::vector<StageOrigin>& origins, std::string_view stage,
                                         const std::string& otherwise);

/// Checks that each stage has the inputs that its code needs, regardless of the prerequisites in its template. `beginning`: of an
/// existing task, whose stages also need their prerequisites; null: every beginning that the template allows. Errors: AF-PIPE-020
/// with the place of the stage.
[[nodiscard]] Result<void> check_stage_needs(const PluginRegistry& plugins, const PipelineTemplate& pipeline,
                                             const std::vector<StageOrigin>& origins, const Beginning* beginning = nullptr);

/// Checks that all plugins of the stages can be loaded and made with their settings, as the task will do. Returns the first
/// error: AF-PIPE-020, AF-PLUG-…, AF-CLI-013, AF-MCP-…, AF-COST-014, and those of `Project::model`. If a stage's settings are
/// wrong, `where` is the place in the pipeline's file. `beginning`: as above.
[[nodiscard]] Result<void> check_plugins(Project& project, const PipelineTemplate& pipeline, const Beginning* beginning);
/// The same for the stages from this one on, without models. Returns one error for each missing part.
[[nodiscard]] std::vector<Error> plugin_problems(Project& project, const PipelineTemplate& pipeline, std::size_t from_stage = 0);

/// True if a stage up to `exit` (empty: the pipeline's own end) measures anything.
[[nodiscard]] bool measures_anything(const PipelineTemplate& pipeline, const std::string& exit);

/// Returns what gates need for HEAD's tree. Errors: those of `readiness_of_gates`. If a setting is wrong, `where` is its file and
/// line.
[[nodiscard]] Result<GateReadiness> check_gates(Project& project);

/// Runs the suite of HEAD and summarizes the result: `26 tests, none failing`. Gives up after a minute. On a terminal, says that
/// it is running. Errors: those of measure_head.
struct SuiteNow {
    bool passes = true;
    std::string text;
};
[[nodiscard]] Result<SuiteNow> measure_suite(Program& program, Project& project);

/// Returns what gates will run, one line each: `tests of services/api: go, 3 files`, ….
[[nodiscard]] std::vector<std::string> gates_text(const GateReadiness& gates);
[[nodiscard]] json::array gates_json(const GateReadiness& gates);

/// Runs `true` the way gates run programs and returns the confinement that was in force. Errors: AF-EXEC-….
[[nodiscard]] Result<json::object> check_sandbox(const ExecHelper& helper, const std::string& folder);

/// A program that the end of a task may run.
struct DeliveryTool {
    std::string program;
    std::string use;
    std::vector<std::string> version;
    bool needed = true;
    bool found = false;
};
/// Returns the programs besides git that the configured delivery runs: the one that signs, and the one that opens a pull request.
[[nodiscard]] std::vector<DeliveryTool> delivery_tools(const Project& project,
                                                       const std::map<std::string, std::string>& environment);

/// Checks that the configured delivery is possible. Errors (`unavailable`): AF-CLI-053 a pull request without a remote;
/// AF-CLI-100 commits must be signed and git has no program or key for it.
[[nodiscard]] Result<void> check_delivery(Project& project, const std::map<std::string, std::string>& environment);

}  // namespace agentforge::kernel
