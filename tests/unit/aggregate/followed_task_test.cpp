// SPDX-License-Identifier: Apache-2.0
#include "aggregate/followed_task.hpp"

#include <gtest/gtest.h>

#include "aggregate/figures.hpp"
#include "base/clock.hpp"
#include "unit/aggregate/kept_journal.hpp"

namespace agentforge::kernel::testing {
namespace {

class FollowedTaskTest : public ::testing::Test {
protected:
    TemporaryDirectory folder_{"followed"};
    std::chrono::system_clock::time_point now_;
};

TEST_F(FollowedTaskTest, equals_a_full_fold_after_each_record) {
    for (const char* name :
         {"delivered_and_rebased", "killed_in_green", "paused_at_a_limit", "waiting_for_action", "waiting_for_approval"}) {
        KeptJournal journal(name);
        const TaskPaths paths{journal.begin(folder_.path() / name, 0)};
        FollowedTask task(paths, journal.task_id());
        for (std::size_t count = 1; count <= journal.records(); ++count) {
            journal.append(1);
            ASSERT_TRUE(task.refresh().ok()) << name << " " << count;
            if (count % 7 != 0 && count != journal.records()) { continue; }
            const auto records = Journal::read(paths.journal());
            ASSERT_TRUE(records.ok());
            EXPECT_EQ(task.state(), *fold_all(*records)) << name << " " << count;
        }
    }
}

TEST_F(FollowedTaskTest, finds_steps_and_records_by_number) {
    KeptJournal journal("delivered_and_rebased");
    FollowedTask task(TaskPaths{journal.begin(folder_.path(), journal.records())}, journal.task_id());
    ASSERT_TRUE(task.refresh().ok());
    ASSERT_GT(task.step_count(), 10U);
    for (std::uint64_t number = 1; number <= task.step_count(); ++number) {
        const auto steps = task.steps(number, 2);
        ASSERT_TRUE(steps.ok());
        EXPECT_EQ(steps->front().body.at("step"), number);
        EXPECT_EQ(steps->size(), number == task.step_count() ? 1U : 2U);
    }
    EXPECT_EQ(task.steps(task.step_count() + 1, 1).error().code, "AF-DASH-015");
    EXPECT_EQ(task.steps(0, 1).error().code, "AF-DASH-015");
    for (const Sequence after : {Sequence{0}, Sequence{63}, Sequence{64}, Sequence{65}, task.state().seq - 1}) {
        const auto records = task.records(after, 3);
        ASSERT_TRUE(records.ok());
        EXPECT_EQ(records->front().seq, after + 1);
    }
    EXPECT_TRUE(task.records(task.state().seq, 3)->empty());
    const auto gate = task.newest_gate("deliver");
    ASSERT_TRUE(gate.ok() && *gate);
    EXPECT_EQ((*gate)->seq, task.state().gates.at("deliver").seq);
}

TEST_F(FollowedTaskTest, starts_over_if_its_journal_is_replaced) {
    KeptJournal journal("paused_at_a_limit");
    FollowedTask task(TaskPaths{journal.begin(folder_.path(), journal.records())}, journal.task_id());
    ASSERT_TRUE(task.refresh().ok());
    const std::uint64_t steps = task.state().steps;
    std::filesystem::remove(task.paths().journal());
    journal.begin(folder_.path(), 9);
    ASSERT_TRUE(task.refresh().ok());
    EXPECT_EQ(task.state().seq, 9U);
    EXPECT_LT(task.state().steps, steps);
    EXPECT_EQ(task.step_count(), task.state().steps);
}

TEST_F(FollowedTaskTest, refuses_a_journal_whose_end_is_missing_until_it_is_back) {
    KeptJournal journal("paused_at_a_limit");
    const TaskPaths paths{journal.begin(folder_.path(), journal.records() - 2)};
    TaskState state;
    state.task_id = paths.root.filename();
    state.seq = journal.records();
    std::ofstream(paths.state()) << to_json_pretty(to_json(state));
    FollowedTask task(paths, journal.task_id());
    EXPECT_EQ(task.refresh().error().code, "AF-TASK-019");
    journal.append(1);
    EXPECT_EQ(task.refresh().error().code, "AF-TASK-019");
    journal.append(1);
    EXPECT_TRUE(task.refresh().ok());
}

TEST_F(FollowedTaskTest, refuses_the_journal_of_another_task) {
    KeptJournal journal("paused_at_a_limit");
    FollowedTask task(TaskPaths{journal.begin(folder_.path(), 3)}, "task-20260101-another-one-00000000");
    EXPECT_EQ(task.refresh().error().code, "AF-TASK-015");
}

TEST_F(FollowedTaskTest, keeps_bounded_usage_figures) {
    KeptJournal journal("delivered_and_rebased");
    FollowedTask task(TaskPaths{journal.begin(folder_.path(), journal.records())}, journal.task_id());
    ASSERT_TRUE(task.refresh().ok());
    ASSERT_FALSE(task.usage().empty());
    EXPECT_LE(task.usage().size(), 256U);
    EXPECT_EQ(task.usage().back().tokens, task.state().ledger.total().tokens());
}

TEST_F(FollowedTaskTest, knows_the_gate_results_at_each_step) {
    KeptJournal journal("delivered_and_rebased");
    FollowedTask task(TaskPaths{journal.begin(folder_.path(), journal.records())}, journal.task_id());
    ASSERT_TRUE(task.refresh().ok());
    EXPECT_EQ(task.checks_after(1)->tests, 21U);
    EXPECT_FALSE(task.checks_after(1)->conformance.has_value());
    EXPECT_EQ(task.checks_after(task.step_count())->tests, task.activity().tests);
    EXPECT_EQ(task.checks_after(task.step_count())->conformance, task.activity().conformance);
}

TEST_F(FollowedTaskTest, figures_match_the_state_under_the_names_of_the_specification) {
    KeptJournal journal("waiting_for_approval");
    FollowedTask task(TaskPaths{journal.begin(folder_.path(), journal.records())}, journal.task_id());
    ASSERT_TRUE(task.refresh().ok());
    const json::object object = to_json(figures_of(task, "textkit"), now_);
    EXPECT_EQ(object.at("task_id"), json::value(task.state().task_id));
    EXPECT_EQ(object.at("repo"), "textkit");
    EXPECT_EQ(object.at("status").at("state"), "awaiting_approval");
    EXPECT_EQ(object.at("status").at("phase"), "spec");
    EXPECT_EQ(object.at("status").at("waiting_id"), json::value(task.state().approval->id));
    EXPECT_EQ(object.at("current_stage").at("awaiting"), "user_decision");
    EXPECT_EQ(object.at("steps").at("total"), task.state().steps);
    EXPECT_EQ(object.at("cost").at("tokens_used"), task.state().ledger.total().tokens());
    EXPECT_EQ(object.at("available_actions"), (json::array{"approve", "revise", "exit", "reject", "abort"}));
    const double progress = object.at("status").at("overall_progress").as_double();
    EXPECT_GT(progress, 0.3);
    EXPECT_LT(progress, 0.6);
}

TEST_F(FollowedTaskTest, figures_count_the_time_of_an_open_task_until_now) {
    KeptJournal journal("waiting_for_approval");
    FollowedTask task(TaskPaths{journal.begin(folder_.path(), journal.records())}, journal.task_id());
    ASSERT_TRUE(task.refresh().ok());
    const auto later = *parse_time(task.state().created_at) + std::chrono::hours(30);
    EXPECT_EQ(to_json(figures_of(task, "textkit"), later).at("timing").at("elapsed_seconds"), 30 * 3600);
    EXPECT_EQ(to_json(with_process(figures_of(task, "textkit"), task.paths()), later).at("timing").at("elapsed_seconds"),
              30 * 3600);
}

TEST_F(FollowedTaskTest, figures_count_the_time_of_an_ended_task_until_its_end) {
    KeptJournal journal("delivered_and_rebased");
    FollowedTask task(TaskPaths{journal.begin(folder_.path(), journal.records())}, journal.task_id());
    ASSERT_TRUE(task.refresh().ok());
    const auto took = *parse_time(task.state().completed_at) - *parse_time(task.state().created_at);
    const auto later = *parse_time(task.state().created_at) + std::chrono::hours(30);
    EXPECT_EQ(to_json(figures_of(task, "textkit"), later).at("timing").at("elapsed_seconds"),
              std::chrono::duration_cast<std::chrono::seconds>(took).count());
}

TEST_F(FollowedTaskTest, figures_of_a_rejected_artifact_have_its_rounds_and_decisions) {
    KeptJournal journal("waiting_for_approval");
    FollowedTask task(TaskPaths{journal.begin(folder_.path(), journal.records())}, journal.task_id());
    ASSERT_TRUE(task.refresh().ok());
    json::object object = to_json(figures_of(task, "textkit"), now_);
    EXPECT_EQ(object.at("goal_type"), "implement");
    EXPECT_EQ(object.at("current_stage").at("artifact"), "specification");
    EXPECT_EQ(object.at("current_stage").at("version"), 1);
    EXPECT_EQ(object.at("iteration_summary").at("current"), 1);
    EXPECT_TRUE(object.at("iteration_summary").at("decisions").as_array().empty());
    records::ApprovalDecided decided{};
    decided.approval_id = task.state().approval->id;
    decided.artifact_hash = task.state().approval->artifact_hash;
    decided.stage = "spec";
    decided.decision = "revise";
    decided.feedback = "Name the separator";
    decided.decided_by = "user";
    journal.add(decided, task.state().steps);
    ASSERT_TRUE(task.refresh().ok());
    object = to_json(figures_of(task, "textkit"), now_);
    EXPECT_EQ(object.at("current_stage").at("status"), "iterating");
    EXPECT_EQ(object.at("current_stage").at("iteration"), 2);
    EXPECT_TRUE(object.at("current_stage").at("version").is_null());
    EXPECT_EQ(object.at("iteration_summary"), (json::object{{"stage", "spec"},
                                                            {"current", 2},
                                                            {"max", 5},
                                                            {"decisions", json::array{{{"iteration", 1},
                                                                                       {"decision", "revise"},
                                                                                       {"at", "2026-11-24T10:00:00.000Z"},
                                                                                       {"by", "user"},
                                                                                       {"feedback", "Name the separator"}}}}}));
}

TEST_F(FollowedTaskTest, figures_end_with_the_stage_at_which_a_person_ended_the_task) {
    KeptJournal journal("waiting_for_approval");
    FollowedTask task(TaskPaths{journal.begin(folder_.path(), journal.records())}, journal.task_id());
    ASSERT_TRUE(task.refresh().ok());
    ASSERT_EQ(to_json(figures_of(task, "textkit"), now_).at("pipeline").at("exit_stage"), "deliver");
    records::ApprovalDecided decided{};
    decided.approval_id = task.state().approval->id;
    decided.approved = true;
    decided.artifact_hash = task.state().approval->artifact_hash;
    decided.stage = "spec";
    decided.decision = "exit";
    decided.decided_by = "user";
    journal.add(decided, task.state().steps);
    ASSERT_TRUE(task.refresh().ok());
    const json::object object = to_json(figures_of(task, "textkit"), now_).at("pipeline").as_object();
    EXPECT_EQ(object.at("exit_stage"), "spec");
    EXPECT_EQ(object.at("stages").as_array().back().at("name"), "spec");
}

TEST_F(FollowedTaskTest, figures_count_the_conformance_checks_of_the_newest_gate_that_ran_them) {
    KeptJournal journal("killed_in_green");
    FollowedTask task(TaskPaths{journal.begin(folder_.path(), journal.records())}, journal.task_id());
    ASSERT_TRUE(task.refresh().ok());
    json::object health = to_json(figures_of(task, "textkit"), now_).at("health").as_object();
    EXPECT_EQ(health.at("conformance"), true);
    EXPECT_TRUE(health.at("conformance_total").is_null()) << "the record is of an older version";
    records::Gate gate{};
    gate.gate = "conformance";
    gate.tree = task.state().tree;
    gate.summary = "2 new violations";
    gate.stage = "green";
    gate.partial = true;
    gate.conformance = false;
    gate.checks = 12;
    gate.checks_passed = 10;
    journal.add(gate, task.state().steps);
    ASSERT_TRUE(task.refresh().ok());
    health = to_json(figures_of(task, "textkit"), now_).at("health").as_object();
    EXPECT_EQ(health.at("conformance"), false);
    EXPECT_EQ(health.at("conformance_passing"), 10);
    EXPECT_EQ(health.at("conformance_total"), 12);
    EXPECT_EQ(task.checks_after(task.step_count())->checks_passed, 10U);
}

TEST_F(FollowedTaskTest, knows_the_subject_of_its_newest_step) {
    KeptJournal journal("killed_in_green");
    FollowedTask task(TaskPaths{journal.begin(folder_.path(), journal.records())}, journal.task_id());
    ASSERT_TRUE(task.refresh().ok());
    EXPECT_EQ(to_json(figures_of(task, "textkit"), now_).at("current_action").at("target"), "textkit/slug_words.py");
    auto step = records::as<records::Step>(task.steps(task.step_count(), 1)->front());
    ASSERT_TRUE(step);
    step->changes.reset();
    records::ActionTaken reads = *step->action;
    reads.target = "textkit/slug.py";
    step->action = reads;
    journal.add(*step, task.step_count() + 1);
    ASSERT_TRUE(task.refresh().ok());
    EXPECT_EQ(to_json(figures_of(task, "textkit"), now_).at("current_action").at("target"), "textkit/slug.py");
}

TEST_F(FollowedTaskTest, figures_of_a_delivered_task_name_its_commit_and_all_its_stages) {
    KeptJournal journal("delivered_and_rebased");
    FollowedTask task(TaskPaths{journal.begin(folder_.path(), journal.records())}, journal.task_id());
    ASSERT_TRUE(task.refresh().ok());
    const json::object object = to_json(figures_of(task, "textkit"), now_);
    EXPECT_EQ(object.at("status").at("state"), "completed");
    EXPECT_EQ(object.at("status").at("overall_progress"), 1.0);
    EXPECT_EQ(object.at("delivery").at("commit"), json::value(task.state().commit));
    EXPECT_EQ(object.at("available_actions"), json::array());
    EXPECT_TRUE(object.at("timing").at("estimated_remaining_seconds").is_null());
    EXPECT_GT(object.at("health").at("tests_total").to_number<int>(), 0);
}

}  // namespace
}  // namespace agentforge::kernel::testing
