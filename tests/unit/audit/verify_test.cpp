// SPDX-License-Identifier: Apache-2.0
// Verifies journals and blobs with changed bytes and lines.
#include <gtest/gtest.h>

#include <algorithm>

#include "audit/verify.hpp"
#include "audit/verify_commit.hpp"
#include "base/files.hpp"
#include "journal/blob_check.hpp"
#include "journal/blob_store.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

class NoProcesses final : public ProcessRunner {
public:
    Result<ProcessOutcome> run(const ProcessRequest&, const Stop&) override {
        return Error{"X", "no process is run", "", "", ErrorKind::unavailable};
    }
};

/// A task's folder that contains only a journal that a real task wrote.
class AuditVerifyJournal : public ::testing::Test {
protected:
    void SetUp() override { put(original_); }

    void put(const std::string& bytes) {
        ASSERT_TRUE(write_file_atomic(folder_.path() / "actions.yaml", bytes, Durability::cached).ok());
    }

    /// True if the verification of the journal itself fails.
    bool is_found() {
        const auto verdict = verify_task({"", folder_.path(), {}, {}, {}, true}, {processes_, {}, environment_}, Stop{});
        if (!verdict.ok()) { return true; }
        return std::ranges::any_of(verdict->findings, [](const AuditFinding& finding) {
            return finding.part == "journal" && finding.answer == AuditAnswer::fails;
        });
    }

    static std::string read(const std::string& name) {
        return read_file(fs::path(AGENTFORGE_SOURCE_DIR) / "tests" / "journals" / name / "actions.yaml").value();
    }

    TemporaryDirectory folder_{"audit"};
    const std::string original_ = read("waiting_for_action");
    NoProcesses processes_;
    std::map<std::string, std::string> environment_;
};

TEST_F(AuditVerifyJournal, accepts_an_unchanged_journal) { EXPECT_FALSE(is_found()); }

TEST_F(AuditVerifyJournal, each_changed_byte_is_found) {
    for (std::size_t at = 0; at < original_.size(); ++at) {
        std::string changed = original_;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        put(changed);
        ASSERT_TRUE(is_found()) << "byte " << at;
    }
}

TEST_F(AuditVerifyJournal, a_cut_inside_a_line_is_found) {
    for (std::size_t at = 1; at < original_.size(); at += 13) {
        if (original_[at - 1] == '\n') { continue; }
        put(original_.substr(0, at));
        ASSERT_TRUE(is_found()) << "byte " << at;
    }
}

TEST_F(AuditVerifyJournal, finds_swapped_and_missing_lines) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < original_.size();) {
        const std::size_t end = original_.find('\n', begin) + 1;
        lines.push_back(original_.substr(begin, end - begin));
        begin = end;
    }
    const auto joined = [](const std::vector<std::string>& parts) {
        std::string text;
        for (const std::string& part : parts) { text += part; }
        return text;
    };
    for (std::size_t at = 0; at + 1 < lines.size(); ++at) {
        std::vector<std::string> changed = lines;
        std::swap(changed[at], changed[at + 1]);
        put(joined(changed));
        EXPECT_TRUE(is_found()) << "lines " << at << " and the next";
        changed = lines;
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(at));
        put(joined(changed));
        EXPECT_TRUE(is_found()) << "without line " << at;
    }
}

TEST_F(AuditVerifyJournal, finds_the_journal_of_another_task) {
    put(read("paused_at_a_limit"));
    const auto verdict =
        verify_task({"task-20260101-another-00000000", folder_.path(), {}, {}, {}, true}, {processes_, {}, environment_}, Stop{});
    ASSERT_TRUE(verdict.ok());
    EXPECT_FALSE(verdict->holds());
    EXPECT_NE(verdict->findings.front().detail.find("not of task-20260101-another-00000000"), std::string::npos);
}

/// Only data outside the journal shows that whole records are missing at its end.
TEST_F(AuditVerifyJournal, finds_a_missing_last_record_by_the_projection_alone) {
    const fs::path kept = fs::path(AGENTFORGE_SOURCE_DIR) / "tests" / "journals" / "waiting_for_action" / "state.yaml";
    fs::copy_file(kept, folder_.path() / "state.yaml");
    put(original_.substr(0, original_.rfind('\n', original_.size() - 2) + 1));
    EXPECT_FALSE(is_found());
    const auto verdict = verify_task({"", folder_.path(), {}, {}, {}, true}, {processes_, {}, environment_}, Stop{});
    ASSERT_TRUE(verdict.ok());
    EXPECT_TRUE(std::ranges::any_of(verdict->findings, [](const AuditFinding& finding) {
        return finding.part == "projections" && finding.detail.find("its end was cut off") != std::string::npos;
    }));
}

class AuditVerifyBlobs : public ::testing::Test {
protected:
    void SetUp() override {
        BlobStore store(folder_.path());
        for (const std::string_view bytes : {std::string_view("plain"), std::string_view("Grüße\n\"quoted\" \\ back"),
                                             std::string_view("\xff\x00\x80", 3), std::string_view("")}) {
            hashes_.push_back(store.put(bytes).value());
        }
        ASSERT_TRUE(store.sync().ok());
        whole_ = read_file(file_).value();
    }
    BlobCheck check() { return check_blobs(folder_.path()).value(); }

    TemporaryDirectory folder_{"blobs"};
    const fs::path file_ = folder_.path() / "blobs.yaml";
    std::vector<std::string> hashes_;
    std::string whole_;
};

TEST_F(AuditVerifyBlobs, accepts_unchanged_blobs) {
    const BlobCheck found = check();
    EXPECT_TRUE(found.faults.empty());
    for (const std::string& hash : hashes_) { EXPECT_TRUE(found.hashes.contains(hash)); }
    EXPECT_EQ(found.bytes, whole_.size());
}

TEST_F(AuditVerifyBlobs, each_changed_byte_is_found) {
    for (std::size_t at = 0; at < whole_.size(); ++at) {
        for (const unsigned flip : {1U, 0x20U, 0x80U}) {
            std::string changed = whole_;
            changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ flip);
            ASSERT_TRUE(write_file_atomic(file_, changed, Durability::cached).ok());
            ASSERT_FALSE(check().faults.empty()) << "byte " << at << " with " << flip;
        }
    }
}

TEST_F(AuditVerifyBlobs, finds_a_cut_unless_it_removes_whole_blobs) {
    for (std::size_t at = 0; at < whole_.size(); ++at) {
        ASSERT_TRUE(write_file_atomic(file_, whole_.substr(0, at), Durability::cached).ok());
        const BlobCheck found = check();
        // Missing lines are found by the records that refer to them.
        ASSERT_TRUE(!found.faults.empty() || found.hashes.size() < hashes_.size()) << "byte " << at;
    }
}

TEST(CommitTrailers, name_task_and_record) {
    const CommitTrailers trailers =
        trailers_of("Add it\n\nAgentForge-Task: task-1\nAgentForge-Journal: 12:abc\nCo-authored-by: A <a@b>\n");
    EXPECT_EQ(trailers.task_id, "task-1");
    EXPECT_EQ(trailers.seq, 12U);
    EXPECT_EQ(trailers.hash, "abc");
    EXPECT_EQ(trailers_of("Text AgentForge-Task: task-1").task_id, "");
    EXPECT_EQ(trailers_of("x\nAgentForge-Journal: 1x:abc\n").seq, 0U);
}

}  // namespace
}  // namespace agentforge::kernel
