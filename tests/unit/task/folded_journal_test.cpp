// SPDX-License-Identifier: Apache-2.0
// Snapshots of folds and the index of steps: if one is damaged, the result is still that of the whole journal.
#include "task/journal_fold.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "records/records.hpp"
#include "task/step_index.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

/// A journal of tests/journals, as lines.
struct KeptJournal {
    std::string header;
    std::vector<std::string> records;

    explicit KeptJournal(const fs::path& folder) {
        std::ifstream in(folder / "actions.yaml", std::ios::binary);
        bool body = false;
        for (std::string line; std::getline(in, line);) {
            if (body) {
                records.push_back(line + "\n");
            } else {
                header += line + "\n";
            }
            body = body || line == "actions:";
        }
    }
};

std::vector<fs::path> kept_journals() {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(fs::path(AGENTFORGE_SOURCE_DIR) / "tests" / "journals")) {
        if (fs::exists(entry.path() / "actions.yaml")) { folders.push_back(entry.path()); }
    }
    return folders;
}

class FoldSnapshot : public testing::Test {
protected:
    FoldSnapshot() { use_key("this installation's"); }
    ~FoldSnapshot() override { set_snapshot_key({}); }
    static void use_key(const std::string& key) {
        set_snapshot_key([key] { return key; });
    }
    void write(const KeptJournal& journal, std::size_t count) {
        std::ofstream out(path_, std::ios::binary | std::ios::trunc);
        out << journal.header;
        for (std::size_t index = 0; index < count; ++index) { out << journal.records[index]; }
    }
    /// Folds the journal, and keeps the snapshot.
    void keep() {
        JournalFold fold(path_);
        JournalMark end;
        ASSERT_TRUE(Journal::read(path_, fold.visitor(), &end).ok());
        keep_fold(path_, end, fold.state, fold.memory);
    }
    /// Returns the state, and the record that its snapshot was at.
    std::pair<TaskState, Sequence> folded() {
        JournalFold fold(path_);
        const auto read = Journal::read(path_, fold.visitor());
        EXPECT_TRUE(read.ok()) << read.error().to_string();
        return {std::move(fold.state), fold.snapshot_at()};
    }
    TaskState whole() { return fold_all(*Journal::read(path_)).value(); }
    void keep_of(const KeptJournal& journal, std::size_t count) {
        write(journal, count);
        keep();
        write(journal, journal.records.size());
    }

    TemporaryDirectory folder_{"fold"};
    fs::path path_ = folder_.path() / "actions.yaml";
    KeptJournal killed_{fs::path(AGENTFORGE_SOURCE_DIR) / "tests" / "journals" / "killed_in_green"};
};

TEST_F(FoldSnapshot, folds_to_the_same_state_from_every_record) {
    ASSERT_GE(kept_journals().size(), 5U);
    for (const fs::path& folder : kept_journals()) {
        const KeptJournal journal(folder);
        for (std::size_t count = 1; count <= journal.records.size(); ++count) {
            keep_of(journal, count);
            const auto [state, at] = folded();
            ASSERT_EQ(at, count) << folder;
            ASSERT_EQ(state, whole()) << folder << " from record " << count;
        }
    }
}

TEST_F(FoldSnapshot, holds_the_working_memory) {
    write(killed_, killed_.records.size());
    JournalFold before(path_);
    ASSERT_TRUE(Journal::read(path_, before.visitor()).ok());
    keep_of(killed_, 40);
    JournalFold after(path_);
    ASSERT_TRUE(Journal::read(path_, after.visitor()).ok());
    EXPECT_EQ(after.snapshot_at(), 40U);
    EXPECT_EQ(after.memory.text(), before.memory.text());
}

TEST_F(FoldSnapshot, does_not_hide_a_changed_record_before_it) {
    keep_of(killed_, 60);
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(killed_.header.size() + killed_.records[0].size() + 40));
    file.put('~');
    file.close();
    JournalFold fold(path_);
    const auto read = Journal::read(path_, fold.visitor());
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "AF-JRNL-002");
    EXPECT_NE(read.error().message.find("record 2"), std::string::npos) << read.error().message;
}

TEST_F(FoldSnapshot, of_a_journal_truncated_before_it_is_ignored) {
    keep_of(killed_, 60);
    write(killed_, 50);
    const auto [state, at] = folded();
    EXPECT_EQ(at, 0U);
    EXPECT_EQ(state.seq, 50U);
}

TEST_F(FoldSnapshot, of_a_journal_without_records_folds_to_an_empty_state) {
    keep_of(killed_, 60);
    write(killed_, 0);
    EXPECT_TRUE(folded().first.task_id.empty());
}

TEST_F(FoldSnapshot, of_another_journal_is_ignored) {
    keep_of(KeptJournal(fs::path(AGENTFORGE_SOURCE_DIR) / "tests" / "journals" / "delivered_and_rebased"), 30);
    write(killed_, killed_.records.size());
    const auto [state, at] = folded();
    EXPECT_EQ(at, 0U);
    EXPECT_EQ(state, whole());
}

TEST_F(FoldSnapshot, that_is_damaged_or_truncated_is_ignored) {
    keep_of(killed_, 60);
    const fs::path file = fold_snapshot_file(path_);
    const std::string bytes = read_file(file).value();
    for (std::size_t at = 0; at < bytes.size(); at += bytes.size() / 97 + 1) {
        std::string wrong = bytes;
        wrong[at] = static_cast<char>(wrong[at] ^ 0x20);
        ASSERT_TRUE(write_file_atomic(file, wrong, Durability::cached).ok());
        ASSERT_EQ(folded().second, 0U) << "byte " << at;
        ASSERT_TRUE(write_file_atomic(file, bytes.substr(0, at), Durability::cached).ok());
        ASSERT_EQ(folded().second, 0U) << "cut at " << at;
    }
    EXPECT_EQ(folded().first, whole());
}

TEST_F(FoldSnapshot, of_another_build_is_ignored) {
    keep_of(killed_, 60);
    const fs::path file = fold_snapshot_file(path_);
    std::string bytes = read_file(file).value();
    const auto at = bytes.find(fold_fingerprint);
    ASSERT_NE(at, std::string::npos);
    bytes[at] = bytes[at] == '0' ? '1' : '0';
    bytes.replace(8, 64, keyed_sha256("this installation's", "task snapshot\n" + bytes.substr(72)));
    ASSERT_TRUE(write_file_atomic(file, bytes, Durability::cached).ok());
    EXPECT_EQ(folded().second, 0U);
}

TEST_F(FoldSnapshot, of_another_installation_is_ignored) {
    keep_of(killed_, 60);
    use_key("another's");
    const auto [state, at] = folded();
    EXPECT_EQ(at, 0U);
    EXPECT_EQ(state, whole());
}

TEST_F(FoldSnapshot, is_neither_written_nor_read_without_a_key) {
    keep_of(killed_, 60);
    use_key("");
    EXPECT_EQ(folded().second, 0U);
    std::filesystem::remove(fold_snapshot_file(path_));
    keep();
    EXPECT_FALSE(fs::exists(fold_snapshot_file(path_)));
}

TEST_F(FoldSnapshot, of_a_fork_is_ignored_if_the_history_changed) {
    write(killed_, killed_.records.size());
    const auto records = *Journal::read(path_);
    const fs::path child = folder_.path() / "child" / "actions.yaml";
    ASSERT_TRUE(make_directories(child.parent_path()).ok());
    ASSERT_TRUE(Journal::share_history(path_, "task-a", child).ok());
    ASSERT_TRUE(
        Journal::create(child, {{"task_id", "task-b"},
                                {"forked_from", json::object{{"task", "task-a"}, {"seq", 60}, {"hash", records[59].hash}}}})
            .ok());
    path_ = child;
    keep();
    EXPECT_EQ(folded().second, 60U);
    std::fstream file(child.parent_path() / "history" / "task-a.yaml", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(killed_.header.size() + 40));
    file.put('~');
    file.close();
    JournalFold fold(path_);
    EXPECT_EQ(Journal::read(path_, fold.visitor()).error().code, "AF-JRNL-002");
}

TEST_F(FoldSnapshot, is_written_only_if_it_saves_many_records) {
    write(killed_, killed_.records.size());
    ASSERT_TRUE(fold_journal(path_).ok());
    EXPECT_FALSE(fs::exists(fold_snapshot_file(path_)));
}

class StepIndexTest : public FoldSnapshot {
protected:
    StepIndexTest() { write(killed_, killed_.records.size()); }
    /// Returns how many steps are found, from 1 on.
    std::uint64_t found() {
        StepIndex index(path_);
        std::uint64_t number = 0;
        while (true) {
            const auto record = index.find(number + 1);
            EXPECT_TRUE(record.ok()) << record.error().to_string();
            if (!record.ok() || !*record) { return number; }
            ++number;
            EXPECT_EQ((*record)->type(), records::Step::type);
            EXPECT_EQ(records::envelope_in(**record).step, number);
        }
    }
    std::uint64_t steps() { return whole().steps; }
};

TEST_F(StepIndexTest, finds_every_step_without_an_index_file) {
    ASSERT_GT(steps(), 5U);
    EXPECT_EQ(found(), steps());
}

TEST_F(StepIndexTest, finds_steps_appended_since) {
    write(killed_, killed_.records.size() / 2);
    const std::uint64_t before = found();
    write(killed_, killed_.records.size());
    EXPECT_EQ(found(), steps());
    EXPECT_LT(before, steps());
}

TEST_F(StepIndexTest, finds_the_step_despite_a_wrong_entry) {
    EXPECT_EQ(found(), steps());
    std::fstream file(step_index_file(path_), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(8 + 8);  // The entry of step 2.
    file.write("\x03\0\0\0\0\0\0\0", 8);
    file.close();
    EXPECT_EQ(found(), steps());
}

TEST_F(StepIndexTest, finds_the_steps_of_a_replaced_journal) {
    EXPECT_EQ(found(), steps());
    write(KeptJournal(fs::path(AGENTFORGE_SOURCE_DIR) / "tests" / "journals" / "delivered_and_rebased"), 100);
    EXPECT_EQ(found(), steps());
}

TEST_F(StepIndexTest, finds_steps_of_a_forks_parent) {
    const auto records = *Journal::read(path_);
    const std::uint64_t shared = fold_all({records.begin(), records.begin() + 60}).value().steps;
    const fs::path child = folder_.path() / "child" / "actions.yaml";
    ASSERT_TRUE(make_directories(child.parent_path()).ok());
    ASSERT_TRUE(Journal::share_history(path_, "task-a", child).ok());
    ASSERT_TRUE(
        Journal::create(child, {{"task_id", "task-b"},
                                {"forked_from", json::object{{"task", "task-a"}, {"seq", 60}, {"hash", records[59].hash}}}})
            .ok());
    path_ = child;
    EXPECT_EQ(found(), shared) << "and no step that the other task made since";
}

TEST_F(StepIndexTest, shows_no_step_of_the_parent_after_the_fork) {
    const auto records = *Journal::read(path_);
    const auto make_fork = [&](const std::string& task, std::size_t seq) {
        const fs::path child = folder_.path() / task / "actions.yaml";
        EXPECT_TRUE(make_directories(child.parent_path()).ok());
        EXPECT_TRUE(Journal::share_history(path_, "task-a", child).ok());
        EXPECT_TRUE(Journal::create(child, {{"task_id", task},
                                            {"forked_from", json::object{{"task", "task-a"},
                                                                         {"seq", static_cast<std::int64_t>(seq)},
                                                                         {"hash", records[seq - 1].hash}}}})
                        .ok());
        return child;
    };
    const fs::path early = make_fork("task-b", 60);
    path_ = make_fork("task-c", records.size() - 5);
    const std::uint64_t more = found();
    fs::copy_file(step_index_file(path_), step_index_file(early));
    path_ = early;
    const std::uint64_t shared = fold_all({records.begin(), records.begin() + 60}).value().steps;
    ASSERT_LT(shared, more);
    EXPECT_EQ(found(), shared);
}

TEST_F(StepIndexTest, needs_no_writable_folder) {
    fs::create_directory(step_index_file(path_));
    EXPECT_EQ(found(), steps());
}

TEST_F(StepIndexTest, reports_a_changed_step) {
    EXPECT_EQ(found(), steps());
    std::string bytes = read_file(path_).value();
    const auto at = bytes.find("\"type\": \"step\"");
    bytes[at + 60] = bytes[at + 60] == '0' ? '1' : '0';
    ASSERT_TRUE(write_file_atomic(path_, bytes, Durability::cached).ok());
    EXPECT_EQ(StepIndex(path_).find(1).error().code, "AF-JRNL-002");
}

TEST(RunningSumTest, does_not_depend_on_how_the_input_is_split) {
    std::string bytes;
    for (int n = 0; n < 1000; ++n) { bytes += static_cast<char>(n * 7); }
    RunningSum whole;
    whole.add(bytes);
    for (const std::size_t part : {1U, 7U, 31U, 32U, 33U, 500U}) {
        RunningSum parts;
        for (std::size_t at = 0; at < bytes.size(); at += part) { parts.add(std::string_view(bytes).substr(at, part)); }
        EXPECT_EQ(parts.value(), whole.value()) << part;
    }
    RunningSum longer = whole;
    longer.add(std::string_view("\0", 1));
    EXPECT_NE(longer.value(), whole.value());
}

}  // namespace
}  // namespace agentforge::kernel
