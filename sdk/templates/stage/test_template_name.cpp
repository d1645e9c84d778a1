// SPDX-License-Identifier: Apache-2.0
#include "template_name.cpp"

#include <agentforge/testing/fake_host.hpp>
#include <gtest/gtest.h>

namespace example {

using agentforge::testing::FakeStageContext;

TEST(TemplateNameStage, takes_an_answer_whose_evidence_is_there) {
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

TEST(TemplateNameStage, refuses_evidence_that_is_not_there) {
    FakeStageContext host;
    host.agent.then(agentforge::testing::completes_with({{"answer", "in slug.py"}, {"evidence", json::array{"src/slug.py"}}}));
    TemplateNameStage stage;
    const StageResult result = host.run(stage);
    ASSERT_TRUE(result.error.has_value());
    EXPECT_NE(result.error->message.find("src/slug.py"), std::string::npos);
}

TEST(TemplateNameStage, refuses_an_answer_without_evidence) {
    FakeStageContext host;
    host.agent.then(agentforge::testing::completes_with({{"answer", "somewhere"}, {"evidence", json::array{}}}));
    TemplateNameStage stage;
    EXPECT_EQ(host.run(stage).status, StageStatus::failed);
}

TEST(TemplateNameStage, passes_the_agents_question_on) {
    FakeStageContext host;
    host.agent.then(agentforge::testing::asks_a_person("Which slug?"));
    TemplateNameStage stage;
    EXPECT_EQ(host.run(stage).escalation->question, "Which slug?");
}

TEST(TemplateNameStage, tells_the_agent_what_the_person_answered) {
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

TEST(TemplateNameStage, tells_the_next_attempt_what_was_wrong) {
    FakeStageContext host;
    host.stage_input.previous_errors = {"no such file"};
    host.agent.then_fails({"HOST-001", "the steps are used up", "", "", ErrorKind::unavailable});
    TemplateNameStage stage;
    EXPECT_EQ(host.run(stage).error->code, "HOST-001");
    EXPECT_EQ(host.agent.requests().front().state.at("previous_errors").as_array().size(), 1U);
}

}  // namespace example
