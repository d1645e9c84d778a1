// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "console/handler.hpp"
#include "console/readable.hpp"
#include "context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <csignal>

#include <poll.h>
#include <pty.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdio>
#include <thread>

namespace agentforge::escalation_console {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_context::Context;

/// A pseudo-terminal with a person who types once the prompt appears.
class ConsoleEscalation : public testing::Test {
protected:
    ConsoleEscalation() {
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
    ~ConsoleEscalation() override {
        ::close(person_);
        ::close(terminal_);
    }
    /// Reads the screen until it ends in the prompt, then types.
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
        std::thread person = types(text, "? [y/n/");
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

TEST_F(ConsoleEscalation, accepts_an_answer) {
    question_.options.clear();
    EXPECT_EQ((*asked("MariaDB\n"))->context.at("answer").as_string(), "MariaDB");
}

TEST_F(ConsoleEscalation, options_are_numbered_and_chosen_by_number) {
    auto answer = asked("2\n");
    EXPECT_THAT(screen_, HasSubstr("1) PostgreSQL"));
    EXPECT_EQ((*answer)->context.at("answer").as_string(), "SQLite");
}

TEST_F(ConsoleEscalation, asks_again_after_a_number_beyond_the_options) {
    EXPECT_EQ((*asked("7\n1\n"))->context.at("answer").as_string(), "PostgreSQL");
}

TEST_F(ConsoleEscalation, a_number_is_an_answer_if_there_are_no_options) {
    question_.options.clear();
    EXPECT_EQ((*asked("7\n"))->context.at("answer").as_string(), "7");
}

TEST_F(ConsoleEscalation, abort_aborts) { EXPECT_TRUE((*asked("abort\n"))->abort); }

TEST_F(ConsoleEscalation, an_empty_line_is_not_an_answer) { EXPECT_FALSE(asked("\n")->has_value()); }

TEST_F(ConsoleEscalation, the_end_of_input_is_not_an_answer) { EXPECT_FALSE(asked("\x04")->has_value()); }

TEST_F(ConsoleEscalation, control_characters_of_a_question_are_shown_escaped) {
    question_.question = "Sure?\x1b[2J\r\u202e hidden";
    ASSERT_TRUE(asked("1\n").ok());
    EXPECT_THAT(screen_, HasSubstr("Sure?\\x1b[2J\\x0d\\u202e hidden"));
    EXPECT_THAT(screen_, Not(HasSubstr("\x1b[2J")));
}

TEST_F(ConsoleEscalation, lines_of_a_question_cannot_pass_for_our_own) {
    question_.question = "one\nApprove? [y/n/feedback] ";
    ASSERT_TRUE(asked("1\n").ok());
    EXPECT_THAT(screen_, HasSubstr("  | Approve?"));
}

TEST_F(ConsoleEscalation, text_typed_before_the_question_is_not_an_answer) {
    ASSERT_EQ(::write(person_, "y\n", 2), 2);
    auto answer = decided("n\n");
    EXPECT_FALSE((*answer)->approved);
}

TEST_F(ConsoleEscalation, y_approves_what_was_shown) {
    auto answer = decided("y\n");
    EXPECT_TRUE((*answer)->approved);
    EXPECT_EQ((*answer)->artifact_hash, "abc");
    EXPECT_THAT(screen_, HasSubstr("Slugs"));
}

TEST_F(ConsoleEscalation, n_rejects_without_feedback) {
    auto answer = decided("n\n");
    EXPECT_FALSE((*answer)->approved);
    EXPECT_FALSE((*answer)->feedback.has_value());
}

TEST_F(ConsoleEscalation, any_other_text_is_feedback) {
    auto answer = decided("Split the second requirement\n");
    EXPECT_FALSE((*answer)->approved);
    EXPECT_EQ((*answer)->feedback, "Split the second requirement");
}

TEST_F(ConsoleEscalation, the_end_of_input_approves_nothing) { EXPECT_FALSE(decided("\x04")->has_value()); }

TEST_F(ConsoleEscalation, asks_again_after_an_unknown_single_letter) {
    auto answer = decided("w\nn\n");
    EXPECT_FALSE((*answer)->feedback.has_value());
    EXPECT_FALSE((*answer)->approved);
}

TEST_F(ConsoleEscalation, asks_again_after_a_line_with_an_arrow_key) {
    EXPECT_TRUE((*decided("\x1b[A\ny\n"))->approved);
    EXPECT_EQ((*asked("2\x1b[D\n1\n"))->context.at("answer").as_string(), "PostgreSQL");
}

TEST_F(ConsoleEscalation, text_longer_than_a_screen_is_cut_and_shown_in_full_on_request) {
    std::string lines;
    for (int line = 1; line <= 60; ++line) { lines += "line " + std::to_string(line) + "\n"; }
    approval_.artifact = {{"text", lines}};
    auto answer = decided("v\ny\n");
    EXPECT_TRUE((*answer)->approved);
    EXPECT_THAT(screen_, HasSubstr("more lines"));
    EXPECT_THAT(screen_, Not(HasSubstr("line 60")));  // The output before the person typed.
}

TEST_F(ConsoleEscalation, shows_known_facts_beside_a_question) {
    question_.context = {{"evidence", {{"gate", "tests"}, {"summary", "2 of 9 fail"}}}};
    ASSERT_TRUE(asked("1\n").ok());
    EXPECT_THAT(screen_, HasSubstr("2 of 9 fail"));
}

/// An action, and an editor that is a command line.
class ConsoleAction : public ConsoleEscalation {
protected:
    ConsoleAction() {
        approval_.id = "ACT-1";
        approval_.artifact = {{"role", "software_developer"},
                              {"stage", "green"},
                              {"tool", "create_file"},
                              {"arguments", {{"path", "src/x.py"}, {"content", "def f():\n    return 1\n"}}}};
    }
    void editor(const std::string& command) { handler_ = std::make_unique<ConsoleHandler>(terminal_, terminal_, command); }
};

TEST_F(ConsoleAction, is_shown_with_each_line_of_its_text_on_its_own_line) {
    EXPECT_TRUE((*decided("y\n"))->approved);
    EXPECT_THAT(screen_, HasSubstr("|         return 1\r\n"));
    EXPECT_THAT(screen_, HasSubstr("src/x.py"));
}

TEST_F(ConsoleAction, is_changed_in_an_editor) {
    editor("sed -i s/return.1/return.2/");
    auto answer = decided("e\n");
    EXPECT_TRUE((*answer)->approved);
    EXPECT_EQ(*(*answer)->feedback,
              "tool: \"create_file\"\narguments:\n  path: \"src/x.py\"\n  content: |\n    def f():\n        return.2\n");
}

TEST_F(ConsoleAction, its_editor_handles_signals_like_any_program) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    editor("sed -i \"s/return.1/0x$(awk '/^SigIgn/ {print $2}' /proc/self/status)/\"");
    const auto answer = decided("e\n");
    std::signal(SIGPIPE, before);
    const std::string& text = (*answer)->feedback.value();
    constexpr unsigned long long pipe_signal = 1ULL << (SIGPIPE - 1U);
    ASSERT_NE(text.find("0x"), std::string::npos) << text;
    EXPECT_EQ(std::stoull(text.substr(text.find("0x")), nullptr, 16) & pipe_signal, 0U) << text;
}

TEST_F(ConsoleAction, left_unchanged_is_not_a_decision) {
    editor("true");
    EXPECT_FALSE((*decided("e\nn\n"))->approved);
}

TEST_F(ConsoleAction, makes_no_decision_if_the_editor_fails) {
    editor("false");
    EXPECT_FALSE((*decided("e\nn\n"))->approved);
}

TEST_F(ConsoleAction, the_end_of_the_wait_ends_the_editor) {
    editor("sleep 60 #");
    context_.until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    EXPECT_FALSE(decided("e\n")->has_value());
}

TEST_F(ConsoleAction, reopens_a_refused_change_as_edited) {
    editor("sed -i 's/return.*/&0/'");
    ASSERT_TRUE((*decided("e\n"))->feedback.has_value());
    screen_.clear();
    EXPECT_THAT(*(*decided("e\n"))->feedback, HasSubstr("return 100"));
}

TEST(ConsoleReadable, quotes_text_that_no_block_can_hold) {
    EXPECT_EQ(readable({{"a", " x\ny"},
                        {"b", "x\r\ny"},
                        {"yes", 1},
                        {"c", json::array{1, json::object{{"d", "e"}}}},
                        {"f", "x\ny"},
                        {"g", json::array()}}),
              "a: \" x\\ny\"\nb: \"x\\r\\ny\"\n\"yes\": 1\nc:\n  - 1\n  - d: \"e\"\nf: |-\n  x\n  y\ng: []\n");
}

TEST_F(ConsoleEscalation, asks_nothing_after_the_deadline) {
    context_.until = std::chrono::steady_clock::now();
    EXPECT_FALSE(handler_->wait_for_resolution(question_, context_)->has_value());
    pollfd screen{person_, POLLIN, 0};
    EXPECT_EQ(::poll(&screen, 1, 0), 0);
}

TEST_F(ConsoleEscalation, a_deadline_ends_the_question) {
    context_.until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    EXPECT_FALSE(handler_->wait_for_resolution(question_, context_)->has_value());
}

TEST_F(ConsoleEscalation, cancel_ends_the_question) {
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

TEST_F(ConsoleEscalation, does_not_answer_without_a_terminal_and_says_so) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ConsoleHandler handler(ends[0], ends[1]);
    context_.until = std::chrono::steady_clock::now();
    EXPECT_FALSE(handler.wait_for_resolution(question_, context_)->has_value());
    EXPECT_THAT(context_.messages, HasSubstr("no terminal"));
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(ConsoleShownText, invalid_utf8_is_escaped) {
    EXPECT_EQ(shown("a\xFFz\xC2\x9B"
                    "1m\x7F\xED\xA0\x80"),
              "a\\xffz\\u009b1m\\x7f\\xed\\xa0\\x80");
}

TEST(ConsoleShownText, text_in_other_scripts_is_unchanged) { EXPECT_EQ(shown("Grüße 你好 😀"), "Grüße 你好 😀"); }

TEST(ConsoleShownText, the_same_characters_are_escaped_as_in_every_other_output) {
    for (unsigned code = 1; code < 0xD800; ++code) {
        if (code == '\n' || code == '\t') { continue; }
        std::array<char, 16> quoted{};
        std::snprintf(quoted.data(), quoted.size(), "[\"\\u%04x\"]", code);
        const auto raw = kernel::parse_json(quoted.data(), "test")->as_array().front().as_string();
        ASSERT_EQ(shown(raw) == raw, !kernel::acts_when_shown(code)) << quoted.data();
    }
}

}  // namespace
}  // namespace agentforge::escalation_console
