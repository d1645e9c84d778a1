// SPDX-License-Identifier: Apache-2.0
#include "task/own_journal.hpp"

#include <gtest/gtest.h>

#include <string>

#include "journal/journal.hpp"

namespace agentforge::kernel {
namespace {

class OwnJournalTest : public ::testing::Test {
protected:
    OwnJournalTest() : folder_(std::move(TemporaryDirectory::make("own")).value()) {}
    [[nodiscard]] OwnJournal journal() const { return OwnJournal(folder_->path() / "proofs", task_); }

    std::unique_ptr<TemporaryDirectory> folder_;
    const std::filesystem::path task_ = folder_->path() / "tasks" / "task-1";
    const std::string first_ = std::string(64, 'a');
    const std::string second_ = std::string(64, 'b');
    const std::string third_ = std::string(64, 'c');
};

TEST_F(OwnJournalTest, knows_the_last_record_and_the_one_about_to_be_written) {
    EXPECT_FALSE(journal().has_written(first_).value());
    OwnJournal writing = journal();
    ASSERT_TRUE(writing.note(first_, second_).ok());
    EXPECT_TRUE(journal().has_written(first_).value());
    EXPECT_TRUE(journal().has_written(second_).value());
    ASSERT_TRUE(writing.note(second_, third_).ok());
    EXPECT_FALSE(journal().has_written(first_).value());
    EXPECT_TRUE(journal().has_written(third_).value());
}

TEST_F(OwnJournalTest, knows_only_the_last_record_of_a_journal_that_was_left) {
    OwnJournal writing = journal();
    ASSERT_TRUE(writing.note(first_, second_).ok());
    ASSERT_TRUE(writing.settle(second_).ok());
    EXPECT_FALSE(journal().has_written(first_).value());
    EXPECT_TRUE(journal().has_written(second_).value());
}

TEST_F(OwnJournalTest, knows_only_the_last_record_as_soon_as_it_is_on_disk) {
    OwnJournal writing = journal();
    ASSERT_TRUE(writing.note(first_, second_).ok());
    writing.wrote(first_);
    EXPECT_TRUE(journal().has_written(first_).value()) << "the other record may not be on disk";
    writing.wrote(second_);
    EXPECT_FALSE(journal().has_written(first_).value());
    EXPECT_TRUE(journal().has_written(second_).value());
}

TEST_F(OwnJournalTest, knows_both_records_if_it_is_unknown_whether_the_next_was_written) {
    OwnJournal writing = journal();
    ASSERT_TRUE(writing.note(first_, second_).ok());
    ASSERT_TRUE(writing.settle(first_).ok());
    EXPECT_TRUE(journal().has_written(first_).value());
    EXPECT_TRUE(journal().has_written(second_).value());
}

TEST_F(OwnJournalTest, knows_no_part_of_a_hash_and_no_other_task) {
    OwnJournal writing = journal();
    ASSERT_TRUE(writing.note(first_, second_).ok());
    EXPECT_FALSE(journal().has_written("").value());
    EXPECT_FALSE(journal().has_written(first_.substr(1)).value());
    EXPECT_FALSE(OwnJournal(folder_->path() / "proofs", folder_->path() / "tasks" / "task-2").has_written(first_).value());
}

TEST_F(OwnJournalTest, says_where_the_task_was) {
    EXPECT_FALSE(journal().read().value());
    OwnJournal writing = journal();
    ASSERT_TRUE(writing.note(first_, second_).ok());
    const auto note = journal().read().value();
    ASSERT_TRUE(note);
    EXPECT_EQ(note->head, first_);
    EXPECT_EQ(note->next, second_);
    EXPECT_EQ(note->task, task_);
}

TEST_F(OwnJournalTest, a_task_that_was_moved_to_a_shorter_path_is_at_that_path) {
    ASSERT_TRUE(journal().note(first_, second_).ok());
    const std::filesystem::path moved = "/t/task-1";
    ASSERT_TRUE(OwnJournal(folder_->path() / "proofs", moved).note(second_, third_).ok());
    EXPECT_EQ(journal().read().value()->task, moved);
}

TEST_F(OwnJournalTest, a_note_of_an_older_version_does_not_say_where_the_task_was) {
    std::filesystem::create_directories(folder_->path() / "proofs");
    ASSERT_TRUE(
        write_file_atomic(folder_->path() / "proofs" / "task-1", first_ + "\n" + second_ + "\n", Durability::cached).ok());
    const auto note = journal().read().value();
    ASSERT_TRUE(note);
    EXPECT_EQ(note->next, second_);
    EXPECT_TRUE(note->task.empty());
}

TEST_F(OwnJournalTest, notices_that_the_end_of_the_journal_is_missing) {
    std::filesystem::create_directories(task_);
    auto writing = Journal::create(task_ / "actions.yaml", {{"task_id", "task-1"}});
    ASSERT_TRUE(writing.ok());
    const auto record = writing->append({{"type", "note"}});
    ASSERT_TRUE(record.ok());
    EXPECT_TRUE(journal().check_end().ok()) << "without a note";
    ASSERT_TRUE(journal().note(record->hash, second_).ok());
    EXPECT_TRUE(journal().check_end().ok()) << "the next record may not have been written";
    ASSERT_TRUE(journal().note(second_, third_).ok());
    EXPECT_EQ(journal().check_end().error().code, "AF-TASK-019");
    ASSERT_TRUE(OwnJournal(folder_->path() / "proofs", folder_->path() / "copy" / "task-1").note(second_, third_).ok());
    EXPECT_TRUE(journal().check_end().ok()) << "a copy continued";
}

TEST_F(OwnJournalTest, keeps_nothing_without_a_folder) {
    OwnJournal nowhere({}, task_);
    EXPECT_TRUE(nowhere.note(first_, second_).ok());
    EXPECT_FALSE(nowhere.has_written(first_).value());
}

TEST_F(OwnJournalTest, says_why_it_can_neither_note_nor_read_a_record) {
    std::filesystem::create_directories(folder_->path() / "proofs" / "task-1");
    OwnJournal writing = journal();
    const Result<void> noted = writing.note(first_, second_);
    ASSERT_FALSE(noted.ok());
    EXPECT_EQ(noted.error().code, "AF-TASK-018");
    EXPECT_EQ(journal().has_written(first_).error().code, "AF-TASK-018");
    EXPECT_EQ(noted.error().where, (folder_->path() / "proofs" / "task-1").string());
}

}  // namespace
}  // namespace agentforge::kernel
