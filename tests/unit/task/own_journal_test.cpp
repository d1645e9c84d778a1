// SPDX-License-Identifier: Apache-2.0
#include "task/own_journal.hpp"

#include <gtest/gtest.h>

#include <string>

namespace agentforge::kernel {
namespace {

class OwnJournalTest : public ::testing::Test {
protected:
    OwnJournalTest() : folder_(std::move(TemporaryDirectory::make("own")).value()) {}
    [[nodiscard]] OwnJournal journal() const { return OwnJournal(folder_->path() / "proofs", "task-1"); }

    std::unique_ptr<TemporaryDirectory> folder_;
    const std::string first_ = std::string(64, 'a');
    const std::string second_ = std::string(64, 'b');
    const std::string third_ = std::string(64, 'c');
};

TEST_F(OwnJournalTest, knows_the_last_record_and_the_one_about_to_be_written) {
    EXPECT_FALSE(journal().has_written(first_));
    OwnJournal writing = journal();
    ASSERT_TRUE(writing.note(first_, second_));
    EXPECT_TRUE(journal().has_written(first_));
    EXPECT_TRUE(journal().has_written(second_));
    ASSERT_TRUE(writing.note(second_, third_));
    EXPECT_FALSE(journal().has_written(first_));
    EXPECT_TRUE(journal().has_written(third_));
}

TEST_F(OwnJournalTest, knows_no_part_of_a_hash_and_no_other_task) {
    OwnJournal writing = journal();
    ASSERT_TRUE(writing.note(first_, second_));
    EXPECT_FALSE(journal().has_written(""));
    EXPECT_FALSE(journal().has_written(first_.substr(1)));
    EXPECT_FALSE(OwnJournal(folder_->path() / "proofs", "task-2").has_written(first_));
}

TEST_F(OwnJournalTest, keeps_nothing_without_a_folder) {
    OwnJournal nowhere({}, "task-1");
    EXPECT_FALSE(nowhere.note(first_, second_));
    EXPECT_FALSE(nowhere.has_written(first_));
}

}  // namespace
}  // namespace agentforge::kernel
