// SPDX-License-Identifier: Apache-2.0
// Stages that are data.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "unit/plugins/plugin_folder.hpp"
#include "unit/sdk/fake_context.hpp"

namespace agentforge::kernel {
namespace {

using agentforge::test::FakeContext;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class StageDefinition : public testing::Test {
protected:
    void write(const std::string& folder, const std::string& name, const std::string& text) {
        std::filesystem::create_directories(files.path() + "/" + folder);
        std::ofstream(files.path() + "/" + folder + "/" + name + ".yaml") << text;
    }
    PluginRegistry discover() {
        PluginSearch search;
        search.product = SHIPPED_PLUGINS;
        search.stages = {files.path() + "/ours", files.path() + "/theirs"};
        return PluginRegistry::discover(search);
    }
    test::PluginFolder files;
    FakeContext context;
};

TEST_F(StageDefinition, becomes_a_stage_with_its_prompt) {
    write("ours", "weigh", "stage:\n  name: weigh\n  description: Weighs things.\n  prompt: |\n    Weigh it.\n    With care.\n");
    PluginRegistry registry = discover();
    EXPECT_THAT(registry.problems(), IsEmpty());
    EXPECT_TRUE(registry.has(PluginKind::stage, "weigh"));
    EXPECT_EQ(registry.owner(PluginKind::stage, "weigh")->id, "agentforge.stage.prompt");
    const auto stage = registry.stage("weigh");
    ASSERT_TRUE(stage.ok()) << stage.error().to_string();
    context.outcome.artifact = {{"weight", 3}};
    EXPECT_EQ(*run_stage(**stage, context).artifact, (json::object{{"weight", 3}}));
    EXPECT_EQ(context.runs.front().objective, "Weigh it.");
    EXPECT_EQ(context.runs.front().instructions, "With care.");
}

TEST_F(StageDefinition, shows_artifacts_and_fields_by_contract_once) {
    write("ours", "weigh", "stage: {name: weigh, prompt: Weigh it, shows: [apple, pear.colour, plum]}\n");
    const auto stage = discover().stage("weigh");
    ASSERT_TRUE(stage.ok()) << stage.error().to_string();
    context.outcome.artifact = {{"weight", 3}};
    context.stage_input.input_artifact = {{"size", 1}};
    context.stage_input.artifacts = {{"apple", {{"size", 1}}}, {"pear", {{"colour", "green"}}}};
    EXPECT_TRUE(run_stage(**stage, context).success());
    const json::object& state = context.runs.front().state;
    EXPECT_EQ(state.at("apple"), json::value({{"size", 1}}));
    EXPECT_EQ(state.at("colour"), "green");
    EXPECT_FALSE(state.contains("plum"));
    EXPECT_FALSE(state.contains("input_artifact"));
}

TEST_F(StageDefinition, requires_its_inputs_to_start_and_its_fields_to_end) {
    write("ours", "weigh", "stage: {name: weigh, prompt: Weigh it, needs: [apple], fields: [weight]}\n");
    const auto stage = discover().stage("weigh");
    ASSERT_TRUE(stage.ok()) << stage.error().to_string();
    StageResult result = run_stage(**stage, context);
    EXPECT_EQ(result.error->code, "AF-STAGE-002");
    EXPECT_THAT(result.error->message, HasSubstr("no earlier stage has made the artifact `apple`"));
    context.stage_input.artifacts = {{"apple", {{"size", 1}}}};
    context.outcome.artifact = {{"size", 3}};
    EXPECT_EQ(run_stage(**stage, context).error->code, "AF-STAGE-003");
}

TEST_F(StageDefinition, of_the_project_overrides_built_in_and_pipeline_settings_override_both) {
    write("ours", "weigh", "stage: {name: weigh, prompt: Ours}\n");
    write("theirs", "weigh", "stage: {name: weigh, prompt: Theirs}\n");
    PluginRegistry registry = discover();
    context.outcome.artifact = {{"weight", 3}};
    EXPECT_TRUE(run_stage(**registry.stage("weigh"), context).success());
    EXPECT_TRUE(run_stage(**registry.stage("weigh", {{"prompt", "The template's"}}), context).success());
    EXPECT_EQ(context.runs[0].objective, "Theirs");
    EXPECT_EQ(context.runs[1].objective, "The template's");
}

TEST_F(StageDefinition, invalid_is_named_with_its_position_and_hides_no_other) {
    write("ours", "weigh", "stage: {name: weigh, prompt: Weigh it}\n");
    write("ours", "other", "stage:\n  name: other\n  promt: Weigh it\n");
    write("ours", "third", "stage: {name: fourth, prompt: Weigh it}\n");
    PluginRegistry registry = discover();
    EXPECT_TRUE(registry.has(PluginKind::stage, "weigh"));
    EXPECT_FALSE(registry.has(PluginKind::stage, "other"));
    ASSERT_THAT(registry.problems(), SizeIs(2));
    for (const Error& problem : registry.problems()) { EXPECT_EQ(problem.code, "AF-PLUG-052"); }
    EXPECT_THAT(registry.problems()[0].where, HasSubstr("third.yaml:1"));
    EXPECT_THAT(registry.problems()[1].where, HasSubstr("other.yaml:3"));
}

}  // namespace
}  // namespace agentforge::kernel
