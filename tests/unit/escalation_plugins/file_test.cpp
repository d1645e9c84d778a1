// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"
#include "file/handler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace agentforge::escalation_file {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing_context::Context;

class EscalationFile : public testing::Test {
protected:
    EscalationFile() {
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
    ~EscalationFile() override {
        std::error_code ignored;
        fs::remove_all(root_, ignored);
    }
    [[nodiscard]] fs::path file(const std::string& id) const { return root_ / (id + ".resolution.yaml"); }
    void answer(const std::string& text) const { std::ofstream(file("ESC-1"), std::ios::binary) << text; }
    void decide(const std::string& text) const { std::ofstream(file("APR-1"), std::ios::binary) << text; }
    Result<std::optional<Resolution>> resolution() { return handler_.wait_for_resolution(question_, context_); }
    Result<std::optional<Approval>> approval() { return handler_.wait_for_approval(approval_, context_); }

    fs::path root_;
    Escalation question_;
    ApprovalRequest approval_;
    Context context_;
    FileHandler handler_;
};

TEST_F(EscalationFile, notify_names_the_file_to_write) {
    ASSERT_TRUE(handler_.notify(question_, context_).ok());
    EXPECT_THAT(context_.told, HasSubstr(file("ESC-1").string()));
}

TEST_F(EscalationFile, an_action_is_answered_with_a_change) {
    approval_.id = "ACT-1";
    const auto said = [this](const std::string& text) {
        std::ofstream(file("ACT-1"), std::ios::binary) << text;
        return approval();
    };
    const auto changed = said("approved: true\nedited: {arguments: {path: x.py}}\n");
    EXPECT_TRUE((*changed)->approved);
    EXPECT_EQ((*changed)->feedback, R"({"arguments":{"path":"x.py"}})");
    EXPECT_EQ((*said("approved: false\nfeedback: no\n"))->feedback, "no");
    EXPECT_EQ(said("approved: true\nfeedback: no\n").error().code, "AF-ESC-103");
    EXPECT_EQ(said("approved: false\nedited: {arguments: {}}\n").error().code, "AF-ESC-103");
}

TEST_F(EscalationFile, notify_approval_names_the_file_to_write) {
    ASSERT_TRUE(handler_.notify_approval(approval_, context_).ok());
    EXPECT_THAT(context_.told, HasSubstr(file("APR-1").string()));
}

TEST_F(EscalationFile, without_a_file_it_is_not_answered_yet) {
    auto found = resolution();
    ASSERT_TRUE(found.ok());
    EXPECT_FALSE(found->has_value());
}

TEST_F(EscalationFile, an_empty_file_is_not_written_yet) {
    answer(" \n");
    EXPECT_FALSE(resolution()->has_value());
}

TEST_F(EscalationFile, an_answer_is_the_context) {
    answer("answer: Use PostgreSQL\n");
    auto found = resolution();
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    EXPECT_EQ((*found)->context, (json::object{{"answer", "Use PostgreSQL"}}));
    EXPECT_FALSE((*found)->abort);
}

TEST_F(EscalationFile, a_context_keeps_its_types) {
    answer("abort: false\ncontext: {database: postgres, port: 5432, tls: true, tags: [a, \"7\"], price: 1.50}\n");
    EXPECT_EQ((*resolution())->context, (json::object{{"database", "postgres"}, {"port", 5432}, {"tls", true}, {"tags", {"a", "7"}}, {"price", "1.50"}}));
}

TEST_F(EscalationFile, abort_is_told) {
    answer("abort: true\n");
    EXPECT_TRUE((*resolution())->abort);
}

TEST_F(EscalationFile, the_owner_of_the_file_answered) {
    answer("answer: x\n");
    EXPECT_FALSE((*resolution())->resolved_by.empty());
}

TEST_F(EscalationFile, a_named_person_answered) {
    answer("answer: x\nresolved_by: Ada\n");
    EXPECT_EQ((*resolution())->resolved_by, "Ada");
}

TEST_F(EscalationFile, the_file_is_left) {
    answer("answer: x\n");
    ASSERT_TRUE(resolution()->has_value());
    EXPECT_TRUE(fs::exists(file("ESC-1")));
}

TEST_F(EscalationFile, an_unknown_key_is_named_with_its_line_and_the_file_is_left) {
    answer("answer: x\nabrot: true\n");
    auto found = resolution();
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, "AF-ESC-103");
    EXPECT_THAT(found.error().message, HasSubstr("'abrot' is unknown"));
    EXPECT_THAT(found.error().where, HasSubstr("ESC-1.resolution.yaml:2:"));
    EXPECT_TRUE(fs::exists(file("ESC-1")));
}

class BadFile : public EscalationFile, public testing::WithParamInterface<const char*> {};

TEST_P(BadFile, is_an_error_and_no_answer) {
    answer(GetParam());
    auto found = resolution();
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, "AF-ESC-103");
}

INSTANTIATE_TEST_SUITE_P(EscalationFile, BadFile,
                         testing::Values("abort: yes\n", "abort: \"true\"\n", "abort: false\n", "- answer\n", "just text\n", "answer: [a]\n", "context: 5\n",
                                         "answer: a\nanswer: b\n", "context: {a: 1, a: 2}\n", "answer: a\n---\nanswer: b\n", "answer: 'open\n",
                                         "context: &a {b: 1}\nanswer: *a\n", "answer: a\ncontext: {answer: b}\n", "answer: !!python/object:x {}\n",
                                         "? [a]\n: b\n", "\tanswer: x\n"));

TEST_F(EscalationFile, deep_nesting_is_refused) {
    answer("context: {a: " + std::string(2'000, '[') + std::string(2'000, ']') + "}\n");
    EXPECT_EQ(resolution().error().code, "AF-ESC-103");
}

TEST_F(EscalationFile, a_link_is_not_followed) {
    std::ofstream(root_ / "other") << "answer: x\n";
    fs::create_symlink(root_ / "other", file("ESC-1"));
    EXPECT_EQ(resolution().error().code, "AF-ESC-102");
}

TEST_F(EscalationFile, a_pipe_does_not_block) {
    ASSERT_EQ(::mkfifo(file("ESC-1").c_str(), 0600), 0);
    EXPECT_EQ(resolution().error().code, "AF-ESC-102");
}

TEST_F(EscalationFile, a_huge_file_is_refused) {
    answer("answer: " + std::string(300'000, 'x') + "\n");
    EXPECT_EQ(resolution().error().code, "AF-ESC-102");
}

TEST_F(EscalationFile, an_id_that_is_no_file_name_is_refused) {
    question_.id = "../ESC-1";
    EXPECT_EQ(resolution().error().code, "AF-ESC-101");
}

TEST_F(EscalationFile, cancel_ends_the_wait) {
    context_.until.reset();
    context_.cancel = true;
    EXPECT_FALSE(resolution()->has_value());
}

TEST_F(EscalationFile, an_answer_that_comes_while_waiting_is_seen) {
    context_.until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::thread person([this] {
        std::ofstream(root_ / "new") << "answer: late\n";
        fs::rename(root_ / "new", file("ESC-1"));
    });
    auto found = resolution();
    person.join();
    EXPECT_EQ((*found)->context.at("answer").as_string(), "late");
}

TEST_F(EscalationFile, approved_is_bound_to_the_hash_that_was_shown) {
    decide("approved: true\n");
    auto found = approval();
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    EXPECT_TRUE((*found)->approved);
    EXPECT_EQ((*found)->artifact_hash, "abc");
}

TEST_F(EscalationFile, feedback_comes_with_a_rejection) {
    decide("approved: false\nfeedback: |\n  Split it.\n");
    auto found = approval();
    EXPECT_FALSE((*found)->approved);
    EXPECT_EQ((*found)->feedback, "Split it.\n");
}

TEST_F(EscalationFile, an_approval_of_another_artifact_is_a_conflict) {
    decide("approved: true\nartifact_hash: other\n");
    EXPECT_EQ(approval().error().code, "AF-ESC-104");
    EXPECT_EQ(approval().error().kind, ErrorKind::conflict);
}

TEST_F(EscalationFile, an_approval_must_say_approved) {
    decide("feedback: fine\n");
    EXPECT_EQ(approval().error().code, "AF-ESC-103");
}

}  // namespace
}  // namespace agentforge::escalation_file
