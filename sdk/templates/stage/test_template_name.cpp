// SPDX-License-Identifier: Apache-2.0
#include "template_name.cpp"

#include <agentforge/testing/fake_host.hpp>
#include <gtest/gtest.h>

namespace example {

using agentforge::testing::FakeStageContext;

TEST(TemplateNameStage, TakesAnAnswerWhoseEvidenceIsThere) {
    FakeStageContext host;
    host.stage_input.request = "Where is the slug made?";
    host.files.put("src/slug.py", "def slug(): ...\n");
    host.agent.then(agentforge::testing::completes_with({{"answer", "in slug.py"}, {"evidence", json::array{"src/slug.py"}}}));
    TemplateNameStage stage;
    const StageResult result = host.run(stage);
    ASSERT_TRUE(result.success()) << result.error->to_string();
    EXPECT_EQ(result.artifact->at("answer"), "in slug.py");
    EXPECT_EQ(host.agent.requests().front().state.at("request"), "Where is the slug made?");
}

TEST(TemplateNameStage, RefusesEvidenceThatIsNotThere) {
    FakeStageContext host;
    host.agent.then(agentforge::testing::completes_with({{"answer", "in slug.py"}, {"evidence", json::array{"src/slug.py"}}}));
    TemplateNameStage stage;
    const StageResult result = host.run(stage);
    ASSERT_TRUE(result.error.has_value());
    EXPECT_NE(result.error->message.find("src/slug.py"), std::string::npos);
}

TEST(TemplateNameStage, RefusesAnAnswerWithoutEvidence) {
    FakeStageContext host;
    host.agent.then(agentforge::testing::completes_with({{"answer", "somewhere"}, {"evidence", json::array{}}}));
    TemplateNameStage stage;
    EXPECT_EQ(host.run(stage).status, StageStatus::failed);
}

TEST(TemplateNameStage, PassesTheAgentsQuestionOn) {
    FakeStageContext host;
    host.agent.then(agentforge::testing::asks_a_person("Which slug?"));
    TemplateNameStage stage;
    EXPECT_EQ(host.run(stage).escalation->question, "Which slug?");
}

TEST(TemplateNameStage, TellsTheAgentWhatThePersonAnswered) {
    FakeStageContext host;
    host.stage_input.resolution = json::object{{"answer", "the slug of titles"}};
    host.stage_input.feedback = "shorter";
    host.files.put("src/slug.py", "def slug(): ...\n");
    host.agent.then(agentforge::testing::completes_with({{"answer", "in slug.py"}, {"evidence", json::array{"src/slug.py"}}}));
    TemplateNameStage stage;
    ASSERT_TRUE(host.run(stage).success());
    const json::object state = host.agent.requests().front().state;
    ASSERT_TRUE(state.contains("resolution") && state.contains("feedback"));
    EXPECT_EQ(state.at("resolution").at("answer"), "the slug of titles");
    EXPECT_EQ(state.at("feedback"), "shorter");
}

TEST(TemplateNameStage, TellsTheNextAttemptWhatWasWrong) {
    FakeStageContext host;
    host.stage_input.previous_errors = {"no such file"};
    host.agent.then_fails({"HOST-001", "the steps are used up", "", "", ErrorKind::unavailable});
    TemplateNameStage stage;
    EXPECT_EQ(host.run(stage).error->code, "HOST-001");
    EXPECT_EQ(host.agent.requests().front().state.at("previous_errors").as_array().size(), 1U);
}

}  // namespace example
