// SPDX-License-Identifier: Apache-2.0
#include "program/start/start_checks.hpp"

#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "config/template_checks.hpp"
#include "git/repository.hpp"
#include "pipeline/agent_run/agent_tools.hpp"
#include "pipeline/agent_run/run_spec.hpp"
#include "program/project/preflight.hpp"
#include "program/project/task_preflight.hpp"
#include "program/terminal/display.hpp"
#include "task/exit_gate.hpp"

namespace agentforge::kernel {

namespace {

/// Refuses a pipeline with the gate `fix` if no violation is given: the gate checks that one violation is gone.
Result<void> check_names_violation(const PipelineTemplate& pipeline) {
    for (const StageTemplate& stage : pipeline.stages) {
        if (exit_gate(stage) != gate_name::fix || stage.config.contains("violation")) { continue; }
        return Error{"AF-CLI-205",
                     "pipeline `" + pipeline.name + "` fixes one violation, but none is given: stage `" + stage.name +
                         "` ends at the gate `fix`",
                     pipeline.source, "Use `agentforge fix VIOLATION`; `agentforge check` lists the violations",
                     ErrorKind::invalid};
    }
    return {};
}

/// Returns the delivered branch's name, with its placeholders. Empty if the delivery makes no branch.
std::string branch_pattern(const DeliverySettings& delivery) {
    if (delivery.type == DeliveryType::commit) { return "agentforge/{task}"; }
    return delivery.type == DeliveryType::files ? "" : delivery.branch;
}

/// Checks that the branch to deliver can be created. Git stores `a` as a file and `a/b` below a folder `a`, so both cannot exist.
Result<void> check_branch_can_be_made(const Project& project) {
    AF_TRY(const Repository repository, Repository::open(project.place().root));
    const std::string branch = branch_pattern(project.services().delivery);
    for (auto slash = branch.find('/'); slash != std::string::npos && slash < branch.find('{');
         slash = branch.find('/', slash + 1)) {
        const std::string above = branch.substr(0, slash);
        AF_TRY(const auto taken, repository.branch_commit(above));
        if (!taken) { continue; }
        return Error{"AF-CLI-137", "branch `" + printable(above, 120) + "` exists, so " + branch + " cannot be created",
                     project.place().root.string(),
                     "Rename that branch (git branch -m " + printable(above, 120) +
                         " NEW), or deliver under another name (delivery.type: branch, delivery.branch)",
                     ErrorKind::conflict};
    }
    return {};
}

}  // namespace

Result<void> check_named_stages(const PipelineTemplate& pipeline, const std::vector<std::string>& named) {
    for (const std::string& name : named) {
        if (!pipeline.index_of(name)) { return unknown_stage(pipeline, name); }
    }
    return {};
}

Result<void> check_approvals_reached(const PipelineTemplate& pipeline, const Entry& entry, const StartArguments& arguments) {
    const std::string exit = arguments.exit_after.empty() ? pipeline.exit_stage : arguments.exit_after;
    for (const std::string& name : arguments.approve) {
        const std::string why = why_not_run(pipeline, entry, exit, *pipeline.index_of(name));
        if (!why.empty()) {
            return Error{"AF-CLI-201", "cannot ask for approval at stage `" + printable(name, 80) + "`: " + why, "--approve",
                         "Name a stage that runs; `--dry-run` lists them", ErrorKind::invalid};
        }
    }
    return {};
}

Result<void> check_stages(Project& project, const PipelineTemplate& pipeline, const std::string& request,
                          const Beginning* beginning) {
    AF_CHECK(check_names_violation(pipeline));
    AF_CHECK(check_sandbox(project.exec_helper(), project.place().root.string()));
    AF_CHECK(check_plugins(project, pipeline, beginning));
    for (const StageTemplate& stage : pipeline.stages) { AF_CHECK(check_prompts_fit(project.services(), stage, request)); }
    return {};
}

Result<GateReadiness> check_gates_and_delivery(const Program& program, Project& project, const PipelineTemplate& pipeline,
                                               const StartArguments& arguments) {
    auto gates = check_gates(project);
    // The folder may be uncommitted.
    if (!gates.ok() && gates.error().code == "AF-GATE-080" && arguments.include_uncommitted) { gates = GateReadiness{}; }
    if (!gates.ok()) { return gates; }
    if (measures_anything(pipeline, arguments.exit_after)) {
        AF_CHECK(
            check_can_measure(*gates, arguments.include_uncommitted ? "uncommitted" : project.settings().text("gates.setup")));
    }
    const std::string exit = arguments.exit_after.empty() ? pipeline.exit_stage : arguments.exit_after;
    const auto last = pipeline.index_of(exit);
    const bool delivers = last && makes_delivery(pipeline.stages[*last]);
    if (delivers) {
        AF_CHECK(check_branch_can_be_made(project));
        AF_CHECK(check_delivery(project, program.environment));
    }
    return gates;
}

Result<void> check_environment_of(const Program& program, const Project& project) {
    AF_TRY(const std::string state, state_directory(program.environment));
    AF_TRY(const Repository repository, Repository::open(project.place().root));
    return check_environment(project.place().root, project.place().agentforge, repository.git_directory(), state);
}

bool wants_interactive(const Project& project, const StartArguments& arguments) {
    return arguments.interactive || project.settings().boolean("pipeline.interactive");
}

Result<void> check_interactive(const Project& project, const PipelineTemplate& pipeline) {
    for (const StageTemplate& stage : pipeline.stages) {
        std::vector<std::string> roles = stage.reviewers;
        if (!stage.agent.empty()) { roles.push_back(stage.agent); }
        for (const std::string& role : roles) {
            AF_TRY(const AgentDefinition agent, project.agents().get(role));
            if (!project.services().agentic || !project.services().agentic(agent)) { continue; }
            return Error{"AF-ESC-041",
                         "an interactive task cannot use the model of role `" + role +
                             "`, which works agentically: its command acts before AgentForge can ask anyone",
                         "llm.mode", "set llm.mode: plain for the role, or start without --interactive", ErrorKind::invalid};
        }
    }
    return {};
}

Result<GateReadiness> check_stages_ready(Program& program, Project& project, const PipelineTemplate& pipeline,
                                         const std::string& exit_stage, const std::string& request, const Beginning* beginning) {
    AF_CHECK(check_stages(project, pipeline, request, beginning));
    StartArguments arguments;
    arguments.exit_after = exit_stage;
    AF_TRY(GateReadiness gates, check_gates_and_delivery(program, project, pipeline, arguments));
    AF_CHECK(check_handlers(project.settings(), project.plugins(), project.network(), project.trust().left_out(),
                            program.environment));
    return gates;
}

}  // namespace agentforge::kernel
