// SPDX-License-Identifier: Apache-2.0
#include "template_name.cpp"

#include <agentforge/testing/fake_host.hpp>
#include <gtest/gtest.h>

namespace example {

using agentforge::testing::FakeCallContext;

class TemplateNameChannelTest : public ::testing::Test {
protected:
    TemplateNameChannelTest() {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = std::filesystem::path(::testing::TempDir()) / (std::string("template_name_") + info->name());
        std::filesystem::remove_all(folder_);
        asked_ = {.id = "ESC-1", .task_id = "task-1", .stage = "spec", .issue = "unclear", .question = "Which one?", .options = {"a", "b"}, .context = {}, .created_at = "", .directory = folder_};
        shown_ = {.id = "APR-1", .task_id = "task-1", .stage = "spec", .artifact = {{"title", "It"}}, .artifact_hash = "abc", .created_at = "", .directory = folder_};
    }
    ~TemplateNameChannelTest() override { std::filesystem::remove_all(folder_); }

    void write(const std::string& id, const std::string& text) {
        std::filesystem::create_directories(folder_ / "inbox");
        std::ofstream(folder_ / "inbox" / (id + ".answer.txt")) << text;
    }

    std::filesystem::path folder_;
    Escalation asked_;
    ApprovalRequest shown_;
    TemplateNameChannel channel_{json::object{}};
    FakeCallContext host_;
};

TEST_F(TemplateNameChannelTest, writes_the_question) {
    ASSERT_TRUE(channel_.notify(asked_, host_).ok());
    std::ifstream file(folder_ / "inbox" / "ESC-1.question.txt");
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "Which one?");
    EXPECT_EQ(host_.progress_lines().size(), 1U);
}

TEST_F(TemplateNameChannelTest, has_no_answer_yet) { EXPECT_FALSE(channel_.wait_for_resolution(asked_, host_)->has_value()); }

TEST_F(TemplateNameChannelTest, waits_no_longer_than_the_deadline) {
    host_.set_deadline(std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
    EXPECT_FALSE(channel_.wait_for_resolution(asked_, host_)->has_value());
}

TEST_F(TemplateNameChannelTest, stops_waiting_when_it_is_cancelled) {
    host_.set_deadline(std::chrono::steady_clock::now() + std::chrono::hours(1));
    host_.cancel();
    EXPECT_FALSE(channel_.wait_for_approval(shown_, host_)->has_value());
}

TEST_F(TemplateNameChannelTest, reads_the_answer) {
    write("ESC-1", "b\n");
    EXPECT_EQ(channel_.wait_for_resolution(asked_, host_).value()->context.at("answer"), "b");
}

TEST_F(TemplateNameChannelTest, ends_the_task_on_abort) {
    write("ESC-1", "abort\n");
    EXPECT_TRUE(channel_.wait_for_resolution(asked_, host_).value()->abort);
}

TEST_F(TemplateNameChannelTest, binds_an_approval_to_what_was_shown) {
    write("APR-1", "yes\n");
    const auto approval = channel_.wait_for_approval(shown_, host_).value();
    EXPECT_TRUE(approval->approved);
    EXPECT_EQ(approval->artifact_hash, "abc");
}

TEST_F(TemplateNameChannelTest, passes_feedback_on) {
    write("APR-1", "no the title is wrong\n");
    const auto approval = channel_.wait_for_approval(shown_, host_).value();
    EXPECT_FALSE(approval->approved);
    EXPECT_EQ(approval->feedback, "the title is wrong");
}

TEST_F(TemplateNameChannelTest, refuses_an_answer_that_is_neither_yes_nor_no) {
    write("APR-1", "perhaps\n");
    EXPECT_EQ(channel_.wait_for_approval(shown_, host_).error().kind, ErrorKind::invalid);
}

TEST_F(TemplateNameChannelTest, refuses_an_id_that_leaves_its_folder) {
    asked_.id = "../ESC-1";
    EXPECT_FALSE(channel_.notify(asked_, host_).ok());
}

TEST_F(TemplateNameChannelTest, refuses_a_relative_folder) { EXPECT_FALSE(agentforge::testing::make<TemplateNameChannel>({{"folder", "inbox"}}).ok()); }

}  // namespace example
