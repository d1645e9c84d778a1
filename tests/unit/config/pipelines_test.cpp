// SPDX-License-Identifier: Apache-2.0
#include "config/pipeline_set.hpp"

#include "base/files.hpp"
#include "config/template_checks.hpp"
#include "config/verification.hpp"

#include "unit/config/fixtures.hpp"

namespace agentforge::kernel {

namespace {

const std::string orchestration = shipped_config + "/orchestration/pipeline.yaml";

PipelineSet shipped_pipelines() {
    auto loaded = PipelineSet::load(shipped_config + "/pipelines", "", orchestration, contracts());
    if (!loaded.ok()) {
        ADD_FAILURE() << loaded.error().to_string();
        return {};
    }
    return std::move(loaded).value();
}

Result<PipelineSet> with_project(const std::string& name, const std::string& text) {
    const Folder folder;
    folder.write(name, text);
    return PipelineSet::load(shipped_config + "/pipelines", folder.path(), orchestration, contracts());
}

std::string mine(const std::string& stages) { return "pipeline:\n  name: mine\n  description: d\n  goal_type: g\n" + stages; }

PipelineTemplate populated() {
    PipelineTemplate out;
    out.name = "full";
    out.description = "d";
    out.goal_type = "g";
    out.source = "s";
    out.supervised = true;
    out.timeout = std::chrono::milliseconds(1234);
    out.deliverable = "analysis";
    out.summary_template = "t";
    out.accepts_external = {{"specification", {"specification", "one", {"test_suite"}, "user_provided"}}};
    out.requires_external = {{"test_suite", {"test_suite", "", {}, ""}}};
    out.provided_as = {{"specification", {"spec_provided"}}};
    out.continuation = {"p", "implement", {"a", "b"}};
    StageTemplate stage;
    stage.name = "one";
    stage.executor = "e";
    stage.agent = "a";
    stage.reviewers = {"r", "q"};
    stage.review_blocking = false;
    stage.contract = "analysis";
    stage.artifact = "f";
    stage.prerequisites = {"p"};
    stage.required = false;
    stage.purpose = "why";
    stage.skip_if = "no_ambiguities OR trivial_change";
    stage.iterate = true;
    stage.iterate_prompt = "i";
    stage.default_exit = true;
    stage.max_iterations = 7;
    stage.max_retries = 0;
    stage.max_cycles = 10;
    stage.max_reviews = 5;
    stage.max_contract_retries = 0;
    stage.max_steps = 9;
    stage.timeout = std::chrono::milliseconds(1);
    stage.approve = true;
    stage.entry_point = true;
    stage.exit_point = true;
    stage.config = json::object{{"k", json::array{1, "x", nullptr}}, {"exit_gate", "green"}};
    stage.compares_with = ComparedTree::base;
    out.stages = {stage, StageTemplate{}};
    out.stages[1].name = "two";
    out.stages[1].executor = "two";
    out.stages[1].artifact = "two";
    out.exit_stage = "one";
    return out;
}

}  // namespace

TEST(ShippedPipelines, implement_has_the_eight_stages) {
    std::vector<std::string> names;
    const auto implement = shipped_pipelines().get("implement");
    for (const auto& stage : implement->stages) { names.push_back(stage.name); }
    EXPECT_THAT(names, testing::ElementsAre("intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver"));
}

TEST(ShippedPipelines, design_ends_with_the_specification) {
    const auto design = shipped_pipelines().get("design");
    EXPECT_EQ(design->stages.back().name, "spec");
    EXPECT_EQ(design->exit_stage, "spec");
    EXPECT_EQ(design->deliverable, "specification");
}

TEST(ShippedPipelines, design_inherits_agents_and_contracts) {
    const auto stage = shipped_pipelines().get("design")->stages[0];
    EXPECT_EQ(stage.agent, "requirements_analyst");
    EXPECT_EQ(stage.contract, "intake_record");
}

TEST(ShippedPipelines, spec_and_refactor_are_reviewed_and_a_review_blocks) {
    for (const auto* name : {"spec", "refactor"}) {
        const auto implement = shipped_pipelines().get("implement");
        const auto& stage = implement->stages[*implement->index_of(name)];
        EXPECT_EQ(stage.reviewers, std::vector<std::string>{"security_architect"});
        EXPECT_TRUE(stage.review_blocking);
    }
}

TEST(ShippedPipelines, green_verifies_edits_and_leaves_through_its_gate) {
    const auto implement = shipped_pipelines().get("implement");
    const auto& config = implement->stages[*implement->index_of("green")].config;
    EXPECT_EQ(config.at("exit_gate"), json::value("green"));
    const auto checks = edit_checks(config);
    ASSERT_TRUE(checks.ok()) << checks.error().to_string();
    std::vector<std::string> gates;
    for (const auto& check : *checks) { gates.push_back(check.gate); }
    EXPECT_EQ(gates, (std::vector<std::string>{"syntax", "types", "conformance", "tests"}));
}

TEST(ShippedPipelines, test_and_code_phases_have_exit_criteria) {
    const auto implement = shipped_pipelines().get("implement");
    std::map<std::string, std::vector<std::string>> facts;
    for (const auto* name : {"red", "green", "refactor", "deliver"}) {
        const auto criteria = exit_criteria(implement->stages[*implement->index_of(name)].config);
        ASSERT_TRUE(criteria.ok()) << criteria.error().to_string();
        for (const auto& criterion : *criteria) { facts[name].push_back(criterion.fact); }
    }
    EXPECT_EQ(facts["red"], (std::vector<std::string>{"tests_exist", "all_tests_fail", "tests_are_valid"}));
    EXPECT_EQ(facts["green"], (std::vector<std::string>{"all_tests_pass", "conformance_passing", "type_check_passing",
                                                        "no_regressions", "fails_without_change"}));
    EXPECT_EQ(facts["refactor"], (std::vector<std::string>{"all_tests_pass", "conformance_passing", "type_check_passing",
                                                           "no_regressions", "complexity_acceptable"}));
    EXPECT_EQ(facts["deliver"], (std::vector<std::string>{"deployment_ready"}));
}

TEST(PipelineFiles, an_unknown_check_after_edits_is_named_with_its_line) {
    const auto loaded = with_project(
        "mine.yaml",
        mine("  stages:\n    - name: green\n      config:\n        exit_gate: green\n        verify_edits: [syntx]\n"));
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().code, "AF-PIPE-001");
    EXPECT_NE(loaded.error().where.find("mine.yaml:9"), std::string::npos) << loaded.error().where;
    EXPECT_EQ(loaded.error().remedy, "Did you mean `syntax`?");
}

TEST(ShippedPipelines, defaults_are_those_of_the_specification) {
    const auto stage = shipped_pipelines().get("implement")->stages[0];
    EXPECT_EQ(stage.timeout, std::chrono::minutes(5));
    EXPECT_EQ(stage.max_retries, 2U);
    EXPECT_EQ(stage.executor, "intake");
    EXPECT_EQ(stage.artifact, "intake_record");
}

TEST(PipelineTemplate, shipped_ones_read_back_from_json) {
    for (const auto& name : shipped_pipelines().names()) {
        const auto shipped = shipped_pipelines().get(name).value();
        const auto back = PipelineTemplate::from_json(shipped.to_json());
        ASSERT_TRUE(back.ok()) << back.error().to_string();
        EXPECT_EQ(*back, shipped) << name;
    }
}

TEST(PipelineTemplate, a_fully_populated_one_reads_back_from_json) {
    const auto back = PipelineTemplate::from_json(populated().to_json());
    ASSERT_TRUE(back.ok()) << back.error().to_string();
    EXPECT_EQ(*back, populated());
}

TEST(PipelineTemplate, survives_json_text) {
    const auto text = to_json_line(json::value(populated().to_json()));
    EXPECT_EQ(*PipelineTemplate::from_json(parse_json(text, "t")->as_object()), populated());
}

TEST(PipelineTemplate, json_of_every_template_round_trips_byte_for_byte) {
    const auto first = populated().to_json();
    EXPECT_EQ(PipelineTemplate::from_json(first)->to_json(), first);
}

TEST(PipelineTemplate, an_unknown_field_in_json_is_refused) {
    auto value = populated().to_json();
    value["stages"].as_array()[0].as_object()["max_stepz"] = 3;
    const auto back = PipelineTemplate::from_json(value);
    EXPECT_EQ(back.error().where, "/stages/0/max_stepz");
    EXPECT_EQ(back.error().remedy, "Did you mean `max_steps`?");
}

TEST(PipelineTemplate, a_negative_number_in_json_is_refused) {
    auto value = populated().to_json();
    value["stages"].as_array()[0].as_object()["max_steps"] = -3;
    EXPECT_EQ(PipelineTemplate::from_json(value).error().code, "AF-PIPE-001");
}

TEST(PipelineTemplate, more_than_ten_cycles_are_refused) {
    auto value = populated();
    value.stages[0].max_cycles = 11;
    EXPECT_EQ(PipelineTemplate::from_json(value.to_json()).error().code, "AF-PIPE-004");
}

TEST(Pipelines, more_than_ten_cycles_name_file_and_line) {
    const auto set = with_project("mine.yaml", mine("  stages:\n    - name: analyze\n      max_cycles: 11\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-004");
    EXPECT_THAT(set.error().where, testing::HasSubstr("mine.yaml:7:"));
}

TEST(Pipelines, a_project_template_inherits_stages_by_name) {
    const auto set = with_project("mine.yaml", mine("  stages:\n    - name: spec\n    - name: red\n"));
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    EXPECT_EQ(set->get("mine")->stages[1].contract, "test_suite");
}

TEST(Pipelines, settings_specific_to_implement_are_not_inherited) {
    const auto set = with_project("mine.yaml", mine("  stages:\n    - name: clarify\n"));
    EXPECT_EQ(set->get("mine")->stages[0].skip_if, "");
}

TEST(Pipelines, a_project_template_replaces_a_shipped_one) {
    const auto set =
        with_project("design.yaml", "pipeline: {name: design, description: ours, goal_type: design, stages: [{name: spec}]}\n");
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    EXPECT_EQ(set->get("design")->description, "ours");
}

TEST(Pipelines, an_agent_named_by_a_project_template_is_used) {
    const auto set =
        with_project("mine.yaml", mine("  stages:\n    - {name: green, agent: django_developer, prerequisites: []}\n"));
    EXPECT_EQ(set->get("mine")->stages[0].agent, "django_developer");
}

TEST(Pipelines, the_mapping_of_stages_to_agents_overrides_shipped_templates) {
    const Folder folder;
    const auto file = folder.write(
        "pipeline.yaml",
        "pipeline: {stages: {green: {primary: my_developer, reviewers: [security_architect], review_mode: advisory}}}\n");
    const auto set = PipelineSet::load(shipped_config + "/pipelines", "", file, contracts());
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    const auto implement = set->get("implement");
    const auto& green = implement->stages[*implement->index_of("green")];
    EXPECT_EQ(green.agent, "my_developer");
    EXPECT_FALSE(green.review_blocking);
}

TEST(Pipelines, the_mapping_may_not_name_an_unknown_stage) {
    const Folder folder;
    const auto file = folder.write("pipeline.yaml", "pipeline: {stages: {gren: {primary: x}}}\n");
    const auto set = PipelineSet::load(shipped_config + "/pipelines", "", file, contracts());
    EXPECT_EQ(set.error().code, "AF-PIPE-007");
    EXPECT_EQ(set.error().remedy, "Did you mean green?");
}

TEST(Pipelines, the_mapping_may_not_hold_unknown_fields) {
    const Folder folder;
    const auto file = folder.write("pipeline.yaml", "pipeline: {stages: {green: {primry: x}}}\n");
    EXPECT_EQ(PipelineSet::load(shipped_config + "/pipelines", "", file, contracts()).error().code, "AF-PIPE-007");
}

TEST(Pipelines, an_unknown_condition_names_the_nearest) {
    const auto set =
        with_project("mine.yaml", mine("  stages:\n    - {name: clarify, skip_if: no_ambiguity OR spec_provided}\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-005");
    EXPECT_EQ(set.error().remedy, "Did you mean `no_ambiguities`?");
}

TEST(Pipelines, a_condition_must_follow_or) {
    EXPECT_EQ(with_project("mine.yaml", mine("  stages:\n    - {name: clarify, skip_if: 'never OR '}\n")).error().code,
              "AF-PIPE-005");
}

TEST(Pipelines, a_condition_may_name_the_projects_own_contract) {
    const Folder folder;
    folder.write(
        "contracts/notes.yaml",
        "contract: notes\nversion: \"1.0\"\ndescription: d\nschema: {todo: {type: array, items: {type: string}}}\nconditions: {nothing_to_do: [{empty: todo}]}\n");
    folder.write("pipelines/mine.yaml",
                 mine("  stages:\n    - {name: look, contract: notes}\n    - {name: clarify, skip_if: nothing_to_do}\n"));
    const auto own = ContractSet::load({shipped_config + "/contracts", folder.path() + "/contracts"});
    ASSERT_TRUE(own.ok()) << own.error().to_string();
    const auto set = PipelineSet::load("", folder.path() + "/pipelines", "", *own);
    EXPECT_TRUE(set.ok() || set.error().code != "AF-PIPE-005") << set.error().to_string();
}

TEST(Pipelines, words_for_external_artifacts_come_from_the_contract) {
    const Folder folder;
    const std::string contract = "version: \"1.0\"\ndescription: d\nschema: {todo: {type: array, items: {type: string}}}\n";
    folder.write("contracts/notes.yaml", "contract: notes\nprovided_as: [notes_taken]\n" + contract);
    const auto own = ContractSet::load({shipped_config + "/contracts", folder.path() + "/contracts"});
    ASSERT_TRUE(own.ok()) << own.error().to_string();
    const auto with = [&](const std::string& word) {
        folder.write(
            "pipelines/mine.yaml",
            mine("  accepts_external: {notes: {contract: notes}}\n  stages:\n    - {name: look, contract: notes, skip_if: " +
                 word + "}\n    - {name: clarify}\n"));
        return PipelineSet::load(shipped_config + "/pipelines", folder.path() + "/pipelines", "", *own);
    };
    const auto set = with("notes_taken");
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    EXPECT_TRUE(is_provided_word(*set->get("mine"), "notes_taken", "notes"));
    EXPECT_TRUE(is_provided_word(*set->get("mine"), "external_notes_provided", "notes"));
    EXPECT_FALSE(is_provided_word(*set->get("mine"), "notes_taken", "analysis"));
    const auto misspelt = with("notes_takn");
    EXPECT_EQ(misspelt.error().remedy, "Did you mean `notes_taken`?");
    EXPECT_THAT(with("quite_another").error().remedy, testing::HasSubstr("never, "));
    EXPECT_THAT(with("quite_another").error().remedy, testing::HasSubstr("notes_taken"));
}

TEST(Pipelines, a_contract_of_the_project_that_replaces_a_shipped_one_keeps_its_words) {
    const Folder folder;
    std::string specification = read_file(shipped_config + "/contracts/specification.yaml").value();
    const auto words = specification.find("provided_as:");
    ASSERT_NE(words, std::string::npos);
    folder.write("contracts/specification.yaml", specification.erase(words, specification.find('\n', words) + 1 - words));
    folder.write("contracts/intake_record.yaml",
                 "contract: intake_record\nversion: \"1.0\"\ndescription: d\nschema: {title: {type: string}}\n");
    const auto own = ContractSet::load({shipped_config + "/contracts", folder.path() + "/contracts"});
    ASSERT_TRUE(own.ok()) << own.error().to_string();
    const auto set = PipelineSet::load(shipped_config + "/pipelines", "", orchestration, *own);
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    EXPECT_TRUE(is_provided_word(*set->get("implement"), "spec_provided", "specification"));
}

TEST(Pipelines, the_template_of_an_older_task_keeps_its_condition_words) {
    auto value = shipped_pipelines().get("implement")->to_json();
    ASSERT_TRUE(value.at("provided_as").as_object().contains("specification"));
    value.erase("provided_as");
    const auto old = PipelineTemplate::from_json(value);
    ASSERT_TRUE(old.ok()) << old.error().to_string();
    EXPECT_TRUE(is_provided_word(*old, "spec_provided", "specification"));
    EXPECT_TRUE(is_provided_word(*old, "external_tests_provided", "test_suite"));
    EXPECT_FALSE(is_provided_word(*old, "spec_provided", "test_suite"));
}

TEST(Pipelines, an_exit_gate_that_does_not_exist_is_refused) {
    const auto set =
        with_project("mine.yaml", mine("  stages:\n    - {name: look, contract: analysis, config: {exit_gate: nope}}\n"));
    EXPECT_EQ(set.error().message, "there is no gate `nope`");
}

TEST(Pipelines, a_stage_names_the_tree_its_gate_compares_with) {
    const auto set = with_project(
        "mine.yaml",
        mine("  stages:\n    - {name: look, contract: implementation, compares_with: base, config: {exit_gate: green}}\n"));
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    const StageTemplate look = set->get("mine")->stages[0];
    EXPECT_EQ(compared_tree(look, "green"), ComparedTree::base);
    EXPECT_EQ(compared_tree(look, "deliver"), ComparedTree::base);
    EXPECT_EQ(compared_tree(look, "conformance"), ComparedTree::locked_tests) << "it judges no stage";
    EXPECT_EQ(compared_tree(StageTemplate{}, "red"), ComparedTree::base);
    EXPECT_EQ(compared_tree(StageTemplate{}, "green"), ComparedTree::locked_tests);
}

TEST(Pipelines, an_unknown_tree_to_compare_with_names_the_nearest) {
    const auto with = [](const std::string& keys) {
        return with_project("mine.yaml",
                            mine("  stages:\n    - name: look\n      contract: implementation\n      " + keys + "\n"))
            .error();
    };
    const Error wrong = with("compares_with: locked_test\n      config: {exit_gate: green}");
    EXPECT_EQ(wrong.code, "AF-PIPE-001");
    EXPECT_EQ(wrong.message, "`compares_with` is `locked_test`, which does not exist");
    EXPECT_EQ(wrong.remedy, "Did you mean `locked_tests`?");
    EXPECT_THAT(wrong.where, testing::HasSubstr("mine.yaml:8:"));
    EXPECT_EQ(with("compares_with: ''\n      config: {exit_gate: green}").remedy, "Write one of base, locked_tests.");
    EXPECT_EQ(with("compares_with: base").message, "the stage has no gate that compares trees");
    EXPECT_EQ(with("compares_wit: base").code, "AF-PIPE-001");
}

TEST(Pipelines, only_a_gate_that_verifies_a_change_can_show_that_a_test_is_wrong) {
    const auto set = with_project(
        "mine.yaml", mine("  stages:\n    - {name: look, contract: implementation, config: {hand_back_gate: red}}\n"));
    EXPECT_EQ(set.error().message, "only the gate `green` can show that a test is wrong");
    EXPECT_EQ(set.error().remedy, "Write green, or remove `hand_back_gate`.");
}

TEST(Pipelines, two_stages_that_lock_tests_or_deliver_are_refused) {
    const auto locking = with_project(
        "mine.yaml",
        mine(
            "  stages:\n    - name: red\n    - {name: probes, executor: red, contract: test_suite, config: {exit_gate: red}}\n"));
    EXPECT_EQ(locking.error().message, "stage probes locks its tests, and so does red");
    const auto delivering = with_project(
        "mine.yaml", mine("  stages:\n    - name: deliver\n    - {name: again, executor: deliver, contract: delivery_report}\n"));
    EXPECT_EQ(delivering.error().message, "stage again delivers, and so does deliver");
    EXPECT_EQ(delivering.error().code, "AF-PIPE-015");
}

TEST(Pipelines, tests_not_named_by_an_artifact_cannot_be_locked) {
    const auto set = with_project("mine.yaml", mine("  stages:\n    - {name: look, contract: analysis, locks_tests: true}\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-015");
    EXPECT_THAT(set.error().message, testing::HasSubstr("has no `test_files` to name them"));
}

TEST(Pipelines, a_deliverable_that_no_stage_before_the_exit_makes_is_refused) {
    const auto set = with_project(
        "mine.yaml",
        mine("  stages:\n    - name: analyze\n    - name: spec\n  exit: {stage: analyze, deliverable: specification}\n"));
    EXPECT_EQ(set.error().message, "the pipeline is for a specification, which no stage up to analyze produces");
}

TEST(Pipelines, a_weakened_meta_contract_does_not_end_the_program) {
    const Folder folder;
    folder.write(
        "contracts/p.yaml",
        "contract: pipeline_template\nversion: \"1.0\"\ndescription: d\nadditionalProperties: true\nschema: {x: {type: string}}\n");
    folder.write("pipelines/mine.yaml", "y: 1\n");
    const auto weak = ContractSet::load({shipped_config + "/contracts", folder.path() + "/contracts"});
    EXPECT_EQ(PipelineSet::load("", folder.path() + "/pipelines", "", *weak).error().code, "AF-PIPE-012");
}

TEST(Pipelines, an_unknown_field_names_line_and_nearest) {
    const auto set = with_project("mine.yaml", mine("  stages:\n    - name: clarify\n      itrate: true\n"));
    EXPECT_THAT(set.error().message,
                testing::HasSubstr("pipeline.stages[0].itrate is not a field of this contract; did you mean iterate?"));
    EXPECT_THAT(set.error().where, testing::HasSubstr("mine.yaml:7:"));
}

TEST(Pipelines, a_duplicate_stage_name_is_refused) {
    EXPECT_FALSE(with_project("mine.yaml", mine("  stages:\n    - name: red\n    - name: red\n")).ok());
}

TEST(Pipelines, a_default_exit_is_the_exit_if_the_template_names_none) {
    const auto pipelines = with_project(
        "mine.yaml", mine("  stages:\n    - name: intake\n    - {name: clarify, default_exit: true}\n    - name: analyze\n"));
    ASSERT_TRUE(pipelines.ok()) << pipelines.error().to_string();
    EXPECT_EQ(pipelines->get("mine")->exit_stage, "clarify");
}

TEST(Pipelines, an_exit_that_is_not_a_stage_is_refused) {
    EXPECT_EQ(with_project("mine.yaml", mine("  stages:\n    - name: red\n  exit: {stage: green}\n")).error().code,
              "AF-PIPE-006");
}

TEST(Pipelines, a_new_stage_needs_a_contract) {
    EXPECT_EQ(with_project("mine.yaml", mine("  stages:\n    - name: lint\n")).error().code, "AF-PIPE-009");
}

TEST(Pipelines, a_contract_that_does_not_exist_is_refused) {
    const auto set = with_project("mine.yaml", mine("  stages:\n    - {name: lint, contract: analisis}\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-008");
    EXPECT_EQ(set.error().remedy, "Did you mean analysis?");
}

TEST(Pipelines, a_file_must_be_named_after_its_pipeline) {
    EXPECT_EQ(with_project("other.yaml", mine("  stages:\n    - name: analyze\n")).error().code, "AF-PIPE-010");
}

TEST(Pipelines, a_continuation_must_exist) {
    EXPECT_EQ(
        with_project("mine.yaml", mine("  stages:\n    - name: analyze\n  continuation: {prompt: p, next_pipeline: nothing}\n"))
            .error()
            .code,
        "AF-PIPE-011");
}

TEST(Pipelines, a_required_external_artifact_is_read) {
    const auto set = with_project(
        "mine.yaml",
        mine(
            "  requires_external: {specification: {contract: specification, source: user_provided OR task_reference}}\n  stages:\n    - name: red\n"));
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    EXPECT_EQ(set->get("mine")->requires_external.at("specification").contract, "specification");
}

TEST(Pipelines, an_unknown_pipeline_names_the_nearest) {
    const auto set = shipped_pipelines();
    EXPECT_EQ(set.get("implemnt").error().remedy, "Did you mean implement?");
}

// ------------------------------------------------------------------------------- templates that cannot run --

TEST(Pipelines, a_prerequisite_that_nothing_provides_is_refused_with_its_line) {
    const auto set = with_project(
        "mine.yaml",
        mine(
            "  stages:\n    - name: analyze\n    - name: look\n      contract: analysis\n      prerequisites: [specification]\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-020");
    EXPECT_THAT(set.error().where, testing::HasSubstr("mine.yaml:9:"));
}

TEST(Pipelines, an_inherited_prerequisite_that_nothing_provides_is_refused) {
    const auto set = with_project("mine.yaml", mine("  stages:\n    - name: analyze\n    - name: red\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-020");
    EXPECT_THAT(set.error().message, testing::HasSubstr("as in the shipped pipeline"));
    EXPECT_THAT(set.error().where, testing::HasSubstr("mine.yaml:7:"));
}

TEST(Pipelines, a_stage_of_another_kind_does_not_inherit_prerequisites) {
    const auto set = with_project(
        "mine.yaml", mine("  stages:\n    - {name: green, executor: prompt, contract: analysis, config: {prompt: x}}\n"));
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    EXPECT_TRUE(set->get("mine")->stages[0].prerequisites.empty());
}

TEST(Pipelines, a_required_external_artifact_satisfies_a_prerequisite) {
    EXPECT_TRUE(
        with_project("mine.yaml",
                     mine("  requires_external: {specification: {contract: specification}}\n  stages:\n    - name: red\n"))
            .ok());
}

TEST(Pipelines, an_optional_external_artifact_does_not_satisfy_a_prerequisite) {
    const auto set = with_project(
        "mine.yaml", mine("  accepts_external: {specification: {contract: specification}}\n  stages:\n    - name: red\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-020");
    EXPECT_THAT(set.error().message, testing::HasSubstr("if nothing comes from outside"));
    EXPECT_THAT(set.error().where, testing::HasSubstr("mine.yaml:7:"));
}

TEST(Pipelines, a_missing_prerequisite_of_a_skippable_stage_is_refused) {
    const std::string look =
        "    - {name: look, executor: prompt, contract: analysis, prerequisites: [clarification], config: {prompt: x}";
    const auto set = with_project(
        "mine.yaml",
        mine("  stages:\n    - name: intake\n      skip_if: never\n    - name: clarify\n      skip_if: no_ambiguities\n" + look +
             "}\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-020");
    EXPECT_THAT(
        set.error().message,
        testing::HasSubstr(
            "stage look builds on a clarification, but no earlier stage that runs produces one if no_ambiguities is true"));
    EXPECT_THAT(set.error().where, testing::HasSubstr("mine.yaml:10:"));
    EXPECT_TRUE(
        with_project(
            "mine.yaml",
            mine("  stages:\n    - name: intake\n      skip_if: never\n    - name: clarify\n      skip_if: no_ambiguities\n" +
                 look + ", skip_if: no_ambiguities}\n    - name: analyze\n"))
            .ok());
}

TEST(Pipelines, covers_conditions_that_become_true_between_producer_and_consumer) {
    const std::string maker =
        "    - {name: look, executor: prompt, contract: analysis, config: {prompt: x}, skip_if: NOT no_ambiguities}\n";
    const std::string builds =
        "    - {name: build, executor: prompt, contract: clarification, prerequisites: [analysis], config: {prompt: x}, skip_if: NOT no_ambiguities}\n";
    EXPECT_EQ(with_project("mine.yaml", mine("  stages:\n" + maker + "    - name: intake\n      skip_if: never\n" + builds))
                  .error()
                  .code,
              "AF-PIPE-020");
    EXPECT_TRUE(
        with_project(
            "mine.yaml",
            mine(
                "  stages:\n    - name: intake\n      skip_if: never\n" + maker +
                "    - {name: build, executor: prompt, contract: clarification, prerequisites: [analysis], config: {prompt: x}, skip_if: NOT analysis_provided AND NOT no_ambiguities}\n"))
            .error()
            .code == "AF-PIPE-020");
}

TEST(Pipelines, an_external_artifact_that_skips_a_needed_stage_is_refused) {
    const auto set = with_project(
        "mine.yaml",
        mine(
            "  accepts_external: {specification: {contract: specification}}\n  stages:\n    - name: intake\n      skip_if: spec_provided\n    - name: analyze\n      prerequisites: [intake_record]\n    - name: spec\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-020");
    EXPECT_THAT(set.error().message, testing::HasSubstr("if specification comes from outside"));
}

TEST(Pipelines, every_path_through_the_shipped_templates_has_its_prerequisites) {
    const PipelineSet set = shipped_pipelines();
    for (const std::string& name : set.names()) {
        const auto found = find_unprovided(*set.get(name), [](const StageTemplate& stage) { return stage.prerequisites; });
        EXPECT_FALSE(found.has_value()) << name << ": " << found->contract << " " << found->when;
    }
}

TEST(Pipelines, a_stage_after_the_exit_is_refused_with_its_line) {
    const auto set =
        with_project("mine.yaml", mine("  stages:\n    - name: intake\n    - name: analyze\n  exit: {stage: intake}\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-019");
    EXPECT_EQ(set.error().message, "no task reaches stage analyze: the pipeline ends before it, at intake");
    EXPECT_THAT(set.error().where, testing::HasSubstr("mine.yaml:7:"));
}

TEST(Pipelines, a_stage_that_is_always_skipped_is_refused) {
    EXPECT_EQ(with_project("mine.yaml", mine("  stages:\n    - {name: intake, skip_if: NOT never}\n")).error().code,
              "AF-PIPE-019");
}

TEST(Pipelines, two_default_exits_are_refused_at_the_second) {
    const auto set = with_project(
        "mine.yaml", mine("  stages:\n    - {name: intake, default_exit: true}\n    - {name: analyze, default_exit: true}\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-018");
    EXPECT_THAT(set.error().where, testing::HasSubstr("mine.yaml:7:"));
}

TEST(Pipelines, a_default_exit_that_is_not_the_exit_is_refused) {
    EXPECT_EQ(
        with_project("mine.yaml",
                     mine("  stages:\n    - {name: intake, default_exit: true}\n    - name: analyze\n  exit: {stage: analyze}\n"))
            .error()
            .code,
        "AF-PIPE-018");
}

TEST(Pipelines, an_exit_or_entry_at_a_stage_that_does_not_allow_it_is_refused) {
    EXPECT_EQ(with_project("mine.yaml", mine("  stages:\n    - {name: intake, exit_point: false}\n")).error().code,
              "AF-PIPE-018");
    EXPECT_EQ(with_project("mine.yaml", mine("  stages:\n    - {name: intake, entry_point: false}\n")).error().code,
              "AF-PIPE-018");
}

TEST(Pipelines, a_stage_that_iterates_must_be_iterable) {
    EXPECT_EQ(with_project("mine.yaml", mine("  stages:\n    - {name: intake, iterable: false, iterate: true}\n")).error().code,
              "AF-PIPE-018");
}

TEST(Pipelines, a_skip_to_a_stage_without_its_prerequisites_is_refused) {
    const auto set = with_project(
        "mine.yaml",
        mine(
            "  accepts_external:\n    specification: {contract: specification, skips_to: green}\n  stages:\n    - name: spec\n    - name: red\n    - name: green\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-020");
    EXPECT_THAT(set.error().message, testing::HasSubstr("stage green builds on a test_suite"));
    EXPECT_THAT(set.error().where, testing::HasSubstr("mine.yaml:6:"));
}

TEST(Pipelines, an_unknown_source_is_refused) {
    EXPECT_EQ(
        with_project(
            "mine.yaml",
            mine(
                "  accepts_external: {specification: {contract: specification, source: anywhere}}\n  stages:\n    - name: analyze\n"))
            .error()
            .code,
        "AF-PIPE-021");
}

TEST(Pipelines, a_continuation_passes_on_artifacts_produced_and_accepted) {
    const auto with = [](const std::string& provides, const std::string& next) {
        return with_project("mine.yaml",
                            mine("  stages:\n    - name: analyze\n    - name: spec\n  continuation: {prompt: p, next_pipeline: " +
                                 next + ", provides: [" + provides + "]}\n"));
    };
    EXPECT_TRUE(with("specification", "implement").ok());
    EXPECT_EQ(with("test_suite", "implement").error().code, "AF-PIPE-021");
    EXPECT_EQ(with("specification", "review").error().code, "AF-PIPE-021");
}

TEST(Pipelines, an_unknown_summary_is_refused) {
    EXPECT_EQ(
        with_project("mine.yaml", mine("  stages:\n    - name: analyze\n  exit: {stage: analyze, summary_template: nothing}\n"))
            .error()
            .code,
        "AF-PIPE-022");
}

TEST(Pipelines, a_stage_may_use_the_words_of_the_specification) {
    const auto set = with_project(
        "mine.yaml", mine("  stages:\n    - {name: look, output_contract: analysis, executor: analyze, skippable_if: never}\n"));
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    EXPECT_EQ(set->get("mine")->stages[0].contract, "analysis");
    EXPECT_EQ(set->get("mine")->stages[0].skip_if, "never");
    EXPECT_EQ(
        with_project("mine.yaml", mine("  stages:\n    - {name: analyze, skippable_if: never, skip_if: never}\n")).error().code,
        "AF-PIPE-001");
}

TEST(Pipelines, the_templates_of_the_specification_load_unchanged) {
    const Folder folder;
    for (const std::string name : {"design", "implement", "test"}) {
        folder.write(name + ".yaml",
                     read_file(std::string(AGENTFORGE_SOURCE_DIR) + "/tests/unit/config/templates/" + name + ".yaml").value());
    }
    const auto set = PipelineSet::load(shipped_config + "/pipelines", folder.path(), orchestration, contracts());
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    EXPECT_EQ(set->get("test")->stages[0].purpose, "Understand codebase context for test design");
    EXPECT_EQ(set->get("design")->continuation.provides, std::vector<std::string>{"specification"});
    EXPECT_EQ(set->get("implement")->accepts_external.at("test_suite").required, std::vector<std::string>{"specification"});
}

// ------------------------------------------------------------------------------------------------- overlays --

TEST(PipelineOverlay, inserts_replaces_and_removes_stages_of_a_shipped_template) {
    const auto set = with_project(
        "implement.yaml",
        "pipeline:\n  name: implement\n  extends: agentforge:implement\n  changes:\n    - insert: {name: threats, executor: prompt, agent: security_architect, contract: analysis, config: {prompt: x}}\n"
        "      after: spec\n    - replace: {name: refactor, max_steps: 5}\n    - remove: clarify\n");
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    const auto implement = set->get("implement");
    std::vector<std::string> names;
    for (const auto& stage : implement->stages) { names.push_back(stage.name); }
    EXPECT_THAT(names, testing::ElementsAre("intake", "analyze", "spec", "threats", "red", "green", "refactor", "deliver"));
    EXPECT_EQ(implement->stages[*implement->index_of("refactor")].max_steps, 5U);
    EXPECT_EQ(implement->stages[*implement->index_of("refactor")].contract, "implementation");
}

TEST(PipelineOverlay, says_where_each_stage_comes_from) {
    const auto set = with_project(
        "implement.yaml",
        "pipeline:\n  name: implement\n  extends: agentforge:implement\n  changes:\n    - replace: {name: refactor}\n");
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    const auto origins = set->origins("implement");
    ASSERT_EQ(origins.size(), 8U);
    EXPECT_THAT(origins[0].where, testing::HasSubstr("config/pipelines/implement.yaml:"));
    EXPECT_EQ(origins[6].change, "replaced");
    EXPECT_THAT(origins[6].where, testing::EndsWith("implement.yaml:5:16"));
    EXPECT_THAT(origins[6].defaults, testing::HasSubstr("config/pipelines/implement.yaml:"));
}

TEST(Pipelines, a_stage_with_the_name_of_another_contract_is_refused_with_its_line) {
    const auto set =
        with_project("mine.yaml", mine("  stages:\n    - {name: specification, executor: intake, contract: intake_record}\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-023");
    EXPECT_THAT(set.error().where, testing::HasSubstr("mine.yaml:6:"));
    EXPECT_TRUE(
        with_project("mine.yaml", mine("  stages:\n    - {name: intake_record, executor: intake, contract: intake_record}\n"))
            .ok());
}

TEST(Pipelines, a_continuation_without_a_following_stage_is_refused_with_its_line) {
    const auto set =
        with_project("mine.yaml", mine("  continuation: {prompt: More, next_pipeline: mine}\n  stages:\n    - name: intake\n"));
    EXPECT_EQ(set.error().code, "AF-PIPE-021");
    EXPECT_THAT(set.error().where, testing::HasSubstr("mine.yaml:5:"));
    EXPECT_TRUE(with_project("mine.yaml",
                             mine("  continuation: {prompt: More, next_pipeline: implement}\n  stages:\n    - name: intake\n"))
                    .ok());
}

TEST(PipelineOverlay, a_removed_stage_has_the_change_as_its_origin) {
    const auto set = with_project("design.yaml",
                                  "pipeline:\n  name: design\n  extends: agentforge:design\n  changes:\n    - remove: analyze\n");
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    const StageOrigin removed = set->origins("design").back();
    EXPECT_EQ(removed.stage + " " + removed.change + " " + removed.contract, "analyze removed analysis");
    EXPECT_THAT(removed.where, testing::HasSubstr("design.yaml:5:"));
}

TEST(PipelineOverlay, an_error_names_the_file_that_caused_it) {
    const auto set = with_project(
        "implement.yaml",
        "pipeline:\n  name: implement\n  extends: agentforge:implement\n  changes:\n    - replace: {name: refactor, skip_if: trivial_chnge}\n");
    EXPECT_EQ(set.error().code, "AF-PIPE-005");
    EXPECT_THAT(set.error().where, testing::HasSubstr("implement.yaml:5:"));
}

TEST(PipelineOverlay, a_change_that_leaves_a_stage_without_a_prerequisite_is_refused) {
    const auto without_exit =
        with_project("design.yaml", "pipeline:\n  name: design\n  extends: agentforge:design\n  changes:\n    - remove: spec\n");
    EXPECT_EQ(without_exit.error().code, "AF-PIPE-006");
    EXPECT_THAT(without_exit.error().where, testing::HasSubstr("design.yaml:5:"));
    const auto without_entry = with_project(
        "implement.yaml", "pipeline:\n  name: implement\n  extends: agentforge:implement\n  changes:\n    - remove: green\n");
    EXPECT_EQ(without_entry.error().code, "AF-PIPE-006");
    EXPECT_THAT(without_entry.error().where, testing::HasSubstr("implement.yaml:5:"));
    const auto early = with_project(
        "implement.yaml",
        "pipeline:\n  name: implement\n  extends: agentforge:implement\n  changes:\n    - insert: {name: look, executor: prompt, contract: analysis, prerequisites: [implementation], config: {prompt: x}}\n      after: spec\n");
    EXPECT_EQ(early.error().code, "AF-PIPE-020");
    EXPECT_THAT(early.error().where, testing::HasSubstr("implement.yaml:5:"));
}

TEST(PipelineOverlay, removing_a_prerequisite_of_a_shipped_stage_is_refused_at_the_change) {
    const auto set = with_project(
        "implement.yaml",
        "pipeline:\n  name: implement\n  extends: agentforge:implement\n  changes:\n    - remove: clarify\n    - remove: spec\n");
    EXPECT_EQ(set.error().code, "AF-PIPE-020");
    EXPECT_THAT(set.error().message, testing::HasSubstr("stage red builds on a specification"));
    EXPECT_THAT(set.error().where, testing::EndsWith("implement.yaml:6:15"));
}

TEST(PipelineOverlay, an_unknown_base_or_stage_or_change_is_refused_with_its_line) {
    const auto with = [](const std::string& rest) {
        return with_project("implement.yaml", "pipeline:\n  name: implement\n" + rest).error();
    };
    EXPECT_EQ(with("  extends: agentforge:implemnt\n  changes: []\n").remedy, "Did you mean `agentforge:implement`?");
    EXPECT_EQ(with("  extends: implement\n  changes: []\n").remedy, "Did you mean `agentforge:implement`?");
    EXPECT_THAT(with("  extends: implement\n  changes: []\n").message, testing::HasSubstr("`agentforge:NAME`"));
    const auto unknown = with("  extends: agentforge:implement\n  changes:\n    - remove: refector\n");
    EXPECT_EQ(unknown.code, "AF-PIPE-017");
    EXPECT_EQ(unknown.remedy, "Did you mean `refactor`?");
    EXPECT_THAT(unknown.where, testing::HasSubstr("implement.yaml:5:"));
    EXPECT_EQ(with("  extends: agentforge:implement\n  changes:\n    - insert: {name: x}\n").code, "AF-PIPE-017");
    EXPECT_EQ(with("  extends: agentforge:implement\n  changes:\n    - {remove: spec, after: red}\n").code, "AF-PIPE-017");
    EXPECT_EQ(with("  extends: agentforge:implement\n  stages: []\n").code, "AF-PIPE-017");
}

}  // namespace agentforge::kernel
