// SPDX-License-Identifier: Apache-2.0
// The settings `orchestration.…` over the shipped pipelines.
#include "config/orchestration.hpp"

#include <gmock/gmock.h>

#include "unit/config/fixtures.hpp"

namespace agentforge::kernel::testing {
namespace {

using Flags = std::vector<std::pair<std::string, std::string>>;

Settings settings(Flags flags) {
    Settings::Sources sources;
    sources.flags = std::move(flags);
    return Settings::load(shipped_config, sources).value();
}

PipelineTemplate shipped(std::string_view name) {
    return PipelineSet::load(shipped_config + "/pipelines", "", shipped_config + "/orchestration/pipeline.yaml", contracts())
        .value()
        .get(name)
        .value();
}

const StageTemplate& stage(const PipelineTemplate& pipeline, std::string_view name) {
    return pipeline.stages.at(pipeline.index_of(name).value());
}

PipelineTemplate loop_with(Flags flags) { return with_orchestration(shipped("loop"), settings(std::move(flags))).value(); }

unsigned share_of(const PipelineTemplate& pipeline, std::string_view part) {
    unsigned sum = 0;
    for (const StageTemplate& each : pipeline.stages) { sum += each.part == part ? each.budget_share : 0; }
    return sum;
}

}  // namespace

TEST(Loop, is_plan_execute_verify_review_with_tests_before_the_code) {
    std::vector<std::string> names;
    for (const StageTemplate& each : shipped("loop").stages) { names.push_back(each.name); }
    EXPECT_THAT(names, ::testing::ElementsAre("plan", "tests", "execute", "verify", "review", "deliver"));
}

TEST(Loop, a_plan_is_a_specification) {
    EXPECT_EQ(stage(shipped("loop"), "plan").also_makes, "specification");
    EXPECT_TRUE(contracts().get("plan").value().schema().at("properties").as_object().contains("requirements"));
}

TEST(Loop, verification_is_measured_by_the_gates_of_the_eight_stages) {
    const PipelineTemplate loop = shipped("loop");
    EXPECT_EQ(exit_gate(stage(loop, "tests")), "red");
    EXPECT_TRUE(writes_tests(stage(loop, "tests")));
    EXPECT_EQ(exit_gate(stage(loop, "verify")), "green");
    EXPECT_EQ(stage(loop, "verify").agent, "");
    EXPECT_EQ(closing_gate(stage(loop, "deliver")), "deliver");
}

TEST(Loop, budgets_are_40_30_15_15) {
    for (const char* name : {"loop", "implement"}) {
        const PipelineTemplate pipeline = shipped(name);
        EXPECT_EQ(share_of(pipeline, "planner"), 40U) << name;
        EXPECT_EQ(share_of(pipeline, "executor"), 30U) << name;
        EXPECT_EQ(share_of(pipeline, "verifier"), 15U) << name;
        EXPECT_EQ(share_of(pipeline, "reviewer"), 15U) << name;
    }
}

TEST(Loop, limits_are_3_and_2) {
    for (const StageTemplate& each : shipped("loop").stages) {
        EXPECT_EQ(each.max_cycles, 3U) << each.name;
        EXPECT_EQ(each.max_retries, 2U) << each.name;
    }
    EXPECT_EQ(stage(shipped("loop"), "execute").config.at("step_retry_limit").to_number<int>(), 3);
}

TEST(Orchestration, without_settings_the_template_is_unchanged) { EXPECT_EQ(loop_with({}), shipped("loop")); }

TEST(Orchestration, limits_are_configurable) {
    const PipelineTemplate loop = loop_with(
        {{"orchestration.cycle_limit", "5"}, {"orchestration.stage_retry_limit", "1"}, {"orchestration.step_retry_limit", "7"}});
    EXPECT_EQ(stage(loop, "plan").max_cycles, 5U);
    EXPECT_EQ(stage(loop, "review").max_retries, 1U);
    EXPECT_EQ(stage(loop, "execute").config.at("step_retry_limit").to_number<int>(), 7);
}

TEST(Orchestration, a_part_may_have_its_own_limits) {
    const PipelineTemplate loop = loop_with({{"orchestration.cycle_limit", "5"},
                                             {"orchestration.stages.executor.cycle_limit", "2"},
                                             {"orchestration.stages.planner.retry_limit", "4"}});
    EXPECT_EQ(stage(loop, "execute").max_cycles, 2U);
    EXPECT_EQ(stage(loop, "plan").max_cycles, 5U);
    EXPECT_EQ(stage(loop, "plan").max_retries, 4U);
    EXPECT_EQ(stage(loop, "execute").max_retries, 2U);
}

TEST(Orchestration, more_than_ten_is_refused) {
    Settings::Sources sources;
    sources.flags = {{"orchestration.cycle_limit", "11"}};
    EXPECT_EQ(Settings::load(shipped_config, sources).error().code, "AF-CONF-021");
}

TEST(Orchestration, timeouts_are_configurable_per_part) {
    const PipelineTemplate loop = loop_with({{"orchestration.planner_timeout", "120"},
                                             {"orchestration.executor_timeout", "300"},
                                             {"orchestration.stages.executor.timeout", "900"}});
    EXPECT_EQ(stage(loop, "plan").timeout, std::chrono::seconds(120));
    EXPECT_EQ(stage(loop, "execute").timeout, std::chrono::seconds(900));
    EXPECT_EQ(stage(loop, "review").timeout, std::chrono::seconds(300)) << "FR-064";
}

TEST(Orchestration, settings_apply_to_the_parts_of_other_pipelines) {
    const auto implement =
        with_orchestration(shipped("implement"), settings({{"orchestration.executor_timeout", "900"}})).value();
    EXPECT_EQ(stage(implement, "green").timeout, std::chrono::seconds(900));
    EXPECT_EQ(stage(implement, "red").timeout, std::chrono::seconds(300));
}

TEST(Orchestration, shares_are_divided_among_the_stages_of_a_part) {
    const auto implement = with_orchestration(shipped("implement"), settings({{"orchestration.token_budget.planner", "50"},
                                                                              {"orchestration.token_budget.executor", "20"}}))
                               .value();
    EXPECT_EQ(share_of(implement, "planner"), 50U);
    EXPECT_EQ(share_of(implement, "executor"), 20U);
    EXPECT_GT(stage(implement, "spec").budget_share, stage(implement, "intake").budget_share);
}

TEST(Orchestration, shares_of_more_than_100_are_refused) {
    const auto refused = with_orchestration(shipped("loop"), settings({{"orchestration.token_budget.planner", "90"}}));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "AF-PIPE-030");
}

TEST(Orchestration, concurrent_steps_are_refused) {
    const auto refused =
        with_orchestration(shipped("loop"), settings({{"orchestration.stages.executor.parallel_steps", "true"}}));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "AF-PIPE-031");
}

TEST(Orchestration, context_strategy_and_approval_are_configurable) {
    const PipelineTemplate loop = loop_with({{"orchestration.stages.planner.context_strategy", "summary"},
                                             {"orchestration.stages.reviewer.require_human_approval", "true"},
                                             {"orchestration.stages.verifier.auto_retry_on_failure", "false"}});
    EXPECT_EQ(stage(loop, "plan").context_strategy, "summary");
    EXPECT_TRUE(stage(loop, "review").approve);
    EXPECT_FALSE(stage(loop, "verify").config.at("auto_retry_on_failure").as_bool());
}

}  // namespace agentforge::kernel::testing
