// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/current_call.hpp"

#include "config/gate_names.hpp"
#include "gates/stubs/declarable_interfaces.hpp"

namespace agentforge::kernel {

void CurrentCall::begin(const GateCall& call) {
    specification_ = call.baseline == nullptr ? json::object{} : call.baseline->specification;
    to_be_changed_ = declared_functions(specification_);
    judges_a_stage_ = gate_facts(call.request.gate).judges_a_stage;
}

}  // namespace agentforge::kernel
