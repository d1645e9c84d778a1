// SPDX-License-Identifier: Apache-2.0
#include "task/dependencies.hpp"

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "contracts/names.hpp"

namespace agentforge::kernel {

Dependencies dependencies_of(const json::object& specification) {
    Dependencies all;
    const json::value* value = specification.if_contains("dependencies");
    if (value == nullptr || !value->is_object()) { return all; }
    for (const json::value& each : list_of(value->get_object(), "tasks")) {
        if (const json::object* entry = each.if_object()) {
            all.tasks.push_back({text_of(*entry, "task_id"), text_of(*entry, "required_stage"), text_of(*entry, "repo"),
                                 text_of(*entry, "reason")});
        }
    }
    for (const json::value& each : list_of(value->get_object(), "external")) {
        if (const json::object* entry = each.if_object()) {
            all.external.push_back(
                {text_of(*entry, "repo"), text_of(*entry, "artifact"), text_of(*entry, "version"), text_of(*entry, "reason")});
        }
    }
    return all;
}

std::string specification_in_force(const TaskState& state) {
    std::string hash;
    if (const auto input = state.external_inputs.find(contract_name::specification);
        input != state.external_inputs.end() && !input->second.pending) {
        hash = input->second.hash;
    }
    for (std::size_t index = 0; index < state.stages.size(); ++index) {
        if (!makes(state.pipeline.stages[index], contract_name::specification)) { continue; }
        if (index >= state.stage_index && state.stages[index].status != StageStatus::skipped) { break; }
        if (state.stages[index].status == StageStatus::completed) { hash = state.stages[index].artifact_hash; }
    }
    return hash;
}

Result<Dependencies> dependencies_in(const BlobStore& blobs, const std::string& hash) {
    AF_TRY(const std::string text, blobs.get(hash));
    AF_TRY(const json::value value, parse_json(text, "blob " + hash));
    return value.is_object() ? dependencies_of(value.get_object()) : Dependencies();
}

bool has_reached(const TaskState& state, const std::string& stage) {
    const auto index = state.pipeline.index_of(stage);
    if (!index) { return false; }
    const StageStatus status = state.stages[*index].status;
    return status == StageStatus::completed ||
           (status == StageStatus::skipped && (state.stage_index > *index || state.status == TaskStatus::completed));
}

}  // namespace agentforge::kernel
