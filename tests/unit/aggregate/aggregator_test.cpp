// SPDX-License-Identifier: Apache-2.0
#include "aggregate/aggregator.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "aggregate/set_figures.hpp"
#include "aggregate/set_watch.hpp"
#include "task/snapshot_file.hpp"
#include "unit/aggregate/kept_journal.hpp"

namespace agentforge::kernel::testing {
namespace {

namespace fs = std::filesystem;

class AggregatorTest : public ::testing::Test {
protected:
    AggregatorTest() : one_("delivered_and_rebased"), other_("waiting_for_action") {
        one_.begin(folder_.path() / "one" / ".agentforge", one_.records());
        other_.begin(folder_.path() / "other" / ".agentforge", 5);
    }
    std::vector<KnownRepository> repositories() { return {{"one", folder_.path() / "one"}, {"other", folder_.path() / "other"}}; }

    /// Each change but its time; a state only if it is not a task's.
    static std::vector<std::string> described(const std::vector<TaskChange>& changes) {
        std::vector<std::string> lines;
        for (const TaskChange& change : changes) {
            const bool of_task = change.type != "repository" && change.type != "set";
            lines.push_back(change.type + " " + change.repo + " " + change.task_id + " " + std::to_string(change.seq) +
                            (of_task ? "" : " " + change.state));
        }
        return lines;
    }

    TemporaryDirectory folder_{"aggregated"};
    KeptJournal one_;
    KeptJournal other_;
};

TEST_F(AggregatorTest, lists_tasks_of_all_repositories_by_last_activity) {
    Aggregator aggregator(repositories());
    EXPECT_TRUE(aggregator.refresh().empty());
    const auto tasks = aggregator.tasks();
    ASSERT_EQ(tasks.size(), 2U);
    EXPECT_GE(tasks[0]->overview.summary.updated_at, tasks[1]->overview.summary.updated_at);
    EXPECT_TRUE(aggregator.problems().empty());
}

TEST_F(AggregatorTest, reports_appended_records_with_their_position) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    const std::uint64_t version = aggregator.version();
    EXPECT_TRUE(aggregator.refresh().empty());
    EXPECT_EQ(aggregator.version(), version);
    other_.append(2);
    const auto changes = aggregator.refresh(1, other_.task_id());
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_EQ(changes[0].repo, "other");
    EXPECT_EQ(changes[0].task_id, other_.task_id());
    EXPECT_EQ(changes[0].seq, 6U);
    EXPECT_EQ(changes[1].seq, 7U);
    EXPECT_FALSE(changes[1].type.empty());
    EXPECT_GT(aggregator.version(), version);
}

TEST_F(AggregatorTest, finds_new_tasks_and_drops_removed_ones) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    KeptJournal third("killed_in_green");
    const fs::path folder = third.begin(folder_.path() / "other" / ".agentforge", 5);
    EXPECT_EQ(aggregator.refresh().size(), 5U);
    EXPECT_EQ(aggregator.tasks().size(), 3U);
    fs::remove_all(folder);
    const auto changes = aggregator.refresh();
    EXPECT_EQ(described(changes), std::vector<std::string>{"removed other " + third.task_id() + " 5"});
    EXPECT_EQ(aggregator.tasks().size(), 2U);
    EXPECT_FALSE(aggregator.find(third.task_id()).ok());
    EXPECT_TRUE(aggregator.refresh().empty());
}

TEST_F(AggregatorTest, reports_a_removed_task_when_only_that_task_is_refreshed) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    fs::remove_all(folder_.path() / "other" / ".agentforge" / "tasks" / other_.task_id());
    EXPECT_EQ(described(aggregator.refresh(1, other_.task_id())),
              std::vector<std::string>{"removed other " + other_.task_id() + " 5"});
    EXPECT_TRUE(aggregator.refresh(1, other_.task_id()).empty());
}

TEST_F(AggregatorTest, a_new_task_with_many_records_is_one_change) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    KeptJournal third("killed_in_green");
    third.begin(folder_.path() / "other" / ".agentforge", Aggregator::most_reported_at_once + 1);
    const auto changes = aggregator.refresh();
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].seq, Aggregator::most_reported_at_once + 1);
    EXPECT_FALSE(changes[0].type.empty());
    EXPECT_EQ(changes[0].at.substr(0, 4), "2026");
    third.append(2);
    EXPECT_EQ(aggregator.refresh().size(), 2U);
}

TEST_F(AggregatorTest, many_new_records_of_a_known_task_are_one_change) {
    KeptJournal third("killed_in_green");
    third.begin(folder_.path() / "other" / ".agentforge", 5);
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    third.append(Aggregator::most_reported_at_once);
    EXPECT_EQ(aggregator.refresh().size(), Aggregator::most_reported_at_once);
    third.append_steps(Aggregator::most_reported_at_once + 1);
    const auto changes = aggregator.refresh();
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].seq, 5 + 2 * Aggregator::most_reported_at_once + 1);
    EXPECT_EQ(changes[0].type, "step");
}

TEST_F(AggregatorTest, the_first_scan_starts_at_the_snapshot_of_a_long_task) {
    set_snapshot_key([] { return std::string("this installation's"); });
    KeptJournal third("killed_in_green");
    const fs::path followed = third.begin(folder_.path() / "other" / ".agentforge", 70) / ".followed";
    third.append_steps(600);
    const auto written = [&followed] {
        struct stat file {};
        EXPECT_EQ(::stat(followed.c_str(), &file), 0);
        return std::pair(file.st_ino, file.st_mtim.tv_nsec);
    };
    EXPECT_TRUE(Aggregator(repositories()).refresh().empty());
    const auto first = written();
    // Reading from the beginning would write another one.
    Aggregator again(repositories());
    EXPECT_TRUE(again.refresh().empty());
    EXPECT_EQ(written(), first);
    const auto place = again.find(third.task_id());
    ASSERT_TRUE(place.ok());
    EXPECT_EQ((*again.figures(*place))->seq, 670U);
    third.append_steps(1);
    EXPECT_EQ(again.refresh().size(), 1U);
}

TEST_F(AggregatorTest, reports_a_repository_that_appears_or_disappears) {
    Aggregator aggregator({repositories()[0]});
    (void)aggregator.refresh();
    aggregator.set_repositories(repositories());
    EXPECT_EQ(described(aggregator.refresh()).front(), "repository other  0 available");
    aggregator.set_repositories({repositories()[0]});
    EXPECT_EQ(described(aggregator.refresh()),
              (std::vector<std::string>{"repository other  0 removed", "removed other " + other_.task_id() + " 5"}));
    EXPECT_TRUE(aggregator.refresh(1, other_.task_id()).empty());
    aggregator.set_repositories(repositories());
    EXPECT_EQ(aggregator.refresh().size(), 6U);
    fs::rename(folder_.path() / "other", folder_.path() / "away");
    EXPECT_TRUE(aggregator.availability_changed());
    EXPECT_EQ(described(aggregator.refresh()).front(), "repository other  0 unavailable");
    EXPECT_TRUE(aggregator.refresh().empty());
}

TEST_F(AggregatorTest, reports_a_journal_that_becomes_unreadable_once) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    const fs::path journal = folder_.path() / "other" / ".agentforge" / "tasks" / other_.task_id() / "actions.yaml";
    const std::string whole = *read_file(journal);
    std::ofstream(journal, std::ios::app) << "- {\"seq\": 21}\n- {\"seq\": 22}\n";
    EXPECT_EQ(described(aggregator.refresh()), std::vector<std::string>{"problem other " + other_.task_id() + " 5"});
    std::ofstream(journal, std::ios::app) << "- {\"seq\": 23}\n";
    EXPECT_TRUE(aggregator.refresh().empty());
    std::ofstream(journal, std::ios::trunc) << whole;
    EXPECT_EQ(described(aggregator.refresh()), std::vector<std::string>{"problem other " + other_.task_id() + " 5"});
    EXPECT_TRUE(aggregator.problems().empty());
}

TEST_F(AggregatorTest, answers_other_callers_while_reading_a_task) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    std::vector<std::unique_ptr<KeptJournal>> more;
    std::atomic<bool> done = false;
    std::thread asks([&] {
        while (!done) { EXPECT_GE(aggregator.tasks().size(), 2U); }
    });
    for (int copy = 0; copy < 20; ++copy) {
        more.push_back(std::make_unique<KeptJournal>("killed_in_green"));
        const fs::path task = more.back()->begin(folder_.path() / "other" / ".agentforge", 70);
        EXPECT_EQ(aggregator.refresh().size(), 1U);
        fs::remove_all(task);
        EXPECT_EQ(aggregator.refresh().size(), 1U);
    }
    done = true;
    asks.join();
}

TEST_F(AggregatorTest, reports_a_set_that_appears_or_disappears) {
    const fs::path sets = folder_.path() / "sets";
    fs::create_directories(sets / "set-1");
    std::ofstream(sets / "set-1" / "set.yaml") << "set_id: [";
    SetWatch watch(sets);
    EXPECT_TRUE(watch.refresh().empty());
    fs::create_directories(sets / "set-2");
    std::ofstream(sets / "set-2" / "set.yaml") << "set_id: [";
    EXPECT_EQ(described(watch.refresh()), std::vector<std::string>{"set  set-2 0 unknown"});
    fs::remove_all(sets / "set-1");
    EXPECT_EQ(described(watch.refresh()), std::vector<std::string>{"set  set-1 0 removed"});
    EXPECT_TRUE(watch.refresh().empty());
}

TEST_F(AggregatorTest, a_task_is_found_by_its_id_and_its_repository) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    EXPECT_EQ(aggregator.find(other_.task_id())->repository, 1U);
    EXPECT_EQ(aggregator.find(other_.task_id(), "one").error().code, "AF-DASH-014");
    EXPECT_EQ(aggregator.find("../../etc/passwd").error().code, "AF-DASH-014");
}

TEST_F(AggregatorTest, a_task_without_readable_journal_and_state_is_unknown_whenever_the_damage_happened) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    std::ofstream(folder_.path() / "other" / ".agentforge" / "tasks" / other_.task_id() / "actions.yaml", std::ios::app)
        << "- {\"seq\": 21}\n- {\"seq\": 22}\n";
    (void)aggregator.refresh();
    Aggregator later(repositories());
    (void)later.refresh();
    for (Aggregator* each : {&aggregator, &later}) {
        ASSERT_EQ(each->problems().size(), 1U);
        EXPECT_EQ(each->problems()[0].code, "AF-JRNL-002");
        const auto place = each->find(other_.task_id());
        ASSERT_TRUE(place.ok());
        EXPECT_EQ(state_name((*each->figures(*place))->overview), "unknown");
    }
    EXPECT_EQ(aggregator.tasks().back()->text, later.tasks().back()->text);
}

TEST_F(AggregatorTest, uses_a_state_restored_beside_a_damaged_journal) {
    const fs::path task = folder_.path() / "other" / ".agentforge" / "tasks" / other_.task_id();
    ASSERT_TRUE(TaskStore(folder_.path() / "other" / ".agentforge").list().ok());  // Writes state.yaml from the journal.
    fs::rename(task / "state.yaml", folder_.path() / "kept");
    std::ofstream(task / "actions.yaml", std::ios::app) << "- {\"seq\": 21}\n- {\"seq\": 22}\n";
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    const auto place = aggregator.find(other_.task_id());
    ASSERT_TRUE(place.ok());
    EXPECT_EQ(state_name((*aggregator.figures(*place))->overview), "unknown");
    fs::rename(folder_.path() / "kept", task / "state.yaml");
    EXPECT_EQ(described(aggregator.refresh_processes()), std::vector<std::string>{"problem other " + other_.task_id() + " 5"});
    EXPECT_NE(state_name((*aggregator.figures(*place))->overview), "unknown");
}

TEST_F(AggregatorTest, a_stray_file_among_the_tasks_is_a_problem_and_a_change) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    const fs::path tasks = folder_.path() / "other" / ".agentforge" / "tasks";
    const fs::path link = tasks / "task-20260102-link-2f2e3d4c";
    fs::create_directory_symlink(tasks / other_.task_id(), link);
    std::ofstream(tasks / "notes.txt") << "x";
    EXPECT_EQ(described(aggregator.refresh()), std::vector<std::string>{"problem other  0"});
    ASSERT_EQ(aggregator.problems().size(), 2U);
    for (const Error& problem : aggregator.problems()) { EXPECT_EQ(problem.code, "AF-TASK-009"); }
    EXPECT_EQ(aggregator.tasks().size(), 2U);
    EXPECT_TRUE(aggregator.refresh().empty());
    EXPECT_TRUE(aggregator.refresh(1, "task-20260102-link-2f2e3d4c").empty());
    EXPECT_EQ(aggregator.tasks().size(), 2U);
}

TEST_F(AggregatorTest, a_task_that_loses_its_files_one_by_one_is_reported_removed_with_its_last_state) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    const std::string state = state_name((*aggregator.figures(*aggregator.find(other_.task_id())))->overview);
    const fs::path task = folder_.path() / "other" / ".agentforge" / "tasks" / other_.task_id();
    fs::remove(task / "actions.yaml");
    (void)aggregator.refresh(1, other_.task_id());
    fs::remove_all(task);
    const auto changes = aggregator.refresh();
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].type, "removed");
    EXPECT_EQ(changes[0].state, state);
}

TEST_F(AggregatorTest, rereads_a_journal_that_changed_in_the_middle) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    const fs::path journal = folder_.path() / "other" / ".agentforge" / "tasks" / other_.task_id() / "actions.yaml";
    const auto size = fs::file_size(journal);
    std::fstream(journal, std::ios::in | std::ios::out).seekp(static_cast<std::streamoff>(size / 2)) << '~';
    ASSERT_EQ(fs::file_size(journal), size);
    (void)aggregator.refresh(1, other_.task_id());
    ASSERT_EQ(aggregator.problems().size(), 1U);
    EXPECT_EQ(aggregator.problems()[0].code, "AF-JRNL-002");
}

TEST_F(AggregatorTest, a_symlinked_journal_is_a_problem) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    const fs::path journal = folder_.path() / "other" / ".agentforge" / "tasks" / other_.task_id() / "actions.yaml";
    fs::rename(journal, folder_.path() / "moved");
    fs::create_symlink(folder_.path() / "moved", journal);
    (void)aggregator.refresh();
    ASSERT_EQ(aggregator.problems().size(), 1U);
    EXPECT_EQ(aggregator.problems()[0].code, "AF-JRNL-009");
    EXPECT_EQ(aggregator.tasks().size(), 2U);
}

TEST_F(AggregatorTest, ambiguous_task_id_needs_a_repository) {
    one_.begin(folder_.path() / "copy" / ".agentforge", one_.records());
    auto known = repositories();
    known.push_back({"copy", folder_.path() / "copy"});
    Aggregator aggregator(known);
    (void)aggregator.refresh();
    const auto either = aggregator.find(one_.task_id());
    ASSERT_FALSE(either.ok());
    EXPECT_EQ(either.error().code, "AF-DASH-018");
    EXPECT_EQ(either.error().where, "one, copy");
    EXPECT_EQ(aggregator.find(one_.task_id(), "copy")->repository, 2U);
}

TEST_F(AggregatorTest, a_missing_repository_is_a_problem) {
    auto known = repositories();
    known.push_back({"third", folder_.path() / "third"});
    Aggregator aggregator(known);
    (void)aggregator.refresh();
    ASSERT_EQ(aggregator.problems().size(), 1U);
    EXPECT_EQ(aggregator.problems()[0].code, "AF-DASH-011");
}

TEST_F(AggregatorTest, reports_and_skips_a_symlinked_folder) {
    fs::create_directories(folder_.path() / "third");
    fs::create_directory_symlink(folder_.path() / "one" / ".agentforge", folder_.path() / "third" / ".agentforge");
    Aggregator aggregator({{"third", folder_.path() / "third"}});
    (void)aggregator.refresh();
    EXPECT_TRUE(aggregator.tasks().empty());
    EXPECT_EQ(aggregator.problems().at(0).code, "AF-DASH-010");
}

TEST_F(AggregatorTest, offers_exit_only_if_the_stage_may_be_the_last) {
    const auto actions = [](bool can_be_last, bool can_be_extended) {
        TaskOverview overview;
        overview.summary.status = "awaiting_approval";
        overview.summary.waiting_for = "approval";
        overview.can_be_last = can_be_last;
        overview.can_be_extended = can_be_extended;
        return available_actions(overview);
    };
    using Words = std::vector<std::string>;
    EXPECT_EQ(actions(true, true), (Words{"approve", "revise", "exit", "reject", "extend", "abort"}));
    EXPECT_EQ(actions(false, false), (Words{"approve", "revise", "reject", "abort"}));
}

TEST_F(AggregatorTest, a_delivered_task_cannot_be_extended) {
    const auto actions = [](bool can_be_extended) {
        TaskOverview overview;
        overview.summary.status = "completed";
        overview.can_be_extended = can_be_extended;
        return available_actions(overview);
    };
    EXPECT_EQ(actions(true), std::vector<std::string>{"extend"});
    EXPECT_TRUE(actions(false).empty());
}

TEST_F(AggregatorTest, keeps_only_the_most_recently_used_ended_tasks_in_memory) {
    std::vector<KnownRepository> known;
    for (std::size_t number = 0; number < Aggregator::most_ended_followed + 4; ++number) {
        const std::string name = "r" + std::to_string(number);
        one_.begin(folder_.path() / name / ".agentforge", one_.records());
        known.push_back({name, folder_.path() / name});
    }
    Aggregator aggregator(known);
    (void)aggregator.refresh();
    EXPECT_EQ(aggregator.followed_count(), Aggregator::most_ended_followed);
    for (std::size_t number = 0; number < known.size(); ++number) {
        std::size_t steps = 0;
        const auto visited = aggregator.with_task({number, one_.task_id()}, [&](const FollowedTask& task) {
            steps = task.step_count();
            return Result<void>();
        });
        EXPECT_TRUE(visited.ok());
        EXPECT_GT(steps, 10U) << "it is read again";
        EXPECT_EQ(aggregator.followed_count(), Aggregator::most_ended_followed);
    }
}

/// Returns how many bytes this process has read so far, those from the page cache too.
std::uint64_t bytes_read() {
    std::ifstream in("/proc/self/io");
    std::string key;
    std::uint64_t bytes = 0;
    in >> key >> bytes;
    EXPECT_EQ(key, "rchar:");
    return bytes;
}

TEST_F(AggregatorTest, reads_only_the_new_record_of_a_journal_of_any_length) {
    KeptJournal third("killed_in_green");
    third.begin(folder_.path() / "other" / ".agentforge", 70);
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    const auto bytes_of_one = [&](std::size_t more) {
        third.append_steps(more);
        (void)aggregator.refresh(1, third.task_id());
        third.append_steps(1);
        const std::uint64_t before = bytes_read();
        EXPECT_EQ(aggregator.refresh(1, third.task_id()).size(), 1U);
        return static_cast<double>(bytes_read() - before);
    };
    const double after_100 = bytes_of_one(30);
    const double after_10000 = bytes_of_one(9'900);
    constexpr double longer_numbers = 256;
    EXPECT_NEAR(after_10000, after_100, longer_numbers);
}

}  // namespace
}  // namespace agentforge::kernel::testing
