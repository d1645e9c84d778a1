// SPDX-License-Identifier: Apache-2.0
#include "aggregate/statistics.hpp"

#include <gtest/gtest.h>

#include "aggregate/followed_task.hpp"
#include "base/clock.hpp"
#include "task/task_store.hpp"
#include "unit/aggregate/kept_journal.hpp"

namespace agentforge::kernel::testing {
namespace {

class StatisticsOfATask : public ::testing::Test {
protected:
    Result<TaskSample> kept(const char* name) {
        KeptJournal journal(name);
        journal.begin(folder_.path() / name, journal.records());
        AF_TRY(const TaskState state, TaskStore(folder_.path() / name).state(journal.task_id()));
        return sample_of(state);
    }
    TemporaryDirectory folder_{"statistics"};
};

TEST_F(StatisticsOfATask, match_the_journal_of_a_delivered_task) {
    const auto found = kept("delivered_and_rebased");
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    EXPECT_TRUE(found->delivered);
    EXPECT_TRUE(found->ended);
    EXPECT_FALSE(found->escalated);
    EXPECT_EQ(found->pipeline, "implement");
    EXPECT_EQ(found->steps, 27U);
    EXPECT_EQ(found->spend.calls, 27U);
    EXPECT_FALSE(found->commit.empty());
    EXPECT_EQ(found->people_ms, 0U);
}

TEST_F(StatisticsOfATask, count_five_verdicts_on_the_whole_stage_among_31_gates) {
    const auto found = kept("delivered_and_rebased");
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->gates, 5U);
    EXPECT_EQ(found->gates_passed, 4U);
}

TEST_F(StatisticsOfATask, say_that_a_waiting_task_is_not_delivered) {
    const auto found = kept("waiting_for_approval");
    ASSERT_TRUE(found.ok());
    EXPECT_FALSE(found->delivered);
    EXPECT_FALSE(found->ended);
    EXPECT_EQ(found->people_ms, 0U) << "nobody has answered yet";
}

TEST_F(StatisticsOfATask, match_the_whole_journal_while_following_a_task) {
    for (const char* name : {"delivered_and_rebased", "killed_in_green", "waiting_for_action"}) {
        const auto whole = kept(name);
        ASSERT_TRUE(whole.ok()) << whole.error().to_string();
        FollowedTask followed(TaskPaths{folder_.path() / name / "tasks" / whole->task_id}, whole->task_id);
        ASSERT_TRUE(followed.refresh().ok());
        TaskStatistics one;
        TaskStatistics other;
        const auto no_rework = [](const TaskSample&) { return std::optional<Rework>(); };
        one.add(*whole, no_rework);
        other.add(sample_of(followed.state()), no_rework);
        EXPECT_EQ(to_json(one, {}), to_json(other, {})) << name;
        EXPECT_EQ(one.all.tasks.all_steps, followed.state().steps);
    }
}

TEST(Statistics, of_tasks_since_a_time_omit_older_ones) {
    const auto now = *parse_time("2026-11-10T00:00:00.000Z");
    TaskStatistics found;
    EXPECT_TRUE(found.includes("2020-01-01T00:00:00.000Z"));
    found.since = parse_since("30d", now);
    EXPECT_FALSE(found.includes("2026-10-10T00:00:00.000Z"));
    EXPECT_TRUE(found.includes("2026-10-12T00:00:00.000Z"));
    EXPECT_EQ(parse_since("2026-11-10", now), now);
    EXPECT_EQ(parse_since("soon", now), std::nullopt);
}

TEST(Statistics, sum_all_tasks_and_take_the_median_of_delivered_ones) {
    Statistics sums;
    for (const std::uint64_t steps : {10U, 30U, 20U}) {
        TaskSample one;
        one.delivered = one.ended = true;
        one.steps = steps;
        one.gates = 2;
        one.gates_passed = 1;
        one.people_ms = 100;
        sums.add(one);
    }
    TaskSample open;
    open.escalated = true;
    open.steps = 1000;
    sums.add(open);
    EXPECT_EQ(sums.tasks, 4U);
    EXPECT_EQ(sums.delivered, 3U);
    EXPECT_EQ(sums.escalated, 1U);
    EXPECT_EQ(sums.people_ms, 300U);
    EXPECT_EQ(median(sums.steps), 20U);
    EXPECT_EQ(share(sums.gates_passed, sums.gates), 0.5);
}

TEST(Statistics, of_no_tasks_have_no_median_and_no_share) {
    EXPECT_EQ(median({}), std::nullopt);
    EXPECT_EQ(share(0, 0), std::nullopt);
    EXPECT_EQ(median({7, 3}), 3U);
}

}  // namespace
}  // namespace agentforge::kernel::testing
