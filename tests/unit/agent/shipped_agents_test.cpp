// SPDX-License-Identifier: Apache-2.0
// The agents and contracts that ship with the product fit the budget that ships with it.
#include <gtest/gtest.h>

#include "agent/context.hpp"
#include "agent/prompt.hpp"
#include "backends/tokens.hpp"
#include "contracts/contract.hpp"
#include "unit/agent/fakes.hpp"

namespace agentforge::kernel::testing {
namespace {

constexpr std::string_view description =
    "Does one thing with a file of the workspace. It says what it did, names what it left out, and gives the "
    "nearest lines where it did not find what was looked for.";

ContractSet contracts() {
    auto set = ContractSet::load({AGENTFORGE_SOURCE_DIR "/config/contracts"});
    EXPECT_TRUE(set.ok()) << set.error().to_string();
    return std::move(set).value();
}

AgentDefinition agent(const std::string& role) {
    const auto set = AgentSet::load(AGENTFORGE_SOURCE_DIR "/config/agents", "", contracts());
    EXPECT_TRUE(set.ok()) << set.error().to_string();
    auto found = set.value().get(role);
    EXPECT_TRUE(found.ok()) << found.error().to_string();
    return std::move(found).value();
}

/// Makes specs as large as the shipped tools', with the contract's own schema for `complete`.
std::vector<ToolSpec> tools_of(const AgentDefinition& definition, const std::string& contract) {
    std::vector<ToolSpec> tools;
    bool completes = false;
    for (const std::string& name : definition.allowed_tools) {
        completes = completes || name == "complete";
        tools.push_back({name,
                         std::string(description),
                         schema({{"path", "string"}, {"search", "string"}, {"replace", "string"}}),
                         ToolEffect::reads,
                         {"path"}});
    }
    if (!completes) { tools.push_back({"complete", std::string(description), {}, ToolEffect::completes, {}}); }
    for (ToolSpec& tool : tools) {
        if (tool.name == "complete") {
            tool.effects = ToolEffect::completes;
            tool.parameters = contracts().get(contract).value().model_schema();
        }
    }
    return tools;
}

class ShippedAgent : public ::testing::TestWithParam<const char*> {};

RunSpec spec_of(const AgentDefinition& definition) {
    RunSpec spec = usual_spec();
    spec.agent = definition;
    spec.stage = definition.stage.empty() ? "spec" : definition.stage;
    spec.goal = std::string(200, 'g');
    return spec;
}

TEST_P(ShippedAgent, has_a_system_prompt_within_its_share) {
    const AgentDefinition definition = agent(GetParam());
    const RunSpec spec = spec_of(definition);
    for (const bool native : {true, false}) {
        const std::string prompt =
            build_system_prompt(spec, tools_of(definition, definition.output_contract(spec.stage)), native);
        EXPECT_LE(estimate_tokens(prompt), spec.budget.system_prompt);
    }
}

TEST_P(ShippedAgent, leaves_room_for_the_state_with_its_contract) {
    const AgentDefinition definition = agent(GetParam());
    RunSpec spec = spec_of(definition);
    for (const auto& [stage, contract] : definition.output_contracts) {
        for (const bool native : {true, false}) {
            const auto fixed = fix_parts(spec, tools_of(definition, contract), native);
            ASSERT_TRUE(fixed.ok()) << contract << ": " << fixed.error().to_string();
            std::printf("%s %s %s: system %zu, tools %zu\n", GetParam(), contract.c_str(), native ? "native" : "text",
                        fixed.value().system_tokens, fixed.value().tools_tokens + fixed.value().actions_tokens);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Every, ShippedAgent,
                         ::testing::Values("requirements_analyst", "business_analyst", "software_architect", "security_architect",
                                           "test_engineer", "software_developer", "senior_developer", "devops_engineer"),
                         [](const auto& role) { return std::string(role.param); });

}  // namespace
}  // namespace agentforge::kernel::testing
