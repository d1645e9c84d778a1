// SPDX-License-Identifier: Apache-2.0
#include "journal/journal_tail.hpp"

#include <fstream>

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

class JournalTailTest : public testing::Test {
protected:
    JournalTailTest()
        : folder_("tail"), path_(folder_.path() / "actions.yaml"), journal_(Journal::create(path_, {{"task_id", "task-1"}})) {}

    void append(int count) {
        for (int n = 0; n < count; ++n) {
            ASSERT_TRUE(journal_->append({{"type", "note"}, {"message", std::string(50, 'x')}}).ok());
        }
    }
    void add_bytes(std::string_view bytes) { std::ofstream(path_, std::ios::app | std::ios::binary) << bytes; }
    std::vector<Sequence> read(JournalTail& tail) {
        std::vector<Sequence> seen;
        const auto count = tail.read([&](const Record& record, JournalOffset at) {
            seen.push_back(record.seq);
            places_.push_back(at);
            return Result<void>();
        });
        EXPECT_TRUE(count.ok()) << count.error().to_string();
        EXPECT_EQ(count.ok() ? *count : 0, seen.size());
        return seen;
    }

    TemporaryDirectory folder_;
    fs::path path_;
    Result<Journal> journal_;
    std::vector<JournalOffset> places_;
};

TEST_F(JournalTailTest, tail_returns_each_record_once_as_it_is_appended) {
    JournalTail tail(path_);
    EXPECT_TRUE(read(tail).empty());
    EXPECT_EQ(tail.header().at("task_id"), "task-1");
    append(3);
    EXPECT_EQ(read(tail), (std::vector<Sequence>{1, 2, 3}));
    EXPECT_TRUE(read(tail).empty());
    append(2);
    EXPECT_EQ(read(tail), (std::vector<Sequence>{4, 5}));
    EXPECT_EQ(tail.head().hash, journal_->head().hash);
}

TEST_F(JournalTailTest, tail_returns_shared_records_with_the_first_own_record) {
    append(2);
    const JournalHead head = journal_->head();
    const fs::path fork = folder_.path() / "fork" / "actions.yaml";
    fs::create_directory(fork.parent_path());
    ASSERT_TRUE(Journal::share_history(path_, "task-1", fork).ok());
    const json::object origin{{"task", "task-1"}, {"seq", head.seq}, {"hash", head.hash}};
    auto continued = Journal::create(fork, {{"task_id", "task-2"}, {"forked_from", origin}});
    JournalTail tail(fork);
    EXPECT_TRUE(read(tail).empty());
    ASSERT_TRUE(continued->append({{"type", "note"}}).ok());
    std::vector<Sequence> seen;
    ASSERT_TRUE(tail.read([&](const Record& record, JournalOffset) {
                        seen.push_back(record.seq);
                        return Result<void>();
                    })
                    .ok());
    EXPECT_EQ(seen, (std::vector<Sequence>{1, 2, 3}));
}

TEST_F(JournalTailTest, tail_reads_more_than_a_chunk) {
    append(3000);
    JournalTail tail(path_);
    EXPECT_EQ(read(tail).size(), 3000U);
    EXPECT_EQ(tail.head().seq, 3000U);
}

TEST_F(JournalTailTest, tail_leaves_an_incomplete_line_for_the_next_read) {
    append(1);
    JournalTail tail(path_);
    EXPECT_EQ(read(tail).size(), 1U);
    append(1);
    std::ifstream in(path_, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    fs::resize_file(path_, all.size() - 10);
    EXPECT_TRUE(read(tail).empty());
    add_bytes(all.substr(all.size() - 10));
    EXPECT_EQ(read(tail), (std::vector<Sequence>{2}));
}

TEST_F(JournalTailTest, tail_refuses_a_changed_record) {
    append(2);
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-200, std::ios::end);
    file.put('y');
    file.close();
    JournalTail tail(path_);
    const auto count = tail.read([](const Record&, JournalOffset) { return Result<void>(); });
    ASSERT_FALSE(count.ok());
    EXPECT_EQ(count.error().code, "AF-JRNL-002");
    EXPECT_EQ(tail.head().seq, 1U);
}

TEST_F(JournalTailTest, every_reader_refuses_a_line_that_is_too_long) {
    append(1);
    add_bytes("- {\"seq\": 2, \"type\": \"note\", \"message\": \"" + std::string(65UL << 20U, 'x') + "\"}\n");
    JournalTail tail(path_);
    const auto followed = tail.read([](const Record&, JournalOffset) { return Result<void>(); });
    const auto read = Journal::read(path_);
    ASSERT_FALSE(followed.ok());
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(followed.error().code, "AF-JRNL-002");
    EXPECT_EQ(followed.error().message, read.error().message);
}

TEST_F(JournalTailTest, does_not_write_a_record_that_no_reader_would_accept) {
    const auto appended = journal_->append({{"type", "note"}, {"message", std::string(65UL << 20U, 'x')}});
    ASSERT_FALSE(appended.ok());
    EXPECT_EQ(appended.error().code, "AF-JRNL-005");
    append(1);
}

TEST_F(JournalTailTest, tail_continues_from_a_mark) {
    append(3);
    const JournalMark mark = journal_->mark();
    append(2);
    bool skipped = false;
    JournalTail tail(path_, mark, [&] { skipped = true; });
    EXPECT_EQ(read(tail), (std::vector<Sequence>{4, 5}));
    EXPECT_TRUE(skipped);
    EXPECT_EQ(tail.mark().parts, journal_->mark().parts);
}

TEST_F(JournalTailTest, tail_reports_a_replaced_file) {
    append(2);
    JournalTail tail(path_);
    EXPECT_EQ(read(tail).size(), 2U);
    fs::remove(path_);
    ASSERT_TRUE(Journal::create(path_, {{"task_id", "task-2"}}).ok());
    const auto count = tail.read([](const Record&, JournalOffset) { return Result<void>(); });
    ASSERT_FALSE(count.ok());
    EXPECT_EQ(count.error().code, "AF-JRNL-006");
}

TEST_F(JournalTailTest, tail_refuses_a_link_in_place_of_its_file) {
    append(2);
    JournalTail tail(path_);
    EXPECT_EQ(read(tail).size(), 2U);
    fs::rename(path_, folder_.path() / "moved");
    fs::create_symlink(folder_.path() / "moved", path_);
    const auto take = [](const Record&, JournalOffset) { return Result<void>(); };
    EXPECT_EQ(tail.read(take).error().code, "AF-JRNL-006");
    EXPECT_EQ(JournalTail(path_).read(take).error().code, "AF-JRNL-009");
}

TEST_F(JournalTailTest, tail_returns_a_rejected_record_again) {
    append(1);
    JournalTail tail(path_);
    EXPECT_FALSE(tail.read([](const Record&, JournalOffset) {
                         return Result<void>(Error{"AF-TASK-011", "no", "", "", ErrorKind::corrupt});
                     })
                     .ok());
    EXPECT_EQ(read(tail), (std::vector<Sequence>{1}));
}

TEST_F(JournalTailTest, tail_finds_a_record_by_its_position) {
    append(5);
    JournalTail tail(path_);
    (void)read(tail);
    std::vector<Sequence> seen;
    ASSERT_TRUE(JournalTail::read_from(path_, places_.at(2), [&](const Record& record) {
                    seen.push_back(record.seq);
                    return seen.size() < 2;
                }).ok());
    EXPECT_EQ(seen, (std::vector<Sequence>{3, 4}));
    EXPECT_EQ(JournalTail::read_from(path_, places_.at(2) + 1, [](const Record&) { return true; }).error().code, "AF-JRNL-002");
}

}  // namespace
}  // namespace agentforge::kernel
