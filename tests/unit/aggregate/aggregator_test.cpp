// SPDX-License-Identifier: Apache-2.0
#include "aggregate/aggregator.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/aggregate/kept_journal.hpp"

namespace agentforge::kernel::testing {
namespace {

namespace fs = std::filesystem;

class Aggregated : public ::testing::Test {
protected:
    Aggregated() : one_("delivered_and_rebased"), other_("waiting_for_action") {
        one_.begin(folder_.path() / "one" / ".agentforge", one_.records());
        other_.begin(folder_.path() / "other" / ".agentforge", 5);
    }
    std::vector<KnownRepository> repositories() { return {{"one", folder_.path() / "one"}, {"other", folder_.path() / "other"}}; }

    TemporaryDirectory folder_{"aggregated"};
    KeptJournal one_;
    KeptJournal other_;
};

TEST_F(Aggregated, TasksOfAllRepositoriesAreThereWithTheLastActivityFirst) {
    Aggregator aggregator(repositories());
    EXPECT_TRUE(aggregator.refresh().empty());
    const auto tasks = aggregator.tasks();
    ASSERT_EQ(tasks.size(), 2U);
    EXPECT_GE(tasks[0]->overview.summary.updated_at, tasks[1]->overview.summary.updated_at);
    EXPECT_TRUE(aggregator.problems().empty());
}

TEST_F(Aggregated, AppendedRecordsAreChangesWithTheirPlace) {
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

TEST_F(Aggregated, ANewTaskIsFoundAndARemovedOneGone) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    KeptJournal third("killed_in_green");
    const fs::path folder = third.begin(folder_.path() / "other" / ".agentforge", 5);
    EXPECT_EQ(aggregator.refresh().size(), 5U);
    EXPECT_EQ(aggregator.tasks().size(), 3U);
    fs::remove_all(folder);
    (void)aggregator.refresh();
    EXPECT_EQ(aggregator.tasks().size(), 2U);
    EXPECT_FALSE(aggregator.find(third.task_id()).ok());
}

TEST_F(Aggregated, ATaskIsFoundByItsIdAndItsRepository) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    EXPECT_EQ(aggregator.find(other_.task_id())->repository, 1U);
    EXPECT_EQ(aggregator.find(other_.task_id(), "one").error().code, "AF-DASH-014");
    EXPECT_EQ(aggregator.find("../../etc/passwd").error().code, "AF-DASH-014");
}

TEST_F(Aggregated, ADamagedJournalIsAProblemThatKeepsWhatWasRead) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    std::ofstream(folder_.path() / "other" / ".agentforge" / "tasks" / other_.task_id() / "actions.yaml", std::ios::app)
        << "- {\"seq\": 21}\n- {\"seq\": 22}\n";
    (void)aggregator.refresh();
    ASSERT_EQ(aggregator.problems().size(), 1U);
    EXPECT_EQ(aggregator.problems()[0].code, "AF-JRNL-002");
    EXPECT_EQ(aggregator.tasks().size(), 2U);
}

TEST_F(Aggregated, AJournalThatIsChangedInItsMiddleIsReadAgain) {
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

TEST_F(Aggregated, AJournalThatIsALinkIsAProblem) {
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    const fs::path journal = folder_.path() / "other" / ".agentforge" / "tasks" / other_.task_id() / "actions.yaml";
    fs::rename(journal, folder_.path() / "moved");
    fs::create_symlink(folder_.path() / "moved", journal);
    (void)aggregator.refresh();
    ASSERT_EQ(aggregator.problems().size(), 1U);
    EXPECT_EQ(aggregator.problems()[0].code, "AF-DASH-019");
    EXPECT_EQ(aggregator.tasks().size(), 1U);
}

TEST_F(Aggregated, ATaskOfTwoRepositoriesIsFoundByOneOfThemOnly) {
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

TEST_F(Aggregated, ARepositoryThatIsGoneIsAProblem) {
    auto known = repositories();
    known.push_back({"third", folder_.path() / "third"});
    Aggregator aggregator(known);
    (void)aggregator.refresh();
    ASSERT_EQ(aggregator.problems().size(), 1U);
    EXPECT_EQ(aggregator.problems()[0].code, "AF-DASH-011");
}

TEST_F(Aggregated, AFolderThatIsALinkIsLeftOut) {
    fs::create_directories(folder_.path() / "third");
    fs::create_directory_symlink(folder_.path() / "one" / ".agentforge", folder_.path() / "third" / ".agentforge");
    Aggregator aggregator({{"third", folder_.path() / "third"}});
    (void)aggregator.refresh();
    EXPECT_TRUE(aggregator.tasks().empty());
    EXPECT_EQ(aggregator.problems().at(0).code, "AF-DASH-010");
}

TEST_F(Aggregated, ATaskEndsWithTheArtifactThatItShowsWhereItsStageMayBeTheLast) {
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

TEST_F(Aggregated, ATaskThatHasDeliveredCannotBeExtended) {
    const auto actions = [](bool can_be_extended) {
        TaskOverview overview;
        overview.summary.status = "completed";
        overview.can_be_extended = can_be_extended;
        return available_actions(overview);
    };
    EXPECT_EQ(actions(true), std::vector<std::string>{"extend"});
    EXPECT_TRUE(actions(false).empty());
}

TEST_F(Aggregated, AnEndedTaskIsLookedAtAgainAfterOthers) {
    const fs::path agentforge = folder_.path() / "many" / ".agentforge";
    std::vector<std::string> ids;
    Aggregator aggregator(repositories());
    (void)aggregator.refresh();
    const auto place = aggregator.find(one_.task_id());
    ASSERT_TRUE(place.ok());
    std::uint64_t steps = 0;
    const auto looked = aggregator.with_task(*place, [&](const FollowedTask& task) {
        steps = task.step_count();
        return Result<void>();
    });
    EXPECT_TRUE(looked.ok());
    EXPECT_GT(steps, 10U);
}

}  // namespace
}  // namespace agentforge::kernel::testing
