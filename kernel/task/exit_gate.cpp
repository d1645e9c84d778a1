// SPDX-License-Identifier: Apache-2.0
#include "task/exit_gate.hpp"

namespace agentforge::kernel {

std::string unmeasured_gate(const TaskState& state, std::string_view gate, const std::string& tree) {
    const auto measured = state.gates.find(gate);
    const std::string name = "the " + std::string(gate) + " gate ";
    if (measured == state.gates.end() || measured->second.tree != tree) {
        return name + "was not measured on the tree that is handed in";
    }
    if (measured->second.partial) { return name + "looked at some paths only; it must be measured on the whole tree"; }
    return {};
}

std::string unmet_gate(const TaskState& state, std::string_view gate, const std::string& tree, const std::string* inputs) {
    if (std::string unmeasured = unmeasured_gate(state, gate, tree); !unmeasured.empty()) { return unmeasured; }
    const std::string name = "the " + std::string(gate) + " gate ";
    const auto report = state.resumption.reports.find(gate);
    const bool current = inputs == nullptr || (report != state.resumption.reports.end() && report->second.inputs == *inputs);
    if (!current) { return name + "was measured with settings or rules that have changed since"; }
    const GateState& measured = state.gates.find(gate)->second;
    return measured.passed ? std::string() : name + "does not pass: " + measured.summary;
}

std::string unmet_exit_gate(const TaskState& state, const std::string* inputs) {
    const std::string gate = exit_gate(state.stage_template());
    return gate.empty() ? std::string() : unmet_gate(state, gate, state.tree, inputs);
}

}  // namespace agentforge::kernel
