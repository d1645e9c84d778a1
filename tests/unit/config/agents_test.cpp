// SPDX-License-Identifier: Apache-2.0
#include "config/agent_set.hpp"

#include <set>

#include "unit/config/fixtures.hpp"

namespace agentforge::kernel {

namespace {

AgentSet shipped_agents() {
    auto loaded = AgentSet::load(shipped_config + "/agents", "", contracts());
    if (!loaded.ok()) {
        ADD_FAILURE() << loaded.error().to_string();
        return {};
    }
    return std::move(loaded).value();
}

AgentDefinition agent(std::string_view role) { return shipped_agents().get(role).value(); }

/// Loads one project file over the shipped agents.
Result<AgentSet> with_project(const std::string& name, const std::string& text) {
    const Folder folder;
    folder.write(name, text);
    return AgentSet::load(shipped_config + "/agents", folder.path(), contracts());
}

}  // namespace

TEST(ShippedAgents, are_the_eight_of_the_north_star_and_the_reviewer_of_the_loop) {
    EXPECT_THAT(shipped_agents().roles(), testing::ElementsAre("business_analyst", "code_reviewer", "devops_engineer",
                                                               "requirements_analyst", "security_architect", "senior_developer",
                                                               "software_architect", "software_developer", "test_engineer"));
}

TEST(ShippedAgents, use_only_tools_that_exist) {
    const std::set<std::string> tools{"list_files",         "read_file", "create_file",    "edit_file",
                                      "apply_patch",        "move_file", "delete_file",    "search_codebase",
                                      "read_documentation", "run_tests", "run_type_check", "run_conformance_check",
                                      "escalate_question",  "complete"};
    for (const auto& role : shipped_agents().roles()) {
        for (const auto& tool : agent(role).allowed_tools) { EXPECT_TRUE(tools.contains(tool)) << role << " " << tool; }
    }
}

TEST(ShippedAgents, all_may_complete) {
    for (const auto& role : shipped_agents().roles()) {
        EXPECT_THAT(agent(role).allowed_tools, testing::Contains("complete")) << role;
    }
}

TEST(ShippedAgents, developers_may_not_touch_tests_by_any_writing_tool) {
    for (const auto* role : {"software_developer", "senior_developer"}) {
        for (const auto* tool : {"edit_file", "apply_patch", "create_file", "move_file", "delete_file"}) {
            EXPECT_EQ(agent(role).path_constraints[tool], "!@tests") << role << tool;
        }
    }
}

TEST(ShippedAgents, the_test_engineer_creates_tests_only) {
    EXPECT_EQ(agent("test_engineer").path_constraints["create_file"], "@tests");
}

TEST(ShippedAgents, the_architect_serves_two_stages) {
    EXPECT_EQ(agent("software_architect").output_contract("analyze"), "analysis");
    EXPECT_EQ(agent("software_architect").output_contract("spec"), "specification");
}

TEST(ShippedAgents, a_stage_without_a_contract_of_its_own_has_none) {
    EXPECT_EQ(agent("software_architect").output_contract("red"), "");
}

TEST(ShippedAgents, one_contract_serves_every_stage) {
    EXPECT_EQ(agent("test_engineer").output_contract("anything"), "test_suite");
}

TEST(ShippedAgents, a_reviewer_has_no_stage) { EXPECT_EQ(agent("security_architect").stage, ""); }

TEST(ShippedAgents, hand_the_work_from_intake_to_deliver) {
    EXPECT_EQ(agent("requirements_analyst").hands_off_to, std::vector<std::string>{"business_analyst"});
    EXPECT_EQ(agent("senior_developer").hands_off_to, std::vector<std::string>{"devops_engineer"});
}

TEST(Agents, must_verify_may_be_a_list_of_maps) {
    const auto set =
        with_project("test_engineer.yaml",
                     "extends: 'agentforge:test_engineer'\ncapabilities: {output: {must_verify: [{a: true}, {b: 100%}]}}\n");
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    EXPECT_EQ(set->get("test_engineer")->must_verify, (json::object{{"a", true}, {"b", "100%"}}));
}

TEST(Agents, a_project_extends_a_shipped_agent) {
    const auto set =
        with_project("software_developer.yaml",
                     "extends: \"agentforge:software_developer\"\nidentity: {expertise: [Python, Django, PostgreSQL]}\n");
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    EXPECT_EQ(set->get("software_developer")->expertise, (std::vector<std::string>{"Python", "Django", "PostgreSQL"}));
    EXPECT_EQ(set->get("software_developer")->path_constraints.at("edit_file"), "!@tests");
}

TEST(Agents, a_role_may_extend_one_of_another_name) {
    const auto set =
        with_project("django_developer.yaml", "extends: \"agentforge:software_developer\"\nagent: {role: django_developer}\n");
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    EXPECT_EQ(set->get("django_developer")->role, "django_developer");
}

TEST(Agents, an_unknown_base_names_the_nearest) {
    const auto set = with_project("software_developer.yaml", "extends: \"agentforge:software_develper\"\n");
    EXPECT_EQ(set.error().code, "AF-AGENT-004");
    EXPECT_EQ(set.error().remedy, "Did you mean agentforge:software_developer?");
}

TEST(Agents, extends_without_the_scheme_is_refused) {
    EXPECT_EQ(with_project("software_developer.yaml", "extends: software_developer\n").error().code, "AF-AGENT-003");
}

TEST(Agents, a_cycle_of_extends_is_refused) {
    const Folder folder;
    folder.write("a.yaml", "extends: 'agentforge:b'\n");
    folder.write("b.yaml", "extends: 'agentforge:a'\n");
    EXPECT_EQ(AgentSet::load(folder.path(), "", contracts()).error().code, "AF-AGENT-005");
}

TEST(Agents, an_unknown_key_names_file_line_and_field) {
    const auto set =
        with_project("software_developer.yaml", "extends: 'agentforge:software_developer'\nidentity:\n  expertize: [a, b, c]\n");
    EXPECT_EQ(set.error().code, "AF-AGENT-001");
    EXPECT_THAT(set.error().where, testing::HasSubstr("software_developer.yaml:3:"));
    EXPECT_THAT(set.error().message,
                testing::HasSubstr("identity.expertize is not a field of this contract; did you mean expertise?"));
}

TEST(Agents, an_allowed_tool_that_the_base_forbids_is_refused) {
    const auto set = with_project("requirements_analyst.yaml",
                                  "extends: 'agentforge:requirements_analyst'\ncapabilities: {tools: {allowed: [edit_file]}}\n");
    EXPECT_THAT(set.error().message,
                testing::HasSubstr("capabilities.tools.allowed[0] is \"edit_file\", which is also forbidden"));
}

TEST(Agents, an_agent_that_does_not_exist_cannot_be_handed_to) {
    const auto set =
        with_project("test_engineer.yaml", "extends: 'agentforge:test_engineer'\norchestration: {hands_off_to: [nobody]}\n");
    EXPECT_THAT(set.error().message,
                testing::HasSubstr("orchestration.hands_off_to[0] is \"nobody\", and there is no such agent"));
}

TEST(Agents, a_contract_that_does_not_exist_is_refused) {
    const auto set =
        with_project("test_engineer.yaml", "extends: 'agentforge:test_engineer'\ncapabilities: {output: {contract: tests}}\n");
    EXPECT_THAT(set.error().message,
                testing::HasSubstr("capabilities.output.contract is \"tests\", and there is no such contract"));
}

TEST(Agents, a_file_must_be_named_after_its_role) {
    EXPECT_EQ(with_project("dev.yaml", "extends: 'agentforge:software_developer'\n").error().code, "AF-AGENT-006");
}

TEST(Agents, a_path_constraint_on_a_tool_that_is_not_allowed_is_refused) {
    const auto set =
        with_project("test_engineer.yaml",
                     "extends: 'agentforge:test_engineer'\ncapabilities: {tools: {path_constraints: {creat_file: 'x/**'}}}\n");
    EXPECT_EQ(set.error().code, "AF-AGENT-008");
    EXPECT_EQ(set.error().remedy, "Did you mean create_file?");
}

TEST(Agents, the_narrower_tools_of_the_north_star_example_are_accepted) {
    const auto set = with_project(
        "software_developer.yaml",
        "extends: 'agentforge:software_developer'\n"
        "capabilities: {tools: {allowed: [read_file, edit_file, create_file, run_tests, run_conformance_check, run_type_check, search_codebase, "
        "run_django_migrations]}}\n");
    ASSERT_TRUE(set.ok()) << set.error().to_string();
}

TEST(Agents, a_rule_of_a_removed_tool_still_binds_the_others) {
    const Folder product;
    std::filesystem::copy(shipped_config + "/agents", product.path());
    std::string text = read_file(product.path() + "/software_developer.yaml", 1 << 20).value();
    const std::string rule = "apply_patch: \"!@tests\"";
    text.replace(text.find(rule), rule.size(), "apply_patch: \"!secret/**\"");
    product.write("software_developer.yaml", text);
    const Folder project;
    project.write("software_developer.yaml",
                  "extends: 'agentforge:software_developer'\ncapabilities: {tools: {allowed: [edit_file, complete]}}\n");
    const auto set = AgentSet::load(product.path(), project.path(), contracts());
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    EXPECT_EQ(set->get("software_developer")->path_constraints.at("apply_patch"), "!secret/**");
    EXPECT_EQ(set->get("software_developer")->path_constraints.size(), 5U);
}

TEST(Agents, a_primary_role_needs_a_contract_for_its_stage) {
    const auto set =
        with_project("software_architect.yaml", "extends: 'agentforge:software_architect'\norchestration: {stage: design}\n");
    EXPECT_EQ(set.error().code, "AF-AGENT-007");
}

TEST(Agents, a_weakened_meta_contract_does_not_end_the_program) {
    const Folder folder;
    folder.write(
        "contracts/a.yaml",
        "contract: agent_definition\nversion: \"1.0\"\ndescription: d\nadditionalProperties: true\nschema: {x: {type: string}}\n");
    folder.write("agents/mine.yaml", "y: 1\n");
    const auto weak = ContractSet::load({shipped_config + "/contracts", folder.path() + "/contracts"});
    EXPECT_EQ(AgentSet::load("", folder.path() + "/agents", *weak).error().code, "AF-AGENT-009");
}

TEST(Agents, an_unknown_role_names_the_nearest) {
    const auto set = shipped_agents();
    EXPECT_EQ(set.get("test_enginer").error().remedy, "Did you mean test_engineer?");
}

}  // namespace agentforge::kernel
