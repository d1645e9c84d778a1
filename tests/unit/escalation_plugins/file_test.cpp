// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"
#include "file/handler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>

namespace agentforge::escalation_file {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing_context::Context;

class FileEscalation : public testing::Test {
protected:
    FileEscalation() {
        std::string pattern = (fs::temp_directory_path() / "agentforge-escalation-XXXXXX").string();
        root_ = ::mkdtemp(pattern.data());
        question_.id = "ESC-1";
        question_.stage = "clarify";
        question_.directory = root_.string();
        approval_.id = "APR-1";
        approval_.stage = "spec";
        approval_.directory = root_.string();
        approval_.artifact_hash = "abc";
    }
    ~FileEscalation() override {
        std::error_code ignored;
        fs::remove_all(root_, ignored);
    }
    [[nodiscard]] fs::path file(const std::string& id) const { return root_ / (id + ".resolution.yaml"); }

    fs::path root_;
    Escalation question_;
    ApprovalRequest approval_;
    Context context_;
    FileHandler handler_;
};

TEST_F(FileEscalation, notify_names_the_file_to_write) {
    ASSERT_TRUE(handler_.notify(question_, context_).ok());
    EXPECT_THAT(context_.messages, HasSubstr(file("ESC-1").string()));
}

TEST_F(FileEscalation, notify_approval_names_the_file_to_write) {
    ASSERT_TRUE(handler_.notify_approval(approval_, context_).ok());
    EXPECT_THAT(context_.messages, HasSubstr(file("APR-1").string()));
}

TEST_F(FileEscalation, an_id_that_is_not_a_file_name_is_refused) {
    question_.id = "../ESC-1";
    EXPECT_EQ(handler_.notify(question_, context_).error().code, "AF-ESC-101");
}

TEST_F(FileEscalation, leaves_the_file_for_the_kernel_to_read) {
    std::ofstream(file("ESC-1")) << "answer: x\n";
    std::ofstream(file("APR-1")) << "approved: true\n";
    EXPECT_FALSE(handler_.wait_for_resolution(question_, context_)->has_value());
    EXPECT_FALSE(handler_.wait_for_approval(approval_, context_)->has_value());
}

TEST_F(FileEscalation, cancel_ends_the_wait) {
    context_.until = std::chrono::steady_clock::now() + std::chrono::hours(1);
    context_.cancel = true;
    EXPECT_FALSE(handler_.wait_for_resolution(question_, context_)->has_value());
    EXPECT_FALSE(handler_.wait_for_approval(approval_, context_)->has_value());
}

}  // namespace
}  // namespace agentforge::escalation_file
