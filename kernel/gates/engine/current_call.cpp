// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/current_call.hpp"

#include "base/json_fields.hpp"
#include "config/gate_names.hpp"
#include "gates/stubs/declarable_interfaces.hpp"
#include "gates/test_quality/test_quality.hpp"

namespace agentforge::kernel {

void CurrentCall::begin(const GateCall& call) {
    specification_ = call.baseline == nullptr ? json::object{} : call.baseline->specification;
    to_be_changed_ = declared_functions(specification_);
    files_to_change_.clear();
    removes_ = call.baseline != nullptr && asks_to_remove(call.baseline->request);
    for (const auto& component : objects_of(specification_, "components")) {
        files_to_change_.insert(text_of(component, "path"));
    }
    if (const auto* files = specification_.if_contains("files_to_modify"); files != nullptr && files->is_array()) {
        for (const auto& file : files->get_array()) {
            if (file.is_string()) { files_to_change_.emplace(file.get_string()); }
        }
    }
    judges_a_stage_ = gate_facts(call.request.gate).judges_a_stage;
}

}  // namespace agentforge::kernel
