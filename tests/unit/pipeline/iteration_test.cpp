// SPDX-License-Identifier: Apache-2.0
#include "pipeline/people/iteration.hpp"

#include <gmock/gmock.h>

#include "base/text.hpp"
#include "pipeline/entry/continuation.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

json::object specification(const std::string& third) {
    return parse_json(
               R"({"title": "Add a cache", "requirements": [{"id": "REQ-001", "criteria": ["a"]}, {"id": "REQ-003", "criteria": [")" +
                   third + R"("]}],
                          "files": [{"path": "src/a.py", "note": "n"}], "constraints": ["Standard library only"]})",
               "specification")
        .value()
        .as_object();
}

std::vector<records::FeedbackIssue> must(std::initializer_list<const char*> locations) {
    std::vector<FeedbackIssue> issues;
    for (const char* location : locations) { issues.push_back({location, "issue", "", true}); }
    return recorded(issues);
}

TEST(IterationPosition, is_found_by_field_number_and_name) {
    const json::object artifact = specification("x");
    EXPECT_EQ(*place_in(artifact, "title"), "Add a cache");
    EXPECT_EQ(place_in(artifact, "requirements.REQ-003"), place_in(artifact, "requirements[1]"));
    EXPECT_EQ(place_in(artifact, "REQ-003"), place_in(artifact, "requirements.1"));
    EXPECT_EQ(*place_in(artifact, "requirements.REQ-003.criteria[0]"), "x");
    EXPECT_EQ(place_in(artifact, "files.src/a.py"), place_in(artifact, "files[0]"));
    EXPECT_EQ(place_in(artifact, "requirements.REQ-004"), nullptr);
    EXPECT_EQ(place_in(artifact, "nothing"), nullptr);
}

TEST(FeedbackAnswers, compare_the_position_in_both_versions) {
    const auto answers =
        answers_to(must({"requirements.REQ-001", "requirements.REQ-003", "rate limits"}), specification("x"), specification("y"));
    EXPECT_THAT(unanswered(answers), ElementsAre("requirements.REQ-001: issue"));
    EXPECT_THAT(unmeasured(answers), ElementsAre("rate limits: issue"));
}

TEST(FeedbackAnswers, name_a_position_that_neither_version_has) {
    const auto answers =
        answers_to(must({"requirements.REQ-003", "requirements.REQ-009", ""}), specification("x"), specification("y"));
    EXPECT_THAT(remarks_on_answers(answers),
                ElementsAre("check it yourself, because neither version has `requirements.REQ-009`: issue",
                            "check it yourself, because it names no place in the artifact: issue"));
}

TEST(FeedbackAnswers, count_an_added_or_removed_position_as_changed) {
    json::object without = specification("x");
    without.erase("constraints");
    EXPECT_THAT(unanswered(answers_to(must({"constraints"}), without, specification("x"))), IsEmpty());
    EXPECT_THAT(unanswered(answers_to(must({"constraints"}), specification("x"), without)), IsEmpty());
}

TEST(FeedbackAnswers, report_every_issue_if_nothing_changed) {
    EXPECT_THAT(unanswered(answers_to(must({"rate limits"}), specification("x"), specification("x"))),
                ElementsAre("rate limits: issue"));
}

TEST(FeedbackAnswers, omit_optional_issues) {
    EXPECT_THAT(answers_to(recorded({{"title", "issue", "", false}}), specification("x"), specification("x")), IsEmpty());
}

/// Makes a task of these templates whose stages up to `at` are done.
TaskState done_up_to(const PipelineTemplate& pipeline, std::size_t at) {
    TaskState state;
    state.task_id = "task-1";
    state.pipeline = pipeline;
    for (const StageTemplate& stage : pipeline.stages) {
        StageState entry;
        entry.name = stage.name;
        if (state.stages.size() <= at) { entry.status = StageStatus::completed; }
        state.stages.push_back(std::move(entry));
    }
    state.stage_index = at;
    state.status = TaskStatus::completed;
    return state;
}

PipelineTemplate pipeline_of(const std::string& name, std::initializer_list<std::pair<const char*, const char*>> stages) {
    PipelineTemplate pipeline;
    pipeline.name = name;
    pipeline.goal_type = name;
    for (const auto& [stage, contract] : stages) {
        StageTemplate entry;
        entry.name = entry.executor = stage;
        entry.contract = entry.artifact = contract;
        pipeline.stages.push_back(std::move(entry));
    }
    pipeline.exit_stage = pipeline.stages.back().name;
    return pipeline;
}

/// The context of a stage that is revised for this feedback.
json::object context_for(const Feedback& feedback) {
    TaskState state = done_up_to(pipeline_of("design", {{"spec", "specification"}}), 0);
    state.stages[0].artifact = "artifacts/phases/spec/specification.yaml";
    state.feedback = in_words(feedback);
    state.feedback_issues = recorded(feedback.issues);
    return iteration_context(state).at("feedback").as_object();
}

TEST(FeedbackInContext, is_complete_even_if_it_contains_section_headings) {
    const char* text = "Good start. Must be addressed:\n- speed. Should be considered: size.";
    for (const std::vector<FeedbackIssue>& issues :
         {std::vector<FeedbackIssue>{{"title", "Say more", "", true}}, {{"", "Shorter", "", false}}, {}}) {
        EXPECT_EQ(context_for({text, issues}).at("overall"), text);
    }
    EXPECT_FALSE(context_for({"", {{"title", "Say more", "", true}}}).contains("overall"));
}

TEST(FeedbackInContext, lists_its_issues_once) {
    const json::object context = context_for({"Good start.", {{"title", "Say more", "", true}, {"", "Shorter", "", false}}});
    EXPECT_EQ(context.at("overall"), "Good start.");
    EXPECT_EQ(context.at("must_address"), json::array{"title: Say more"});
    EXPECT_EQ(context.at("should_consider"), json::array{"Shorter"});
}

class ExtensionTest : public ::testing::Test {
protected:
    [[nodiscard]] Result<records::Extension> extend(const TaskState& state, const std::string& to = "") const {
        return extension_of(
            state, [this](std::string_view) -> Result<PipelineTemplate> { return whole; }, to);
    }
    static std::vector<std::string> names(const records::Extension& extension) {
        std::vector<std::string> found;
        const PipelineTemplate read = PipelineTemplate::from_json(extension.pipeline).value();
        for (const StageTemplate& stage : read.stages) { found.push_back(stage.name); }
        return found;
    }
    PipelineTemplate whole =
        pipeline_of("whole", {{"ask", "note"}, {"plan", "plan"}, {"build", "build"}, {"hand_over", "report"}});
    PipelineTemplate part = [] {
        PipelineTemplate pipeline = pipeline_of("part", {{"ask", "note"}, {"plan", "plan"}});
        pipeline.continuation.next_pipeline = "whole";
        return pipeline;
    }();
};

TEST_F(ExtensionTest, continues_after_the_stage_with_the_same_name) {
    const auto extension = extend(done_up_to(part, 1));
    ASSERT_TRUE(extension.ok()) << extension.error().to_string();
    EXPECT_THAT(names(*extension), ElementsAre("ask", "plan", "build", "hand_over"));
    EXPECT_EQ(extension->exit_stage, "hand_over");
}

TEST_F(ExtensionTest, takes_the_stages_after_the_last_produced_contract) {
    part.stages[1].name = "design";
    part.exit_stage = "design";
    const auto extension = extend(done_up_to(part, 1), "build");
    ASSERT_TRUE(extension.ok()) << extension.error().to_string();
    EXPECT_THAT(names(*extension), ElementsAre("ask", "design", "build", "hand_over"));
    EXPECT_EQ(extension->exit_stage, "build");
}

TEST_F(ExtensionTest, keeps_the_inputs_of_the_task_for_later_stages) {
    part.requires_external["plans"].contract = "plan";
    whole.accepts_external["report"].contract = "report";
    TaskState state = done_up_to(part, 1);
    state.external_inputs["plan"].name = "plans";
    const PipelineTemplate longer = PipelineTemplate::from_json(extend(state)->pipeline).value();
    EXPECT_TRUE(longer.requires_external.contains("plans"));
    EXPECT_TRUE(longer.accepts_external.empty());
    const StageNeeds needs = [](const StageTemplate& stage) {
        return stage.name == "build" ? std::vector<std::string>{"plan"} : std::vector<std::string>{"build"};
    };
    EXPECT_FALSE(find_unprovided(longer, needs, rest_of(state, longer, 2, "hand_over")));
    state.external_inputs.clear();
    EXPECT_EQ(find_unprovided(longer, needs, rest_of(state, longer, 2, "hand_over"))->contract, "plan");
}

TEST_F(ExtensionTest, takes_the_stages_after_an_extended_contract) {
    part.stages[1].name = part.stages[1].contract = "outline";
    part.stages[1].also_makes = "plan";
    EXPECT_THAT(names(*extend(done_up_to(part, 1))), ElementsAre("ask", "outline", "build", "hand_over"));
}

TEST_F(ExtensionTest, of_a_task_that_ended_early_continues_its_own_template) {
    TaskState state = done_up_to(whole, 0);
    state.exit_after = "ask";
    EXPECT_EQ(extend(state)->exit_stage, "hand_over");
    EXPECT_EQ(extend(state, "plan")->exit_stage, "plan");
}

TEST_F(ExtensionTest, refuses_a_stage_that_does_not_follow) {
    EXPECT_EQ(extend(done_up_to(part, 1), "plan").error().code, "AF-ORCH-053");
    EXPECT_NE(extend(done_up_to(part, 1), "buld").error().remedy.find("`build`"), std::string::npos);
}

TEST_F(ExtensionTest, refuses_if_nothing_follows) { EXPECT_EQ(extend(done_up_to(whole, 3)).error().code, "AF-ORCH-052"); }

}  // namespace
}  // namespace agentforge::kernel
