// SPDX-License-Identifier: Apache-2.0
#include "console/handler.hpp"
#include "context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <poll.h>
#include <pty.h>
#include <thread>
#include <unistd.h>

namespace agentforge::escalation_console {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_context::Context;

/// A pseudo-terminal with a person at it, who types once the prompt is there.
class EscalationConsole : public testing::Test {
protected:
    EscalationConsole() {
        if (::openpty(&person_, &terminal_, nullptr, nullptr, nullptr) != 0) { throw std::runtime_error("no pseudo-terminal"); }
        handler_ = std::make_unique<ConsoleHandler>(terminal_, terminal_);
        question_.id = "ESC-1";
        question_.stage = "clarify";
        question_.question = "Which database?";
        question_.options = {"PostgreSQL", "SQLite"};
        approval_.id = "APR-1";
        approval_.stage = "spec";
        approval_.artifact = {{"title", "Slugs"}};
        approval_.artifact_hash = "abc";
        context_.until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    }
    ~EscalationConsole() override {
        ::close(person_);
        ::close(terminal_);
    }
    /// Reads the screen until it ends as the prompts do, then types.
    std::thread types(std::string text, std::string prompt) {
        return std::thread([this, text = std::move(text), prompt = std::move(prompt)] {
            char block[4096];
            while (screen_.find(prompt) == std::string::npos) {
                const ssize_t size = ::read(person_, block, sizeof block);
                if (size <= 0) { return; }
                screen_.append(block, static_cast<std::size_t>(size));
            }
            const ssize_t written = ::write(person_, text.data(), text.size());
            static_cast<void>(written);
        });
    }
    Result<std::optional<Resolution>> asked(const std::string& text) {
        std::thread person = types(text, "later): ");
        auto answer = handler_->wait_for_resolution(question_, context_);
        person.join();
        return answer;
    }
    Result<std::optional<Approval>> decided(const std::string& text) {
        std::thread person = types(text, "feedback] ");
        auto answer = handler_->wait_for_approval(approval_, context_);
        person.join();
        return answer;
    }

    int person_ = -1;
    int terminal_ = -1;
    std::string screen_;
    Escalation question_;
    ApprovalRequest approval_;
    Context context_;
    std::unique_ptr<ConsoleHandler> handler_;
};

TEST_F(EscalationConsole, an_answer_is_taken) {
    question_.options.clear();
    EXPECT_EQ((*asked("MariaDB\n"))->context.at("answer").as_string(), "MariaDB");
}

TEST_F(EscalationConsole, options_are_numbered_and_chosen_by_number) {
    auto answer = asked("2\n");
    EXPECT_THAT(screen_, HasSubstr("1) PostgreSQL"));
    EXPECT_EQ((*answer)->context.at("answer").as_string(), "SQLite");
}

TEST_F(EscalationConsole, a_number_beyond_the_options_is_asked_again) {
    EXPECT_EQ((*asked("7\n1\n"))->context.at("answer").as_string(), "PostgreSQL");
}

TEST_F(EscalationConsole, a_number_is_an_answer_where_there_are_no_options) {
    question_.options.clear();
    EXPECT_EQ((*asked("7\n"))->context.at("answer").as_string(), "7");
}

TEST_F(EscalationConsole, abort_aborts) { EXPECT_TRUE((*asked("abort\n"))->abort); }

TEST_F(EscalationConsole, an_empty_line_is_not_an_answer) { EXPECT_FALSE(asked("\n")->has_value()); }

TEST_F(EscalationConsole, the_end_of_input_is_not_an_answer) { EXPECT_FALSE(asked("\x04")->has_value()); }

TEST_F(EscalationConsole, control_characters_of_a_question_are_shown_escaped) {
    question_.question = "Sure?\x1b[2J\r\u202e hidden";
    ASSERT_TRUE(asked("1\n").ok());
    EXPECT_THAT(screen_, HasSubstr("Sure?\\x1b[2J\\x0d\\u202e hidden"));
    EXPECT_THAT(screen_, Not(HasSubstr("\x1b[2J")));
}

TEST_F(EscalationConsole, lines_of_a_question_cannot_pass_for_our_own) {
    question_.question = "one\nApprove? [y/n/feedback] ";
    ASSERT_TRUE(asked("1\n").ok());
    EXPECT_THAT(screen_, HasSubstr("  | Approve?"));
}

TEST_F(EscalationConsole, what_was_typed_before_the_question_is_no_answer) {
    ASSERT_EQ(::write(person_, "y\n", 2), 2);
    auto answer = decided("n\n");
    EXPECT_FALSE((*answer)->approved);
}

TEST_F(EscalationConsole, y_approves_what_was_shown) {
    auto answer = decided("y\n");
    EXPECT_TRUE((*answer)->approved);
    EXPECT_EQ((*answer)->artifact_hash, "abc");
    EXPECT_THAT(screen_, HasSubstr("Slugs"));
}

TEST_F(EscalationConsole, n_rejects_without_feedback) {
    auto answer = decided("n\n");
    EXPECT_FALSE((*answer)->approved);
    EXPECT_FALSE((*answer)->feedback.has_value());
}

TEST_F(EscalationConsole, any_other_text_is_feedback) {
    auto answer = decided("Split the second requirement\n");
    EXPECT_FALSE((*answer)->approved);
    EXPECT_EQ((*answer)->feedback, "Split the second requirement");
}

TEST_F(EscalationConsole, the_end_of_input_approves_nothing) { EXPECT_FALSE(decided("\x04")->has_value()); }

TEST_F(EscalationConsole, a_deadline_that_has_passed_asks_nothing) {
    context_.until = std::chrono::steady_clock::now();
    EXPECT_FALSE(handler_->wait_for_resolution(question_, context_)->has_value());
    pollfd screen{person_, POLLIN, 0};
    EXPECT_EQ(::poll(&screen, 1, 0), 0);
}

TEST_F(EscalationConsole, a_deadline_ends_the_question) {
    context_.until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    EXPECT_FALSE(handler_->wait_for_resolution(question_, context_)->has_value());
}

TEST_F(EscalationConsole, cancel_ends_the_question) {
    std::thread person([this] {
        char block[4096];
        while (screen_.find("later): ") == std::string::npos) {
            const ssize_t size = ::read(person_, block, sizeof block);
            if (size <= 0) { return; }
            screen_.append(block, static_cast<std::size_t>(size));
        }
        context_.cancel = true;
    });
    EXPECT_FALSE(handler_->wait_for_resolution(question_, context_)->has_value());
    person.join();
}

TEST_F(EscalationConsole, without_a_terminal_it_says_so_and_does_not_answer) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ConsoleHandler handler(ends[0], ends[1]);
    EXPECT_FALSE(handler.wait_for_resolution(question_, context_)->has_value());
    EXPECT_THAT(context_.told, HasSubstr("no terminal"));
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(Shown, bytes_that_are_no_utf8_are_escaped) { EXPECT_EQ(shown("a\xFFz\xC2\x9B" "1m\x7F\xED\xA0\x80"), "a\\xffz\\u009b1m\\x7f\\xed\\xa0\\x80"); }

TEST(Shown, text_in_other_scripts_stays) { EXPECT_EQ(shown("Grüße 你好 😀"), "Grüße 你好 😀"); }

}  // namespace
}  // namespace agentforge::escalation_console
