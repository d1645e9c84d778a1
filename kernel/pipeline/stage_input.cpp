// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stage_input.hpp"

#include "pipeline/tests/held_out.hpp"

namespace agentforge::kernel {

namespace {

Result<std::optional<json::object>> object_in(const TaskSession& session, const std::string& blob) {
    if (blob.empty()) { return std::optional<json::object>(); }
    AF_TRY(const json::value value, session.get(blob));
    if (!value.is_object()) { return std::optional<json::object>(); }
    return std::optional<json::object>(as_shown(session.state(), value.get_object()));
}

}  // namespace

Result<StageInput> stage_input(const TaskSession& session) {
    const TaskState& state = session.state();
    const StageTemplate& stage = state.stage_template();
    StageInput input;
    input.task_id = state.task_id;
    input.pipeline = state.pipeline.name;
    input.stage = stage.name;
    input.stage_index = state.stage_index;
    input.attempt = state.stage().attempts;
    input.iteration = state.stage().iterations;
    input.cycle = state.stage().cycles;
    input.request = state.request;
    input.goal_type = state.goal_type;
    AF_TRY(auto artifacts, session.artifacts());
    AF_TRY(auto by_contract, session.artifacts_by_contract());
    artifacts.merge(std::move(by_contract));  // The stage's own names take precedence.
    input.artifacts = as_shown(state, std::move(artifacts));
    input.completed_stages = state.completed_stages();
    input.input_artifact = {{"original_request", state.request}};
    for (std::size_t before = 0; before < state.stage_index; ++before) {
        const auto artifact = input.artifacts.find(state.stages[before].name);
        if (artifact != input.artifacts.end()) { input.input_artifact = artifact->second; }
    }
    input.feedback = state.feedback;
    AF_TRY(input.resolution, object_in(session, state.resolution_blob));
    AF_TRY(input.previous_attempt, object_in(session, state.previous_artifact_blob));
    input.previous_errors = state.previous_errors;
    input.config = stage.config;
    input.agent = stage.agent;
    input.output_contract = stage.contract;
    input.timeout = stage.timeout;
    return input;
}

}  // namespace agentforge::kernel
