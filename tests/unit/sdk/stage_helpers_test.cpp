// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <agentforge/json_fields.hpp>
#include <agentforge/stage_helpers.hpp>

#include "unit/sdk/fake_context.hpp"

namespace agentforge {
namespace {

using test::FakeContext;
using testing::ElementsAre;
using testing::SizeIs;

class ModelStage : public LLMStage {
public:
    explicit ModelStage(FakeContext& context) : context_(context) {}
    StageInfo info() const override { return {}; }
    std::string system_prompt(StageContext&) override {
        context_.calls.emplace_back("system_prompt");
        return "You specify.";
    }
    std::string user_message(StageContext&) override {
        context_.calls.emplace_back("user_message");
        return "Write the spec.\nBe brief.\nBe exact.\n";
    }
    std::optional<json::object> parse_response(const AgentOutcome& outcome, StageContext&) override {
        context_.calls.emplace_back("parse_response");
        return extract_json(outcome.text);
    }

private:
    FakeContext& context_;
};

class CompletingStage : public ToolBasedStage {
public:
    StageInfo info() const override { return {}; }
    std::string user_message(StageContext&) override { return "Do it."; }
};

TEST(TestLLMStageExecutor, execute_calls_get_prompts_and_parse) {
    FakeContext context;
    context.outcome.text = R"({"title": "t"})";
    ModelStage stage(context);
    const StageResult result = stage.execute(context);
    EXPECT_THAT(context.calls, ElementsAre("system_prompt", "user_message", "run_agent", "parse_response"));
    EXPECT_EQ(*result.artifact, (json::object{{"title", "t"}}));
}

TEST(TestLLMStageExecutor, run_carries_the_prompts) {
    FakeContext context;
    context.outcome.text = "{}";
    ModelStage stage(context);
    static_cast<void>(stage.execute(context));
    ASSERT_THAT(context.runs, SizeIs(1));
    EXPECT_EQ(context.runs[0].system_prompt, "You specify.");
    EXPECT_EQ(context.runs[0].objective, "Write the spec.");
    EXPECT_EQ(context.runs[0].instructions, "Be brief.\nBe exact.");
    EXPECT_TRUE(context.runs[0].text_answer);
}

TEST(TestLLMStageExecutor, run_carries_request_input_feedback_and_earlier_errors) {
    FakeContext context;
    context.stage_input.request = "add a slug";
    context.stage_input.input_artifact = {{"spec_id", "S"}};
    context.stage_input.feedback = "shorter";
    context.stage_input.previous_errors = {"title is too long"};
    context.outcome.text = "{}";
    ModelStage stage(context);
    static_cast<void>(stage.execute(context));
    ASSERT_THAT(context.runs, SizeIs(1));
    EXPECT_EQ(context.runs[0].state, (json::object{{"request", "add a slug"},
                                                   {"input_artifact", {{"spec_id", "S"}}},
                                                   {"feedback", "shorter"},
                                                   {"previous_errors", json::array{"title is too long"}}}));
}

TEST(TestLLMStageExecutor, answer_without_artifact_fails_the_attempt) {
    FakeContext context;
    context.outcome.text = "I would rather not.";
    ModelStage stage(context);
    const StageResult result = stage.execute(context);
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->code, "AF-STAGE-020");
}

TEST(TestLLMStageExecutor, error_of_the_agent_is_passed_on) {
    FakeContext context;
    context.agent_error = Error{"AF-LLM-001", "overloaded", "", "", ErrorKind::transient};
    ModelStage stage(context);
    const StageResult result = stage.execute(context);
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->kind, ErrorKind::transient);
}

TEST(TestLLMStageExecutor, escalation_of_the_agent_becomes_the_stages) {
    FakeContext context;
    context.outcome.escalation = EscalationRequest{"unclear", "Which?", {}, {}};
    ModelStage stage(context);
    const StageResult result = stage.execute(context);
    EXPECT_EQ(result.status, StageStatus::pending);
    EXPECT_EQ(result.escalation->question, "Which?");
}

TEST(TestLLMStageExecutor, metrics_count_steps_and_tokens) {
    FakeContext context;
    context.outcome.text = "{}";
    context.outcome.steps = 3;
    context.outcome.input_tokens = 1000;
    context.outcome.output_tokens = 50;
    ModelStage stage(context);
    EXPECT_EQ(stage.execute(context).metrics, (json::object{{"steps", 3}, {"input_tokens", 1000}, {"output_tokens", 50}}));
}

TEST(TestToolBasedStageExecutor, artifact_is_the_argument_of_complete) {
    FakeContext context;
    context.outcome.artifact = {{"a", 1}};
    CompletingStage stage;
    EXPECT_EQ(*stage.execute(context).artifact, (json::object{{"a", 1}}));
    EXPECT_FALSE(context.runs.at(0).text_answer);
}

TEST(TestToolBasedStageExecutor, last_successful_complete_call_counts) {
    FakeContext context;
    context.outcome.tool_uses = {
        {"complete", {{"a", 1}}, true, ""}, {"complete", {{"a", 2}}, true, ""}, {"complete", {{"a", 3}}, false, ""}};
    CompletingStage stage;
    EXPECT_EQ(*stage.execute(context).artifact, (json::object{{"a", 2}}));
}

TEST(TestToolBasedStageExecutor, run_without_complete_fails_the_attempt) {
    FakeContext context;
    context.outcome.text = R"({"a": 1})";
    CompletingStage stage;
    EXPECT_EQ(stage.execute(context).status, StageStatus::failed);
}

/// A reader that knows two documents, so the test sees which text it received.
FakeContext yaml_host() {
    FakeContext context;
    context.yaml = [](std::string_view text) -> Result<json::value> {
        if (text == "title: t\n") { return json::value{{"title", "t"}}; }
        if (text == "just words") { return json::value("just words"); }
        return Error{"AF-TEST-003", "not YAML", "", "", ErrorKind::invalid};
    };
    return context;
}

TEST(TestLLMStageExecutor, extract_yaml_from_response_handles_code_block) {
    FakeContext context = yaml_host();
    const auto artifact = extract_yaml("Here it is:\n\n```YAML\ntitle: t\n```\nDone.\n", context);
    ASSERT_TRUE(artifact.has_value());
    EXPECT_EQ(*artifact, (json::object{{"title", "t"}}));
}

TEST(TestLLMStageExecutor, extract_yaml_from_response_handles_raw_yaml) {
    FakeContext context = yaml_host();
    const auto artifact = extract_yaml("title: t\n", context);
    ASSERT_TRUE(artifact.has_value());
    EXPECT_EQ(*artifact, (json::object{{"title", "t"}}));
}

TEST(TestLLMStageExecutor, extract_yaml_skips_blocks_of_other_languages) {
    FakeContext context = yaml_host();
    EXPECT_TRUE(extract_yaml("```python\nprint()\n```\n```yml\ntitle: t\n```", context).has_value());
}

TEST(TestLLMStageExecutor, extract_yaml_takes_only_mappings) {
    FakeContext context = yaml_host();
    EXPECT_FALSE(extract_yaml("just words", context).has_value());
}

struct JsonCase {
    const char* name;
    const char* text;
    const char* expected;
};
class ExtractJson : public testing::TestWithParam<JsonCase> {};

TEST_P(ExtractJson, finds_the_object_or_nothing) {
    const auto object = extract_json(GetParam().text);
    EXPECT_EQ(object ? json::serialize(*object) : "nothing", GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(TestLLMStageExecutor, ExtractJson,
                         testing::Values(JsonCase{"code_block", "x\n```json\n{\"a\":1}\n```\n", R"({"a":1})"},
                                         JsonCase{"raw_object", R"({"a":{"b":2}})", R"({"a":{"b":2}})"},
                                         JsonCase{"object_in_prose", R"(Take {"a":"}"} and go.)", R"({"a":"}"})"},
                                         JsonCase{"braces_in_prose_first", R"(In {braces} I say {"a":1}.)", R"({"a":1})"},
                                         JsonCase{"broken_block_then_object", "```json\n{\"a\":\n```\n{\"b\":2}", R"({"b":2})"},
                                         JsonCase{"array", "[1,2]", "nothing"}, JsonCase{"words", "none here", "nothing"},
                                         JsonCase{"never_closed", "{\"a\":", "nothing"}, JsonCase{"empty", "", "nothing"}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(TestLLMStageExecutor, extract_json_survives_a_megabyte_of_braces) {
    EXPECT_FALSE(extract_json(std::string(1U << 20U, '{')).has_value());
}

TEST(RequireArtifacts, names_each_contract_that_no_earlier_stage_produced) {
    StageInput input;
    input.artifacts["plan"] = json::object{};
    EXPECT_TRUE(require_artifacts(input, {"plan"}).valid());
    EXPECT_THAT(require_artifacts(input, {"plan", "test_suite", "specification"}).errors,
                ElementsAre("no earlier stage has made the artifact `test_suite`",
                            "no earlier stage has made the artifact `specification`"));
}

TEST(JsonFields, read_missing_or_mistyped_values_as_empty) {
    const json::object object{{"text", "a"}, {"list", json::array{"a", 1, json::object{{"b", 2}}}}, {"whole", 7}, {"half", 0.5}};
    EXPECT_EQ(text_of(object, "text") + text_of(object, "list") + text_of(object, "none"), "a");
    EXPECT_THAT(texts_of(object, "list"), ElementsAre("a"));
    EXPECT_THAT(objects_of(object, "list"), ElementsAre(json::object{{"b", 2}}));
    EXPECT_THAT(list_of(object, "text"), SizeIs(0));
    EXPECT_EQ(number_of(object, "whole", 3), 7);
    EXPECT_EQ(number_of(object, "half", 3), 3);
    EXPECT_EQ(number_of(object, "text", 3), 3);
}

TEST(TestContractStageExecutor, input_mapping_transforms_artifact) {
    ContractStage stage({"intake",
                         "spec.intake.v1",
                         {{"raw_request", "user_request"}, {"scope", "detected_scope"}, {"gone", "absent"}},
                         {},
                         {{"depth", 2}}});
    FakeContext context;
    context.stage_input.request = "add a slug";
    context.stage_input.input_artifact = {{"detected_scope", "unclear"}};
    EXPECT_TRUE(stage.execute(context).success());
    EXPECT_EQ(context.contract, "spec.intake.v1");
    EXPECT_EQ(context.contract_inputs, (json::object{{"depth", 2}, {"raw_request", "add a slug"}, {"scope", "unclear"}}));
}

TEST(TestContractStageExecutor, output_mapping_transforms_result) {
    ContractStage stage({"intake", "c", {}, {{"intake_record", ""}, {"level", "priority"}}, {}});
    FakeContext context;
    context.stage_input.input_artifact = {{"kept", true}};
    context.contract_answer = {{"intake_record", "r"}, {"level", "low"}, {"dropped", 1}};
    EXPECT_EQ(*stage.execute(context).artifact, (json::object{{"kept", true}, {"intake_record", "r"}, {"priority", "low"}}));
}

TEST(TestContractStageExecutor, without_output_mapping_all_outputs_are_merged) {
    ContractStage stage({"intake", "c", {}, {}, {}});
    FakeContext context;
    context.stage_input.input_artifact = {{"a", 1}, {"b", 1}};
    context.contract_answer = {{"b", 2}};
    EXPECT_EQ(*stage.execute(context).artifact, (json::object{{"a", 1}, {"b", 2}}));
}

}  // namespace
}  // namespace agentforge
