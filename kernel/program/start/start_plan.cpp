// SPDX-License-Identifier: Apache-2.0
#include "program/start/start_plan.hpp"

#include <fmt/format.h>

#include <ostream>

#include "base/text.hpp"
#include "program/log/event_stream.hpp"
#include "program/project/task_preflight.hpp"
#include "program/start/start_checks.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

/// Returns the plan's text about who sees the artifact after the stage.
const char* what_happens_after(bool iterates, bool approval) {
    if (iterates) { return ", then is shown to you"; }
    return approval ? ", then asks for approval" : "";
}

/// The plan for one stage.
struct PlannedStage {
    const StageTemplate& stage;
    std::string model;    ///< Empty without an agent.
    std::string skipped;  ///< Why; empty if the stage runs.
    bool approval = false;
    bool iterates = false;
};

PlannedStage planned(const StartPlan& plan, Project& project, const StageTemplate& stage) {
    PlannedStage out{stage, "", "", false, plan.iterated.contains(stage.name)};
    if (!stage.agent.empty()) {
        const auto agent = project.agents().get(stage.agent);
        if (agent.ok()) { out.model = project.model_name(*agent); }
    }
    const auto& stages = plan.pipeline.stages;
    const std::set<std::string> named(plan.arguments.approve.begin(), plan.arguments.approve.end());
    const bool last = stage.name == plan.exit || stage.name == plan.pipeline.exit_stage || &stage == &stages.back();
    out.approval = stage.approve || named.contains(stage.name) || out.iterates ||
                   ((plan.arguments.supervised || plan.pipeline.supervised) && !last);
    out.skipped = why_skipped(plan.pipeline, plan.entry, static_cast<std::size_t>(&stage - stages.data()));
    return out;
}

json::object planned_json(const PlannedStage& planned) {
    json::array reviewers;
    for (const std::string& reviewer : planned.stage.reviewers) { reviewers.emplace_back(reviewer); }
    return {{"name", planned.stage.name},
            {"agent", planned.stage.agent},
            {"model", planned.model},
            {"reviewers", std::move(reviewers)},
            {"contract", planned.stage.contract},
            {"skip_if", planned.stage.skip_if},
            {"skipped", planned.skipped},
            {"approval", planned.approval},
            {"iterates", planned.iterates},
            {"timeout_ms", planned.stage.timeout.count()},
            {"max_steps", planned.stage.max_steps}};
}

std::string planned_text(const PlannedStage& planned) {
    const StageTemplate& stage = planned.stage;
    if (!planned.skipped.empty()) { return fmt::format("  {:<10} skipped: {}\n", stage.name, planned.skipped); }
    return fmt::format("  {:<10} {:<22} makes {}{}{}{}\n", stage.name, stage.agent.empty() ? "(no agent)" : stage.agent,
                       stage.contract, planned.model.empty() ? "" : ", model " + printable(planned.model, 60),
                       stage.skip_if.empty() || stage.skip_if == "never" ? "" : ", skipped if " + stage.skip_if,
                       what_happens_after(planned.iterates, planned.approval));
}

json::object plan_json(const StartPlan& plan, const Project& project, json::array stages) {
    json::array left_out;
    if (!plan.arguments.include_uncommitted) {
        for (const std::string& path : plan.changed) { left_out.emplace_back(path); }
    }
    return {{"dry_run", true},
            {"request", plan.request},
            {"goal", plan.pipeline.goal_type},
            {"decided_by", plan.choice.word},
            {"pipeline", plan.pipeline.name},
            {"exit_stage", plan.exit},
            {"backend", project.settings().text("llm.backend")},
            {"interactive", wants_interactive(project, plan.arguments)},
            {"stages", std::move(stages)},
            {"limits", project.settings().section("limits")},
            {"gates", gates_json(plan.gates)},
            {"excluded_changes", std::move(left_out)}};
}

}  // namespace

int print_start_plan(Program& program, Project& project, const StartPlan& plan) {
    json::array stages;
    std::string text;
    for (const StageTemplate& stage : plan.pipeline.stages) {
        const PlannedStage entry = planned(plan, project, stage);
        stages.push_back(planned_json(entry));
        text += planned_text(entry);
        if (stage.name == plan.exit) { break; }
    }
    if (program.json_output) {
        json::object object = plan_json(plan, project, std::move(stages));
        if (program.stream_output) {
            end_event_stream(program.out, std::move(object));
        } else {
            program.print_json(object);
        }
        return 0;
    }
    program.out << "Would start pipeline " << plan.pipeline.name << ": \"" << printable(plan.request, 400) << "\"\n"
                << text << "  model backend " << project.settings().text("llm.backend") << "\n";
    if (wants_interactive(project, plan.arguments)) { program.out << "  every action of an agent needs your approval\n"; }
    for (const std::string& line : gates_text(plan.gates)) { program.out << "  " << line << "\n"; }
    const json::object limits = project.settings().section("limits");
    if (!limits.empty()) { program.out << "  limits " << printable(to_json_line(limits), 400) << "\n"; }
    program.out << "Nothing was done. All checks before the start passed.\n";
    return 0;
}

}  // namespace agentforge::kernel
