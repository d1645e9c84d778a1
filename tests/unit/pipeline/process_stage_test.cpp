// SPDX-License-Identifier: Apache-2.0
// Stages that are processes: their requests to the host, and the errors for those that break the protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "pipeline/process_stage.hpp"
#include "unit/sdk/fake_context.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProcessStages : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = "/tmp/agentforge-stage-XXXXXX";
        folder_ = std::filesystem::canonical(mkdtemp(name.data()));
        place_.exec_helper = AGENTFORGE_EXEC;
        place_.workspace = folder_;
        place_.scratch = folder_;
        place_.environment = {{"PATH", "/usr/bin:/bin"}};
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    Result<std::shared_ptr<Stage>> start(const std::string& fault) {
        PluginManifest manifest;
        manifest.id = "org.example.fake";
        manifest.directory = AGENTFORGE_SOURCE_DIR "/tests/unit/servers";
        manifest.command = {"/usr/bin/python3", "-B", manifest.directory + "/fake_stage.py", fault};
        return start_process_stage(manifest, "fake", {}, place_,
                                   [this](LogLevel, const std::string& message) { log_ += message + "\n"; }, {});
    }
    StageResult run(const std::string& fault) {
        const auto stage = start(fault);
        if (!stage.ok()) {
            ADD_FAILURE() << stage.error().to_string();
            return {};
        }
        return (*stage)->execute(context_);
    }
    static std::string problem(const StageResult& result) {
        return result.error ? result.error->code + " " + result.error->message : "none";
    }

    std::string folder_;
    ServerPlace place_;
    std::string log_;
    test::FakeContext context_;
};

TEST_F(ProcessStages, are_asked_for_their_info) {
    const auto stage = start("done");
    ASSERT_TRUE(stage.ok()) << stage.error().to_string();
    EXPECT_EQ((*stage)->info().name, "fake");
    EXPECT_THAT((*stage)->info().output_fields, ::testing::ElementsAre("answer"));
}

TEST_F(ProcessStages, return_their_artifact_as_the_result) { EXPECT_EQ(run("done").artifact->at("answer"), 42); }
TEST_F(ProcessStages, keep_their_metrics) { EXPECT_EQ(run("measures").metrics.at("lines"), 3); }
TEST_F(ProcessStages, report_their_failure_as_a_failure) {
    EXPECT_THAT(problem(run("fails")), AllOf(HasSubstr("AF-MCP-025"), HasSubstr("no luck today")));
}
TEST_F(ProcessStages, an_error_instead_of_an_answer_is_a_failure) {
    EXPECT_THAT(problem(run("raises")), AllOf(HasSubstr("AF-MCP-025"), HasSubstr("failed: it broke"), Not(HasSubstr("refused"))));
}

TEST_F(ProcessStages, may_ask_a_person) {
    const auto result = run("escalates");
    ASSERT_TRUE(result.escalated());
    EXPECT_EQ(result.escalation->question, "q?");
}

TEST_F(ProcessStages, may_send_the_task_back) { EXPECT_EQ(run("cycles").cycle_to, "spec"); }
TEST_F(ProcessStages, an_escalation_without_a_question_is_named) {
    EXPECT_THAT(problem(run("escalates-badly")), AllOf(HasSubstr("AF-MCP-023"), HasSubstr("`question` is missing")));
}
TEST_F(ProcessStages, an_answer_without_a_verdict_is_named) {
    EXPECT_THAT(problem(run("nothing")), AllOf(HasSubstr("AF-MCP-023"), HasSubstr("none of")));
}
TEST_F(ProcessStages, an_answer_that_is_no_object_is_named) { EXPECT_THAT(problem(run("a-list")), HasSubstr("not an object")); }
TEST_F(ProcessStages, an_unknown_field_of_the_answer_is_named) {
    EXPECT_THAT(problem(run("unknown-field")), HasSubstr("`extra`"));
}
TEST_F(ProcessStages, a_refused_info_is_named) { EXPECT_EQ(start("no-info").error().code, "AF-MCP-013"); }
TEST_F(ProcessStages, an_info_of_a_wrong_type_is_named) {
    EXPECT_THAT(start("odd-info").error().message, HasSubstr("`output_fields` must be a list"));
}
TEST_F(ProcessStages, a_process_that_dies_is_named) {
    EXPECT_THAT(problem(run("dies")), AllOf(HasSubstr("AF-MCP-011"), HasSubstr("out of luck")));
}

TEST_F(ProcessStages, call_the_model_through_the_host) {
    context_.outcome.text = "forty-two";
    EXPECT_EQ(run("asks").artifact->at("text"), "forty-two");
    ASSERT_EQ(context_.runs.size(), 1U);
    EXPECT_TRUE(context_.runs[0].text_answer);
}

TEST_F(ProcessStages, an_unknown_service_is_refused) { EXPECT_EQ(run("asks-the-unknown").artifact->at("code"), -32601); }

TEST_F(ProcessStages, an_unknown_parameter_is_refused_with_the_nearest) {
    const auto result = run("asks-wrongly");
    EXPECT_THAT(json::serialize(*result.artifact),
                AllOf(HasSubstr("AF-MCP-024"), HasSubstr("`objektive`"), HasSubstr("Did you mean `objective`")));
}

TEST_F(ProcessStages, log_through_the_host) {
    EXPECT_TRUE(run("logs").success());
    ASSERT_EQ(context_.logs.size(), 1U);
    EXPECT_EQ(context_.logs[0].second, "look out");
}

TEST_F(ProcessStages, a_parameter_of_a_wrong_type_is_refused) {
    const auto answer = serve_stage(context_, "host/run_contract", {{"contract", 7}});
    ASSERT_TRUE(answer && !answer->ok());
    EXPECT_THAT(answer->error().message, HasSubstr("must be a string"));
}

}  // namespace
}  // namespace agentforge::kernel
