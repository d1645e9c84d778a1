// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <stdexcept>

#include "unit/sdk/fake_context.hpp"

namespace agentforge {
namespace {

using test::FakeContext;
using testing::ElementsAre;
using testing::HasSubstr;

/// A stage that records which of its methods were called and does what the test sets.
class RecordingStage : public Stage {
public:
    std::vector<std::string> calls;
    Result<void> initialized;
    Validation input;
    Validation output;
    StageResult result = StageResult::completed({{"answer", 42}});
    std::function<void(std::string_view)> before = [](std::string_view) {};

    StageInfo info() const override { return {}; }
    Result<void> initialize(StageContext&) override {
        enter("initialize");
        return initialized;
    }
    Validation validate_input(StageContext&) override {
        enter("validate_input");
        return input;
    }
    StageResult execute(StageContext&) override {
        enter("execute");
        return result;
    }
    Validation validate_output(StageContext&, const json::object&) override {
        enter("validate_output");
        return output;
    }
    void finalize(StageContext&, const StageResult&) override { enter("finalize"); }

private:
    void enter(std::string_view method) {
        calls.emplace_back(method);
        before(method);
    }
};

/// A stage with the default validations.
class PlainStage : public Stage {
public:
    StageInfo info() const override {
        StageInfo info;
        info.required_input_fields = {"request_id", "priority"};
        info.output_fields = {"answer"};
        return info;
    }
    StageResult execute(StageContext&) override { return StageResult::completed(artifact); }
    json::object artifact;
};

TEST(TestStageExecutor, execute_calls_lifecycle_methods_in_order) {
    RecordingStage stage;
    FakeContext context;
    const StageResult result = run_stage(stage, context);
    EXPECT_TRUE(result.success());
    EXPECT_THAT(stage.calls, ElementsAre("initialize", "validate_input", "execute", "validate_output", "finalize"));
}

TEST(TestStageExecutor, execute_stops_on_input_validation_failure) {
    RecordingStage stage;
    stage.input.errors = {"no request", "no priority"};
    FakeContext context;
    const StageResult result = run_stage(stage, context);
    ASSERT_EQ(result.status, StageStatus::failed);
    EXPECT_EQ(result.error->code, "AF-STAGE-002");
    EXPECT_EQ(result.error->message, "Input validation failed: no request; no priority");
    EXPECT_THAT(stage.calls, ElementsAre("initialize", "validate_input", "finalize"));
}

TEST(TestStageExecutor, execute_stops_on_output_validation_failure) {
    RecordingStage stage;
    stage.output.errors = {"no answer"};
    FakeContext context;
    const StageResult result = run_stage(stage, context);
    ASSERT_EQ(result.status, StageStatus::failed);
    EXPECT_EQ(result.error->code, "AF-STAGE-003");
    EXPECT_EQ(result.error->message, "Output validation failed: no answer");
}

TEST(TestStageExecutor, refused_artifact_is_kept_for_the_next_attempt) {
    RecordingStage stage;
    stage.output.errors = {"no answer"};
    FakeContext context;
    const StageResult result = run_stage(stage, context);
    ASSERT_TRUE(result.artifact.has_value());
    EXPECT_EQ(*result.artifact, (json::object{{"answer", 42}}));
}

TEST(TestStageExecutor, initialize_failure_stops_execution) {
    RecordingStage stage;
    stage.initialized = Error{"AF-TEST-002", "no disk", "", "", ErrorKind::io};
    FakeContext context;
    const StageResult result = run_stage(stage, context);
    ASSERT_EQ(result.status, StageStatus::failed);
    EXPECT_EQ(result.error->code, "AF-TEST-002");
    EXPECT_THAT(stage.calls, ElementsAre("initialize"));
}

TEST(TestStageExecutor, escalate_returns_pending_status) {
    const StageResult result = StageResult::escalate({"unclear", "Which one?", {"a", "b"}, {}}, json::object{{"half", true}});
    EXPECT_EQ(result.status, StageStatus::pending);
    EXPECT_TRUE(result.escalated());
    EXPECT_EQ(result.escalation->reason, "unclear");
    EXPECT_EQ(*result.artifact, (json::object{{"half", true}}));
}

TEST(TestStageExecutor, escalation_skips_output_validation_and_is_finalized) {
    RecordingStage stage;
    stage.result = StageResult::escalate({"unclear", "Which one?", {}, {}});
    FakeContext context;
    const StageResult result = run_stage(stage, context);
    EXPECT_TRUE(result.escalated());
    EXPECT_THAT(stage.calls, ElementsAre("initialize", "validate_input", "execute", "finalize"));
}

TEST(TestStageExecutor, cycle_is_pending_and_names_the_stage_and_the_reason) {
    RecordingStage stage;
    stage.result = StageResult::cycle("spec", "requirement REQ-002 contradicts REQ-001");
    FakeContext context;
    const StageResult result = run_stage(stage, context);
    EXPECT_EQ(result.status, StageStatus::pending);
    EXPECT_EQ(result.cycle_to, "spec");
    EXPECT_EQ(result.cycle_reason, "requirement REQ-002 contradicts REQ-001");
}

TEST(TestStageExecutor, missing_required_input_fields_are_each_named) {
    PlainStage stage;
    FakeContext context;
    context.stage_input.input_artifact = {{"other", 1}};
    const StageResult result = run_stage(stage, context);
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->message,
              "Input validation failed: Missing required field: request_id; Missing required field: priority");
}

TEST(TestStageExecutor, missing_output_field_is_named) {
    PlainStage stage;
    FakeContext context;
    context.stage_input.input_artifact = {{"request_id", "R"}, {"priority", "low"}};
    const StageResult result = run_stage(stage, context);
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->message, "Output validation failed: Missing output field: answer");
}

TEST(TestStageExecutor, validation_warnings_are_logged) {
    RecordingStage stage;
    stage.input.warnings = {"priority is guessed"};
    FakeContext context;
    EXPECT_TRUE(run_stage(stage, context).success());
    EXPECT_THAT(context.logs, ElementsAre(std::pair(LogLevel::warning, std::string("priority is guessed"))));
}

class StageThatThrows : public testing::TestWithParam<const char*> {};

TEST_P(StageThatThrows, becomes_a_failed_result_that_names_the_method) {
    RecordingStage stage;
    stage.before = [](std::string_view method) {
        if (method == GetParam()) { throw std::runtime_error("boom"); }
    };
    FakeContext context;
    context.stage_input.stage = "spec";
    const StageResult result = run_stage(stage, context);
    ASSERT_EQ(result.status, StageStatus::failed);
    EXPECT_EQ(result.error->code, "AF-STAGE-001");
    EXPECT_EQ(result.error->message, std::string("The stage threw in ") + GetParam() + ": boom");
    EXPECT_EQ(result.error->where, std::string("stage spec, ") + GetParam());
}

TEST_P(StageThatThrows, is_finalized_if_it_was_initialized) {
    RecordingStage stage;
    stage.before = [](std::string_view method) {
        if (method == GetParam()) { throw 7; }
    };
    FakeContext context;
    EXPECT_EQ(run_stage(stage, context).status, StageStatus::failed);
    EXPECT_EQ(stage.calls.back() == "finalize", std::string_view(GetParam()) != "initialize");
}

INSTANTIATE_TEST_SUITE_P(TestStageExecutor, StageThatThrows,
                         testing::Values("initialize", "validate_input", "execute", "validate_output"),
                         [](const auto& method) { return std::string(method.param); });

TEST(TestStageExecutor, non_std_exception_becomes_a_failed_result) {
    RecordingStage stage;
    stage.before = [](std::string_view method) {
        if (method == "execute") { throw 7; }
    };
    FakeContext context;
    const StageResult result = run_stage(stage, context);
    ASSERT_TRUE(result.error.has_value());
    EXPECT_THAT(result.error->message, HasSubstr("not a std::exception"));
}

TEST(TestStageExecutor, exception_in_finalize_leaves_the_result_and_is_logged) {
    RecordingStage stage;
    stage.before = [](std::string_view method) {
        if (method == "finalize") { throw std::runtime_error("boom"); }
    };
    FakeContext context;
    EXPECT_TRUE(run_stage(stage, context).success());
    EXPECT_THAT(context.logs, ElementsAre(std::pair(LogLevel::error, std::string("The stage threw in finalize: boom"))));
}

struct Contradiction {
    const char* name;
    StageResult result;
    const char* code;
};
class StageResultContradictory : public testing::TestWithParam<Contradiction> {};

TEST_P(StageResultContradictory, is_a_distinct_failure) {
    RecordingStage stage;
    stage.result = GetParam().result;
    FakeContext context;
    const StageResult result = run_stage(stage, context);
    ASSERT_EQ(result.status, StageStatus::failed);
    EXPECT_EQ(result.error->code, GetParam().code);
}

StageResult status_only(StageStatus status) {
    StageResult result;
    result.status = status;
    return result;
}

StageResult completed_and_escalated() {
    StageResult result = StageResult::completed({});
    result.escalation = EscalationRequest{};
    return result;
}

INSTANTIATE_TEST_SUITE_P(
    TestStageExecutor, StageResultContradictory,
    testing::Values(Contradiction{"completed_without_artifact", status_only(StageStatus::completed), "AF-STAGE-004"},
                    Contradiction{"pending_for_nothing", status_only(StageStatus::pending), "AF-STAGE-005"},
                    Contradiction{"still_running", status_only(StageStatus::running), "AF-STAGE-005"},
                    Contradiction{"completed_and_escalated", completed_and_escalated(), "AF-STAGE-005"},
                    Contradiction{"failed_without_reason", status_only(StageStatus::failed), "AF-STAGE-006"}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace agentforge
