// SPDX-License-Identifier: Apache-2.0
#include "aggregate/task_overviews.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>
#include <functional>

#include "aggregate/aggregator.hpp"
#include "aggregate/set_figures.hpp"
#include "aggregate/set_watch.hpp"
#include "base/text.hpp"
#include "escalation/escalation_store.hpp"
#include "unit/aggregate/kept_journal.hpp"

namespace agentforge::kernel::testing {
namespace {

namespace fs = std::filesystem;

class Overviews : public ::testing::Test {
protected:
    TemporaryDirectory folder_{"overviews"};
    KeptJournal waiting_{"waiting_for_approval"};
    KeptJournal ended_{"delivered_and_rebased"};
    fs::path agentforge_ = folder_.path() / ".agentforge";
};

TEST_F(Overviews, read_an_open_task_from_its_journal_and_follow_it) {
    waiting_.begin(agentforge_, waiting_.records() - 1);
    TaskOverviews overviews(agentforge_);
    auto before = overviews.list();
    ASSERT_TRUE(before.ok()) << before.error().to_string();
    EXPECT_EQ(before->counts.waiting, 0U);
    EXPECT_EQ(state_name(before->tasks.at(0)), "interrupted");
    waiting_.append(1);
    auto after = overviews.list();
    ASSERT_TRUE(after.ok()) << after.error().to_string();
    EXPECT_EQ(after->counts.waiting, 1U);
    EXPECT_EQ(after->counts.of("awaiting_approval"), 1U);
    EXPECT_FALSE(overviews.with_journal_facts(after->tasks.at(0)).question.empty());
}

TEST_F(Overviews, an_answered_task_is_not_waiting_and_can_be_resumed) {
    waiting_.begin(agentforge_, waiting_.records());
    const std::string id = EscalationStore::approval_id(waiting_.task_id(), "spec", 1);
    const EscalationStore store(agentforge_);
    ASSERT_TRUE(store.record(ApprovalRequest{id, waiting_.task_id(), "spec", {{"title", "x"}}, "aa47", "", {}}).ok());
    Aggregator aggregator({{"one", folder_.path()}});
    (void)aggregator.refresh();
    TaskOverviews overviews(agentforge_);
    ASSERT_EQ(overviews.list()->counts.waiting, 1U);
    ArtifactDecision decision;
    decision.decision = "approve";
    decision.artifact_hash = "aa47";
    ASSERT_TRUE(store.decide_artifact(id, decision).ok());
    const auto listing = overviews.list();
    ASSERT_TRUE(listing.ok()) << listing.error().to_string();
    EXPECT_EQ(listing->counts.waiting, 0U);
    EXPECT_EQ(state_name(listing->tasks.at(0)), "paused");
    EXPECT_THAT(available_actions(overviews.with_journal_facts(listing->tasks.at(0))), ::testing::ElementsAre("resume", "abort"));
    const auto changes = aggregator.refresh_processes();
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].state, "paused");
    EXPECT_TRUE(to_json(*aggregator.tasks().at(0), {}).at("status").at("answered").as_bool());
}

/// Makes ended tasks. From 32 on, the listing is cached.
void make_ended_tasks(const fs::path& tasks, int count) {
    for (int index = 0; index < count; ++index) {
        const std::string id = "task-20260102-" + std::to_string(1000 + index);
        fs::create_directories(tasks / id);
        std::ofstream(tasks / id / "actions.yaml") << "- {\"seq\": 1, \"hash\": \"" << std::string(64, 'a') << "\"}\n";
        std::ofstream(tasks / id / "state.yaml") << to_json_line(
            json::object{{"task_id", id}, {"status", index % 3 == 0 ? "failed" : "completed"}, {"hash", std::string(64, 'a')}});
    }
}

TEST_F(Overviews, count_the_tasks_that_a_limit_leaves_out) {
    make_ended_tasks(agentforge_ / "tasks", 60);
    TaskOverviews overviews(agentforge_);
    ASSERT_TRUE(overviews.list().ok());
    const auto is_failed = [](const TaskOverview& task) { return state_name(task) == "failed"; };
    const auto all = overviews.list(is_failed);
    const auto few = overviews.list(is_failed, 5);
    ASSERT_TRUE(all.ok() && few.ok());
    EXPECT_EQ(few->counts.conditions, (std::map<std::string, std::uint64_t>{{"completed", 40}, {"failed", 20}}));
    EXPECT_EQ(few->counts.conditions, all->counts.conditions);
    EXPECT_EQ(few->total, 60U);
    EXPECT_EQ(few->wanted, 20U);
    ASSERT_EQ(few->tasks.size(), 5U);
    for (std::size_t index = 0; index < 5; ++index) {
        EXPECT_EQ(few->tasks[index].summary.task_id, all->tasks[index].summary.task_id);
    }
}

/// A task whose question has a file with these lines as its answer.
class OverviewsOfAnAnswerByFile : public Overviews {
protected:
    void SetUp() override {
        waiting_.begin(agentforge_, waiting_.records());
        ASSERT_TRUE(EscalationStore(agentforge_)
                        .record(ApprovalRequest{id_, waiting_.task_id(), "spec", {{"title", "x"}}, "aa47", "", {}})
                        .ok());
        (void)aggregator_.refresh();
    }
    void answer(const std::string& lines) { std::ofstream(agentforge_ / "escalations" / (id_ + ".resolution.yaml")) << lines; }
    std::uint64_t waiting() {
        (void)aggregator_.refresh_processes();
        TaskCounts counts;
        for (const auto& task : aggregator_.tasks()) { counts.take(task->overview); }
        const auto listing = TaskOverviews(agentforge_).list();
        EXPECT_TRUE(listing.ok());
        EXPECT_EQ(listing->counts.waiting, counts.waiting);
        return counts.waiting;
    }

    std::string id_ = EscalationStore::approval_id(waiting_.task_id(), "spec", 1);
    Aggregator aggregator_{{{"one", folder_.path()}}};
};

TEST_F(OverviewsOfAnAnswerByFile, ignore_an_unreadable_answer) {
    answer("approved: perhaps\n");
    EXPECT_EQ(waiting(), 1U);
}

TEST_F(OverviewsOfAnAnswerByFile, ignore_an_answer_for_another_artifact) {
    answer("approved: true\nartifact_hash: \"00\"\n");
    EXPECT_EQ(waiting(), 1U);
}

TEST_F(OverviewsOfAnAnswerByFile, notice_an_answer_written_into_an_existing_file) {
    answer("");
    EXPECT_EQ(waiting(), 1U);
    answer("approved: true\n");
    EXPECT_EQ(waiting(), 0U);
    answer("approved: [\n");
    EXPECT_EQ(waiting(), 1U);
    EXPECT_NE(aggregator_.tasks().at(0)->overview.answer_problem, "");
}

TEST_F(Overviews, counts_equal_those_of_the_aggregator) {
    waiting_.begin(agentforge_, waiting_.records());
    ended_.begin(agentforge_, ended_.records());
    Aggregator aggregator({{"one", folder_.path()}});
    (void)aggregator.refresh();
    TaskCounts wanted;
    for (const auto& task : aggregator.tasks()) { wanted.take(task->overview); }
    const auto listing = TaskOverviews(agentforge_).list();
    ASSERT_TRUE(listing.ok()) << listing.error().to_string();
    EXPECT_EQ(to_json(listing->counts), to_json(wanted));
    EXPECT_EQ(wanted.of("completed"), 1U);
}

TEST_F(Overviews, a_journal_that_fails_verification_is_a_problem_of_its_task) {
    const fs::path task = waiting_.begin(agentforge_, waiting_.records());
    ASSERT_TRUE(TaskOverviews(agentforge_).list().ok());  // Writes state.yaml from the journal.
    const fs::path journal = task / "actions.yaml";
    std::fstream(journal, std::ios::in | std::ios::out).seekp(static_cast<std::streamoff>(fs::file_size(journal) / 2)) << '~';
    TaskOverviews overviews(agentforge_);
    const auto listing = overviews.list();
    ASSERT_TRUE(listing.ok()) << listing.error().to_string();
    ASSERT_EQ(listing->tasks.size(), 1U);
    const TaskOverview task_seen = overviews.with_journal_facts(listing->tasks[0]);
    ASSERT_TRUE(task_seen.problem.has_value());
    EXPECT_EQ(task_seen.problem->code, "AF-JRNL-002");
    EXPECT_EQ(task_seen.summary.task_id, waiting_.task_id());
}

TEST_F(Overviews, a_damaged_task_looks_as_in_the_aggregator) {
    const std::vector<std::function<void(const fs::path&)>> damages{
        [](const fs::path& task) { std::ofstream(task / "actions.yaml") << "no journal\n"; },
        [](const fs::path& task) { fs::remove(task / "actions.yaml"); },
        [](const fs::path& task) {
            fs::rename(task / "actions.yaml", task / "moved");
            fs::create_symlink(task / "moved", task / "actions.yaml");
        },
        [](const fs::path& task) {
            fs::remove(task / "actions.yaml");
            ASSERT_EQ(::mkfifo((task / "actions.yaml").c_str(), 0600), 0);
        },
        [](const fs::path& task) { fs::resize_file(task / "actions.yaml", (*read_file(task / "actions.yaml")).find("- {")); }};
    const std::vector<std::string> codes{"AF-JRNL-002", "AF-JRNL-007", "AF-JRNL-009", "AF-JRNL-009", "AF-TASK-014"};
    for (std::size_t index = 0; index < damages.size(); ++index) {
        for (const bool has_state : {true, false}) {
            fs::remove_all(agentforge_);
            const fs::path task = waiting_.begin(agentforge_, waiting_.records());
            ASSERT_TRUE(TaskOverviews(agentforge_).list().ok());  // Writes state.yaml from the journal.
            damages[index](task);
            if (!has_state) { std::ofstream(task / "state.yaml") << "{"; }
            const auto listing = TaskOverviews(agentforge_).list();
            ASSERT_TRUE(listing.ok()) << listing.error().to_string();
            ASSERT_EQ(listing->tasks.size(), 1U);
            Aggregator aggregator({{"one", folder_.path()}});
            (void)aggregator.refresh();
            ASSERT_EQ(aggregator.tasks().size(), 1U);
            const TaskOverview& listed = aggregator.tasks()[0]->overview;
            EXPECT_EQ(to_json(listing->tasks[0]), to_json(listed));
            EXPECT_EQ(listed.problem.value_or(Error{}).code, codes[index]);
            EXPECT_EQ(state_name(listed), has_state ? "awaiting_approval" : "unknown");
            EXPECT_TRUE(available_actions(listed).empty());
        }
    }
}

/// An ended task whose projection was written after its journal, as at its end.
class OverviewsOfAnEndedTask : public Overviews {
protected:
    void SetUp() override {
        task_ = ended_.begin(agentforge_, ended_.records());
        ASSERT_TRUE(TaskOverviews(agentforge_).list().ok());  // Writes state.yaml from the journal.
        write_state_after(std::chrono::hours(1));
    }
    void write_state_after(std::chrono::seconds time) {
        fs::last_write_time(task_ / "state.yaml", fs::last_write_time(task_ / "actions.yaml") + time);
    }
    void damage() {
        const fs::path journal = task_ / "actions.yaml";
        std::fstream(journal, std::ios::in | std::ios::out).seekp(static_cast<std::streamoff>(fs::file_size(journal) / 2)) << '~';
    }
    TaskOverview seen() {
        TaskOverviews overviews(agentforge_);
        const auto listing = overviews.list();
        EXPECT_TRUE(listing.ok());
        return overviews.with_journal_facts(listing->tasks.at(0));
    }
    fs::path task_;
};

TEST_F(OverviewsOfAnEndedTask, have_its_damaged_journal_as_a_problem) {
    damage();
    write_state_after(std::chrono::seconds(-1));
    const TaskOverview found = seen();
    ASSERT_TRUE(found.problem.has_value());
    EXPECT_EQ(found.problem->code, "AF-JRNL-002");
    EXPECT_EQ(to_json(found).at("problem").at("code"), "AF-JRNL-002");
    EXPECT_EQ(state_name(found), "completed");
}

TEST_F(OverviewsOfAnEndedTask, verify_a_touched_but_intact_journal_once) {
    write_state_after(std::chrono::seconds(-1));
    EXPECT_FALSE(seen().problem.has_value());
    EXPECT_GE(fs::last_write_time(task_ / "state.yaml"), fs::last_write_time(task_ / "actions.yaml"));
    EXPECT_TRUE(to_json(seen()).at("problem").is_null());
}

TEST_F(OverviewsOfAnEndedTask, do_not_read_an_unchanged_journal) {
    damage();
    write_state_after(std::chrono::hours(1));  // As if its blocks had changed on the disk.
    EXPECT_FALSE(seen().problem.has_value()) << "`stats` and `status TASK` read all of it";
}

TEST(TaskCondition, a_task_held_by_a_process_before_its_first_stage_is_in_progress) {
    TaskOverview task;
    task.summary.status = "pending";
    task.running = true;
    EXPECT_EQ(state_name(task), "in_progress");
}

TEST(Sets, a_rewritten_file_is_a_change_and_the_first_scan_reports_none) {
    const TemporaryDirectory folder("sets");
    TaskSet set;
    set.id = "set-20260102-one-1f2e3d4c";
    set.phase = SetPhase::specified;
    set.parts = {{"one", folder.path() / "one", {}, {}, {}, {}}};
    const fs::path file = set_file(folder.path() / set.id);
    ASSERT_TRUE(save_set(file, set).ok());
    SetWatch watch(folder.path());
    EXPECT_TRUE(watch.refresh().empty());
    set.phase = SetPhase::done;
    ASSERT_TRUE(save_set(file, set).ok());
    fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(1));  // Clocks of file systems are coarse.
    const auto changes = watch.refresh();
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].task_id, set.id);
    EXPECT_EQ(changes[0].type, "set");
    EXPECT_EQ(changes[0].state, "done");
    EXPECT_TRUE(watch.refresh().empty());
}

TEST(Sets, a_part_has_the_state_of_its_task_and_none_before_the_task_exists) {
    TaskSet set;
    set.id = "set-1";
    set.phase = SetPhase::delivering;
    set.parts = {{"one", "/one", {}, "task-1", {}, {}}, {"two", "/two", {"one"}, {}, {}, {}}};
    const json::object object = figures_of(set, [](const SetPart& part) { return "state of " + part.task; });
    EXPECT_EQ(object.at("parts").at(0).at("state"), "state of task-1");
    EXPECT_TRUE(object.at("parts").at(1).at("state").is_null());
    EXPECT_EQ(object.at("available_actions"), json::array({"resume"}));
}

TEST(Sets, a_set_being_undone_can_be_resumed_although_its_tasks_are_aborted) {
    TaskSet set;
    set.id = "set-1";
    set.phase = SetPhase::undoing;
    set.parts = {{"one", "/one", {}, "task-1", {}, {}}, {"two", "/two", {"one"}, "task-2", {}, {}}};
    const json::object object = figures_of(set, [](const SetPart& /*part*/) { return std::string("aborted"); });
    EXPECT_EQ(object.at("available_actions"), json::array({"resume", "abort"}));
}

}  // namespace
}  // namespace agentforge::kernel::testing
