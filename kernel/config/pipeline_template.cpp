// SPDX-License-Identifier: Apache-2.0
#include "config/pipeline_template.hpp"

#include <algorithm>

#include "contracts/names.hpp"

namespace agentforge::kernel {

std::string exit_gate(const StageTemplate& stage) {
    const json::value* gate = stage.config.if_contains("exit_gate");
    return gate != nullptr && gate->is_string() ? std::string(gate->get_string()) : std::string();
}

std::string hand_back_gate(const StageTemplate& stage) {
    const json::value* gate = stage.config.if_contains("hand_back_gate");
    if (gate != nullptr) { return gate->is_string() ? std::string(gate->get_string()) : std::string(); }
    return gate_facts(exit_gate(stage)).verifies_the_change ? exit_gate(stage) : std::string();
}

ComparedTree compared_tree(const StageTemplate& stage, std::string_view gate) {
    const GateFacts facts = gate_facts(gate);
    return facts.judges_a_stage ? stage.compares_with.value_or(facts.compares_with) : facts.compares_with;
}

bool makes(const StageTemplate& stage, std::string_view contract) {
    return stage.contract == contract || (!contract.empty() && stage.also_makes == contract);
}

const std::vector<std::string>& stage_parts() {
    static const std::vector<std::string> words{"planner", "executor", "verifier", "reviewer"};
    return words;
}

const std::vector<std::string>& context_strategies() {
    static const std::vector<std::string> words{"full", "focused", "minimal", "summary"};
    return words;
}

bool writes_tests(const StageTemplate& stage) { return stage.locks_tests.value_or(gate_facts(exit_gate(stage)).judges_tests); }

std::array<std::string, 2> provided_words(std::string_view contract) {
    return {std::string(contract) + "_provided", "external_" + std::string(contract) + "_provided"};
}

bool is_provided_word(const PipelineTemplate& pipeline, std::string_view word, std::string_view contract) {
    const auto further = pipeline.provided_as.find(contract);
    if (further != pipeline.provided_as.end() && std::ranges::find(further->second, word) != further->second.end()) {
        return true;
    }
    const auto words = provided_words(contract);
    return std::ranges::find(words, word) != words.end();
}

bool makes_delivery(const StageTemplate& stage) {
    return stage.delivers.value_or(stage.contract == contract_name::delivery_report);
}

std::string closing_gate(const StageTemplate& stage) {
    return makes_delivery(stage) ? std::string(gate_name::deliver) : exit_gate(stage);
}

std::optional<std::size_t> PipelineTemplate::index_of(std::string_view stage) const {
    for (std::size_t i = 0; i < stages.size(); ++i) {
        if (stages[i].name == stage) { return i; }
    }
    return std::nullopt;
}

}  // namespace agentforge::kernel
