// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/run_role.hpp"

#include <algorithm>

#include "agent/bridge_actions.hpp"
#include "agent/loop.hpp"
#include "backends/redacting_client.hpp"
#include "pipeline/agent_run/agent_run_host.hpp"
#include "pipeline/agent_run/agent_tools.hpp"
#include "pipeline/agent_run/agentic.hpp"
#include "pipeline/agent_run/agentic_run.hpp"
#include "pipeline/agent_run/role_rights.hpp"
#include "pipeline/agent_run/run_spec.hpp"
#include "pipeline/gate_runs.hpp"
#include "pipeline/kernel_call_context.hpp"
#include "tools/tool_bridge.hpp"

namespace agentforge::kernel {

namespace {

/// A command in agentic mode has its own tools. Keeps only the actions that end its work.
void keep_final_tools(const TaskServices& services, AgentDefinition& agent) {
    std::erase_if(agent.allowed_tools, [&services](const std::string& name) {
        if (!services.plugins.has(PluginKind::tool, name)) { return true; }
        const auto tool = services.plugins.tool(name);
        return !tool.ok() || !has((*tool)->spec().effects, ToolEffect::completes | ToolEffect::escalates);
    });
}

/// Returns the contract of the artifact that the run hands in. None if the run hands in a text.
Result<std::optional<Contract>> contract_of_run(const TaskServices& services, const StageTemplate& stage, const AgentRun& run) {
    if (run.text_answer) { return std::optional<Contract>(); }
    AF_TRY(Contract contract, services.contracts.get(!run.output_contract.empty() ? run.output_contract : stage.contract));
    return std::optional<Contract>(std::move(contract));
}

Error acts_before_anyone_is_asked(const AgentDefinition& agent) {
    return Error{"AF-ESC-034",
                 "an interactive task cannot use the model of role `" + agent.role +
                     "`, which works agentically: its command acts before AgentForge can ask anyone",
                 "llm.mode", "set `llm.mode: plain` for the role, then resume", ErrorKind::unavailable};
}

Result<AgentDefinition> agent_of_run(const TaskServices& services, const StageTemplate& stage, const AgentRun& run) {
    const std::string role = run.role.empty() ? stage.agent : run.role;
    if (role.empty()) {
        return Error{"AF-ORCH-027", "stage `" + stage.name + "` has no agent", "", "name one in the pipeline template",
                     ErrorKind::invalid};
    }
    return services.agents.get(role);
}

using RunTools = std::map<std::string, std::shared_ptr<Tool>, std::less<>>;

/// Loads the agent's tools and expands its lists. All arguments must outlive the tools.
Result<RunTools> tools_of_run(OpenRun& open, AgentDefinition& agent, ServerPool& servers, AgentRunHost& host,
                              KernelCallContext& context) {
    ServerOffer offer;
    offer.pin = [&open](const std::string& name, const ListedTool& tool) { return pin_tool(open, name, tool); };
    offer.record_writes = [&host]() -> Result<void> {
        AF_CHECK(host.workspace().record_writes());
        return {};
    };
    return load_tools(
        open.services, agent, servers, [&host] { return host.workspace().server_place(); }, offer,
        [&context] { return context.cancelled(); });
}

bool has_writer(const RunTools& tools) {
    return std::any_of(tools.begin(), tools.end(),
                       [](const auto& tool) { return has(tool.second->spec().effects, ToolEffect::writes); });
}

}  // namespace

Result<AgentOutcome> run_role(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services, StageClock& clock,
                              const AgentRun& run, unsigned number, bool review, ServerPool& servers) {
    const TaskState& state = session.state();
    const StageTemplate& stage = state.stage_template();
    AF_TRY(AgentDefinition agent, agent_of_run(services, stage, run));
    AF_TRY(const std::optional<Contract> contract, contract_of_run(services, stage, run));
    AF_TRY(ModelClient* const model, services.model(agent));
    AF_TRY(const auto recorded, parse_time(state.stage().started_at));
    KernelCallContext context(services, clock, stage.name, recorded);
    const std::string gate = run.exit_gate.empty() && !review && !run.text_answer ? exit_gate(stage) : run.exit_gate;
    const bool agentic = services.agentic && services.agentic(agent);
    if (agentic && state.interactive) { return acts_before_anyone_is_asked(agent); }
    // A reviewer never writes. In agentic mode, neither does a role without a writing tool, or one whose result is a text.
    const bool writes = !review && (!agentic || (!run.text_answer && has_writing_tool(services, agent)));
    OpenRun open{.session = session,
                 .task_workspace = task_workspace,
                 .services = services,
                 .clock = clock,
                 .agent = agent,
                 .who = {agent.role, agent.version, review ? "review" : ""},
                 .number = number,
                 .visit = state.stage().visits,
                 .model = services.model_name ? services.model_name(agent) : std::string(),
                 .offline = model->info().offline};
    AgentRunHost host(open, context, contract, gate);
    AF_CHECK(host.open(writes));
    if (agentic) { keep_final_tools(services, agent); }
    AF_TRY(RunTools tools, tools_of_run(open, agent, servers, host, context));
    if (!agentic && !has_writer(tools)) { AF_CHECK(host.workspace().forbid_writes()); }

    AF_TRY(RunSpec spec, run_spec(open, agent, run, contract, gate, host.artifacts_by_contract()));
    spec.calibration_permille = host.calls().calibration(model);
    spec.agentic = agentic;
    AgenticRun agentic_run(open, host.workspace());
    std::unique_ptr<ModelClient> agentic_client;
    if (agentic) {
        AF_TRY(const auto locked, locked_tests(session));
        AF_CHECK(artifacts_as_paths(spec.run.state, host.artifacts(), agentic_run.inputs()));
        spec.run.instructions +=
            agentic_instructions(agent, writes, locked, agentic_run.scratch(), host.workspace().files().symbols());
        agentic_client = make_redacting_client(make_agentic_client(*model, agentic_run, services.redactor), services.redactor);
    }

    ToolBridge bridge(agent, std::move(tools), host.workspace().files(), host,
                      contract ? contract->model_schema() : json::object(), services.plugins.names(PluginKind::tool));
    BridgeActions actions(bridge);
    return run_steps(spec, actions, agentic_client ? *agentic_client : *model, host, context, services.events);
}

}  // namespace agentforge::kernel
