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

TEST_F(TemplateNameChannelTest, WritesTheQuestion) {
    ASSERT_TRUE(channel_.notify(asked_, host_).ok());
    std::ifstream file(folder_ / "inbox" / "ESC-1.question.txt");
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "Which one?");
    EXPECT_EQ(host_.progress_lines().size(), 1U);
}

TEST_F(TemplateNameChannelTest, HasNoAnswerYet) { EXPECT_FALSE(channel_.wait_for_resolution(asked_, host_)->has_value()); }

TEST_F(TemplateNameChannelTest, WaitsNoLongerThanTheDeadline) {
    host_.set_deadline(std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
    EXPECT_FALSE(channel_.wait_for_resolution(asked_, host_)->has_value());
}

TEST_F(TemplateNameChannelTest, StopsWaitingWhenItIsCancelled) {
    host_.set_deadline(std::chrono::steady_clock::now() + std::chrono::hours(1));
    host_.cancel();
    EXPECT_FALSE(channel_.wait_for_approval(shown_, host_)->has_value());
}

TEST_F(TemplateNameChannelTest, ReadsTheAnswer) {
    write("ESC-1", "b\n");
    EXPECT_EQ(channel_.wait_for_resolution(asked_, host_).value()->context.at("answer"), "b");
}

TEST_F(TemplateNameChannelTest, EndsTheTaskOnAbort) {
    write("ESC-1", "abort\n");
    EXPECT_TRUE(channel_.wait_for_resolution(asked_, host_).value()->abort);
}

TEST_F(TemplateNameChannelTest, BindsAnApprovalToWhatWasShown) {
    write("APR-1", "yes\n");
    const auto approval = channel_.wait_for_approval(shown_, host_).value();
    EXPECT_TRUE(approval->approved);
    EXPECT_EQ(approval->artifact_hash, "abc");
}

TEST_F(TemplateNameChannelTest, PassesFeedbackOn) {
    write("APR-1", "no the title is wrong\n");
    const auto approval = channel_.wait_for_approval(shown_, host_).value();
    EXPECT_FALSE(approval->approved);
    EXPECT_EQ(approval->feedback, "the title is wrong");
}

TEST_F(TemplateNameChannelTest, RefusesAnAnswerThatIsNeitherYesNorNo) {
    write("APR-1", "perhaps\n");
    EXPECT_EQ(channel_.wait_for_approval(shown_, host_).error().kind, ErrorKind::invalid);
}

TEST_F(TemplateNameChannelTest, RefusesAnIdThatLeavesItsFolder) {
    asked_.id = "../ESC-1";
    EXPECT_FALSE(channel_.notify(asked_, host_).ok());
}

TEST_F(TemplateNameChannelTest, RefusesARelativeFolder) { EXPECT_FALSE(agentforge::testing::make<TemplateNameChannel>({{"folder", "inbox"}}).ok()); }

}  // namespace example
