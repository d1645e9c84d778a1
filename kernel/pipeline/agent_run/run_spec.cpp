// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/run_spec.hpp"

#include <iterator>

#include "agent/context.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "contracts/names.hpp"
#include "pipeline/agent_run/agent_tools.hpp"
#include "pipeline/people/iteration.hpp"
#include "pipeline/task_history.hpp"
#include "pipeline/tests/hand_back.hpp"

namespace agentforge::kernel {

namespace {

/// Returns the specification's criteria, requirement by requirement. Empty if there is no specification yet, or if the stage
/// writes it.
std::vector<std::string> specified_criteria(const ArtifactsByName& artifacts, const StageTemplate& stage) {
    std::vector<std::string> criteria;
    const auto found = artifacts.find(contract_name::specification);
    if (found == artifacts.end() || makes(stage, contract_name::specification)) { return criteria; }
    for (const json::value& requirement : list_of(found->second, "requirements")) {
        if (!requirement.is_object()) { continue; }
        const std::string id = text_of(requirement.get_object(), "id");
        const json::array own = list_of(requirement.get_object(), "acceptance_criteria");
        if (own.empty()) { criteria.push_back(id + ": " + text_of(requirement.get_object(), "description")); }
        for (const json::value& criterion : own) {
            if (criterion.is_string()) { criteria.push_back(id + ": " + std::string(criterion.get_string())); }
        }
    }
    for (const json::value& criterion : list_of(found->second, "acceptance_criteria")) {
        if (criterion.is_string()) { criteria.emplace_back(criterion.get_string()); }
    }
    return criteria;
}

/// Returns the parts of the prompt that are the same for every task.
RunSpec frame_of(const TaskServices& services, const AgentDefinition& agent, const std::string& stage,
                 const std::optional<Contract>& contract, const std::string& gate, const std::string& request) {
    RunSpec spec;
    spec.agent = agent;
    spec.goal = request;
    spec.success_criteria = {"The artifact satisfies contract " + (contract ? contract->name() : std::string("(plain text)"))};
    if (!gate.empty()) { spec.success_criteria.push_back("The kernel's " + gate + " gate passes"); }
    spec.stage = stage;
    spec.contract = contract;
    spec.budget = services.budget;
    spec.max_output_tokens = services.output_limit ? services.output_limit(agent.role) : services.max_output_tokens;
    return spec;
}

/// Returns AGENTS.md from the commit that the task started from: an agent that writes the file does not change its own
/// instructions.
Result<std::string> agents_md_of(const TaskServices& services, TaskTrees& trees, const TaskState& state) {
    constexpr std::size_t most_bytes = 256UL << 10U;
    if (!services.agents_md) { return std::string(); }
    AF_TRY(const auto text, trees.file_in_tree(state.base_tree, "AGENTS.md"));
    if (!text) { return std::string(); }
    const std::string shown = services.redactor.redact(*text);
    return sanitize_utf8(shown.size() > most_bytes ? head_and_tail(shown, most_bytes) : shown);
}

/// Returns the results of the specification's dependencies, for the stages that build on it: branches and commits of other tasks;
/// tag, commit and path of artifacts of other repositories.
json::object dependencies_for(const TaskState& state, const StageTemplate& stage) {
    if (!state.dependencies || makes(stage, contract_name::specification)) { return {}; }
    json::object met;
    if (!state.dependencies->tasks.empty()) { records::write_field(met, "tasks", state.dependencies->tasks); }
    if (!state.dependencies->external.empty()) { records::write_field(met, "external", state.dependencies->external); }
    return met;
}

/// Adds context for the agents of the stage besides its own input.
Result<void> add_to_state(json::object& shown, const OpenRun& open, bool review) {
    const TaskState& state = open.state();
    // A person's guidance at resume. Steps have no memory, so every step of the first stage that gets the guidance gets it.
    if (const std::string& guidance = state.resumption.guidance; !guidance.empty()) { shown["guidance"] = guidance; }
    if (review) {
        shown["task_history"] = task_history(state);
    } else {
        AF_CHECK(add_context(shown, open.session, open.task_workspace));
    }
    if (json::object iteration = review ? json::object() : iteration_context(state); !iteration.empty()) {
        // `iteration_context` contains the feedback.
        if (const json::value* text = shown.if_contains("feedback"); text != nullptr && *text == json::value(*state.feedback)) {
            shown.erase("feedback");
        }
        shown["iteration_context"] = std::move(iteration);
    }
    if (json::object met = dependencies_for(state, state.stage_template()); !met.empty()) {
        shown["resolved_dependencies"] = std::move(met);
    }
    AF_TRY(std::string handed_back, hand_back_note(open.session, open.task_workspace));
    if (!handed_back.empty() && !review) { shown["handed_back"] = std::move(handed_back); }
    return {};
}

}  // namespace

Result<RunSpec> run_spec(const OpenRun& open, const AgentDefinition& agent, const AgentRun& run,
                         const std::optional<Contract>& contract, const std::string& gate, const ArtifactsByName& by_contract) {
    const TaskState& state = open.state();
    const StageTemplate& stage = state.stage_template();
    RunSpec spec = frame_of(open.services, agent, stage.name, contract, gate, state.request);
    std::vector<std::string> specified = specified_criteria(by_contract, stage);
    spec.success_criteria.insert(spec.success_criteria.begin(), std::make_move_iterator(specified.begin()),
                                 std::make_move_iterator(specified.end()));
    spec.run = run;
    spec.run.role = open.who.role;
    spec.place = RequestPlace{state.task_id, stage.name, open.who.role, open.visit, open.number, 1};
    AF_CHECK(add_to_state(spec.run.state, open, !open.who.mode.empty()));
    AF_TRY(spec.agents_md, agents_md_of(open.services, open.task_workspace, state));
    spec.max_steps = run.max_steps != 0 ? run.max_steps : stage.max_steps;
    return spec;
}

Result<void> check_prompts_fit(const TaskServices& services, const StageTemplate& stage, const std::string& request) {
    std::vector<std::pair<std::string, bool>> runs;
    if (!stage.agent.empty()) { runs.emplace_back(stage.agent, false); }
    for (const std::string& reviewer : stage.reviewers) { runs.emplace_back(reviewer, true); }
    for (const auto& [role, review] : runs) {
        AF_TRY(const AgentDefinition agent, services.agents.get(role));
        const std::string name = review || stage.contract.empty() ? agent.output_contract(stage.name) : stage.contract;
        if (name.empty()) { continue; }
        AF_TRY(const Contract contract, services.contracts.get(name));
        AF_TRY(const ModelClient* const model, services.model(agent));
        const RunSpec spec = frame_of(services, agent, stage.name, contract, "", request);
        AF_CHECK(fix_parts(spec, shipped_tools_of(services, agent, contract.model_schema()), model->info().native_tool_calls));
    }
    return {};
}

}  // namespace agentforge::kernel
