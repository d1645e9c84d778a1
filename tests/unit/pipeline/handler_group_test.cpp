// SPDX-License-Identifier: Apache-2.0
#include "pipeline/people/handler_group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "base/files.hpp"
#include "unit/no_threads.hpp"

namespace agentforge::kernel {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Follows the test's script, and records its calls.
class ScriptedHandler final : public EscalationHandler {
public:
    std::function<Result<void>(const Escalation&)> on_notify = [](const Escalation&) { return Result<void>(); };
    std::function<Result<std::optional<Resolution>>(CallContext&)> on_wait = [](CallContext&) {
        return Result<std::optional<Resolution>>(std::optional<Resolution>());
    };
    std::atomic<unsigned> notified{0};
    std::atomic<unsigned> asked{0};

    [[nodiscard]] std::string name() const override { return "scripted"; }
    [[nodiscard]] Result<void> notify(const Escalation& escalation, CallContext&) override {
        ++notified;
        return on_notify(escalation);
    }
    [[nodiscard]] Result<std::optional<Resolution>> wait_for_resolution(const Escalation&, CallContext& context) override {
        ++asked;
        return on_wait(context);
    }
    [[nodiscard]] Result<void> notify_approval(const ApprovalRequest&, CallContext&) override {
        ++notified;
        return {};
    }
    [[nodiscard]] Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest&, CallContext& context) override {
        while (!context.cancelled()) { ::poll(nullptr, 0, 1); }
        return std::optional<Approval>();
    }
};

Result<std::optional<Resolution>> until_cancelled(CallContext& context) {
    while (!context.cancelled()) { ::poll(nullptr, 0, 1); }
    return std::optional<Resolution>();
}

class GroupCallContext final : public CallContext {
public:
    [[nodiscard]] bool cancelled() const noexcept override { return false; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return until; }
    void log(LogLevel, std::string_view message, const json::object&) override { logged += std::string(message) + "\n"; }
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return {}; }
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::string logged;
};

Error no_network() { return Error{"AF-TEST-001", "no network", "", "", ErrorKind::transient}; }

class HandlerGroupTest : public ::testing::Test {
protected:
    HandlerGroupTest() : temporary_("handler-group-test"), store_(temporary_.path()) {}

    HandlerGroup& group(DeadlinePolicy policy = {}, ReminderPolicy reminders = {}) {
        escalation_.id = id;
        escalation_.task_id = "task-1";
        escalation_.stage = "green";
        escalation_.question = "Which?";
        escalation_.options = {"left", "right"};
        escalation_.created_at = format_time(clock_.now());
        escalation_.directory = store_.directory().string();
        EXPECT_TRUE(store_.record(escalation_, policy.of(escalation_.created_at, escalation_.options, false)).ok());
        return again(reminders);
    }
    /// Simulates another process.
    HandlerGroup& again(ReminderPolicy reminders = {}) {
        HandlerGroupOptions options{.clock = clock_, .store = store_};
        options.reminders = reminders;
        options.grace = milliseconds(50);
        options.poll_interval = milliseconds(0);
        options.left_behind = [this] { left_behind_ = true; };
        group_ = std::make_unique<HandlerGroup>(std::vector<GroupedHandler>{{"first", first_}, {"second", second_}}, options);
        return *group_;
    }
    /// A request for approval that was not answered within its hour.
    ApprovalRequest overdue_approval(const std::string& action, const std::string& answer) {
        static_cast<void>(group());
        ApprovalRequest request;
        request.id = "APR-task-1-spec-1";
        request.task_id = "task-1";
        request.stage = "spec";
        request.artifact_hash = std::string(64, 'a');
        request.created_at = format_time(clock_.now());
        EXPECT_TRUE(
            store_.record(request, DeadlinePolicy{std::chrono::hours(1), action, answer}.of(request.created_at, {}, true)).ok());
        clock_.advance(std::chrono::hours(1));
        return request;
    }
    [[nodiscard]] json::object notification_file() const {
        const auto text = read_file(NotificationLog(store_.directory()).file(id));
        return text.ok() ? json::parse(*text).as_object() : json::object();
    }

    static constexpr const char* id = "ESC-task-1-green-1";
    TemporaryDirectory temporary_;
    EscalationStore store_;
    FakeClock clock_;
    Escalation escalation_;
    std::shared_ptr<ScriptedHandler> first_ = std::make_shared<ScriptedHandler>();
    std::shared_ptr<ScriptedHandler> second_ = std::make_shared<ScriptedHandler>();
    GroupCallContext context_;
    std::atomic<bool> left_behind_{false};
    std::unique_ptr<HandlerGroup> group_;
};

TEST_F(HandlerGroupTest, each_handler_notifies_once) {
    ASSERT_TRUE(group().notify(escalation_, context_).ok());
    ASSERT_TRUE(again().notify(escalation_, context_).ok());
    EXPECT_EQ(first_->notified, 1U);
    EXPECT_EQ(second_->notified, 1U);
}

TEST_F(HandlerGroupTest, notifies_sequentially_if_no_thread_is_available) {
    const NoThreads none;
    ASSERT_TRUE(group().notify(escalation_, context_).ok());
    EXPECT_EQ(first_->notified, 1U);
    EXPECT_EQ(second_->notified, 1U);
}

TEST_F(HandlerGroupTest, a_failed_handler_does_not_block_others) {
    first_->on_notify = [](const Escalation&) { return Result<void>(no_network()); };
    const auto notified = group().notify(escalation_, context_);
    ASSERT_FALSE(notified.ok());
    EXPECT_EQ(notified.error().code, "AF-TEST-001");
    EXPECT_EQ(second_->notified, 1U);
}

TEST_F(HandlerGroupTest, a_failed_handler_retries_after_its_delay) {
    first_->on_notify = [](const Escalation&) { return Result<void>(no_network()); };
    ASSERT_FALSE(group().notify(escalation_, context_).ok());
    first_->on_notify = [](const Escalation&) { return Result<void>(); };
    EXPECT_THAT(again().process_due(id, context_, false).notified, IsEmpty()) << "not before its pause is over";
    clock_.advance(std::chrono::minutes(1));
    EXPECT_THAT(again().process_due(id, context_, false).notified, ElementsAre("first"));
    EXPECT_THAT(again().process_due(id, context_, true).notified, IsEmpty());
    EXPECT_EQ(second_->notified, 1U);
}

TEST_F(HandlerGroupTest, a_resume_retries_without_delay) {
    first_->on_notify = [](const Escalation&) { return Result<void>(no_network()); };
    ASSERT_FALSE(group().notify(escalation_, context_).ok());
    first_->on_notify = [](const Escalation&) { return Result<void>(); };
    EXPECT_THAT(again().process_due(id, context_, true).notified, ElementsAre("first"));
}

TEST_F(HandlerGroupTest, a_notification_lost_in_a_crash_is_still_due) {
    HandlerGroup& after_the_crash = group();
    EXPECT_THAT(after_the_crash.process_due(id, context_, true).notified, ElementsAre("first", "second"));
}

TEST_F(HandlerGroupTest, a_repeated_notification_has_the_same_number) {
    unsigned seen = 99;
    first_->on_notify = [&](const Escalation&) {
        seen = static_cast<unsigned>(notification_file().at("reminder").as_int64());
        return Result<void>(no_network());
    };
    ASSERT_FALSE(group().notify(escalation_, context_).ok());
    EXPECT_EQ(seen, 0U);
    clock_.advance(std::chrono::hours(1));
    ASSERT_FALSE(again().process_due(id, context_, true).problems.empty());
    EXPECT_EQ(seen, 0U);
}

TEST_F(HandlerGroupTest, reminders_are_numbered_and_stop_at_the_limit) {
    const ReminderPolicy policy{std::chrono::hours(1), 2};
    ASSERT_TRUE(group({}, policy).notify(escalation_, context_).ok());
    for (const unsigned expected : {1U, 2U}) {
        clock_.advance(std::chrono::hours(1));
        const ProcessedDue done = again(policy).process_due(id, context_, false);
        EXPECT_EQ(done.reminder, expected);
        EXPECT_THAT(done.notified, ElementsAre("first", "second"));
    }
    clock_.advance(std::chrono::hours(100));
    EXPECT_THAT(again(policy).process_due(id, context_, true).notified, IsEmpty());
}

TEST_F(HandlerGroupTest, an_answered_question_is_left_alone) {
    HandlerGroup& handlers = group();
    ASSERT_TRUE(store_.resolve(id, Resolution{false, {{"answer", "left"}}, "ada"}).ok());
    EXPECT_THAT(handlers.process_due(id, context_, true).notified, IsEmpty());
    EXPECT_EQ(first_->notified, 0U);
}

TEST_F(HandlerGroupTest, a_passed_deadline_aborts_if_configured) {
    HandlerGroup& handlers = group({std::chrono::hours(2), "abort", ""});
    clock_.advance(std::chrono::hours(2));
    EXPECT_EQ(handlers.process_due(id, context_, false).deadline_answer, "abort");
    const auto answer = store_.resolution(id);
    ASSERT_TRUE(answer.ok() && answer->has_value());
    EXPECT_TRUE((*answer)->abort);
    EXPECT_EQ((*answer)->resolved_by, "deadline");
}

TEST_F(HandlerGroupTest, a_passed_deadline_answers_with_the_first_option) {
    HandlerGroup& handlers = group({std::chrono::hours(2), "default", ""});
    clock_.advance(std::chrono::hours(2));
    EXPECT_EQ(handlers.process_due(id, context_, false).deadline_answer, "default");
    const auto answer = store_.resolution(id);
    ASSERT_TRUE(answer.ok() && answer->has_value());
    EXPECT_EQ((*answer)->context.at("answer"), "left");
}

TEST_F(HandlerGroupTest, nothing_is_answered_before_the_deadline) {
    HandlerGroup& handlers = group({std::chrono::hours(2), "abort", ""});
    clock_.advance(std::chrono::hours(2) - milliseconds(1));
    EXPECT_EQ(handlers.process_due(id, context_, false).deadline_answer, "");
    EXPECT_FALSE(store_.answer_version(id));
}

TEST_F(HandlerGroupTest, a_deadline_that_pauses_leaves_the_question_open_and_says_so) {
    HandlerGroup& handlers = group({std::chrono::hours(2), "pause", ""});
    clock_.advance(std::chrono::hours(3));
    const ProcessedDue done = handlers.process_due(id, context_, false);
    EXPECT_TRUE(done.overdue);
    EXPECT_EQ(done.deadline_answer, "");
    EXPECT_FALSE(store_.answer_version(id));
}

TEST_F(HandlerGroupTest, a_deadline_never_approves) {
    const ApprovalRequest request = overdue_approval("default", "yes");
    EXPECT_TRUE(group_->process_due(request.id, context_, false).overdue);
    EXPECT_FALSE(store_.answer_version(request.id));
}

TEST_F(HandlerGroupTest, a_deadline_that_aborts_rejects_an_approval) {
    const ApprovalRequest request = overdue_approval("abort", "");
    EXPECT_EQ(group_->process_due(request.id, context_, false).deadline_answer, "abort");
    const auto decision = store_.decision(request.id);
    ASSERT_TRUE(decision.ok() && decision->has_value());
    EXPECT_FALSE((*decision)->approved);
    EXPECT_FALSE((*decision)->feedback);
}

TEST_F(HandlerGroupTest, the_first_answer_wins_and_the_others_are_cancelled) {
    first_->on_wait = until_cancelled;
    second_->on_wait = [](CallContext&) {
        return Result<std::optional<Resolution>>(Resolution{false, {{"answer", "right"}}, "ada"});
    };
    const auto answer = group().wait_for_resolution(escalation_, context_);
    ASSERT_TRUE(answer.ok() && answer->has_value());
    EXPECT_EQ((*answer)->context.at("answer"), "right");
    EXPECT_EQ(first_->asked, 1U);
    EXPECT_FALSE(left_behind_);
}

TEST_F(HandlerGroupTest, a_handler_that_cannot_ask_does_not_block_others) {
    first_->on_wait = [](CallContext&) { return Result<std::optional<Resolution>>(no_network()); };
    second_->on_wait = [this](CallContext&) {
        while (context_.logged.empty() && first_->asked == 0) { ::poll(nullptr, 0, 1); }
        return Result<std::optional<Resolution>>(Resolution{false, {{"answer", "right"}}, "ada"});
    };
    const auto answer = group().wait_for_resolution(escalation_, context_);
    ASSERT_TRUE(answer.ok() && answer->has_value());
}

TEST_F(HandlerGroupTest, waits_for_the_deadline_even_without_a_usable_handler) {
    static_cast<void>(group({std::chrono::hours(1), "abort", ""}));
    clock_.advance(std::chrono::hours(1));
    HandlerGroup refused({{"first", first_, no_network()}},
                         HandlerGroupOptions{.clock = clock_, .store = store_, .poll_interval = milliseconds(0)});
    const auto answer = refused.wait_for_resolution(escalation_, context_);
    ASSERT_TRUE(answer.ok() && answer->has_value());
    EXPECT_EQ((*answer)->resolved_by, "deadline");
    EXPECT_EQ(first_->asked, 0U);
}

TEST_F(HandlerGroupTest, keeps_waiting_if_every_handler_fails) {
    first_->on_wait = second_->on_wait = [](CallContext&) { return Result<std::optional<Resolution>>(no_network()); };
    context_.until = std::chrono::steady_clock::now() + milliseconds(200);
    const auto answer = group().wait_for_resolution(escalation_, context_);
    ASSERT_TRUE(answer.ok());
    EXPECT_FALSE(answer->has_value());
    EXPECT_GE(std::chrono::steady_clock::now(), context_.until);
    EXPECT_EQ(context_.logged, no_network().to_string() + "\n" + no_network().to_string() + "\n") << "each is named once";
}

TEST_F(HandlerGroupTest, an_unavailable_handler_ends_the_wait_if_it_is_the_only_one) {
    first_->on_wait = [](CallContext&) { return Result<std::optional<Resolution>>(no_network()); };
    const auto answer = group().wait_for_resolution(escalation_, context_);
    ASSERT_TRUE(answer.ok());
    EXPECT_FALSE(answer->has_value());
    EXPECT_LT(std::chrono::steady_clock::now(), context_.until);
}

TEST_F(HandlerGroupTest, reminders_are_sent_during_the_wait) {
    const ReminderPolicy policy{std::chrono::hours(1), 1};
    first_->on_wait = [this](CallContext& context) {
        clock_.advance(std::chrono::hours(1));
        while (second_->notified < 2 && !context.cancelled()) { ::poll(nullptr, 0, 1); }
        return Result<std::optional<Resolution>>(Resolution{false, {{"answer", "left"}}, "ada"});
    };
    HandlerGroup& handlers = group({}, policy);
    ASSERT_TRUE(handlers.notify(escalation_, context_).ok());
    const auto answer = handlers.wait_for_resolution(escalation_, context_);
    ASSERT_TRUE(answer.ok() && answer->has_value());
    EXPECT_EQ(second_->notified, 2U);
}

TEST_F(HandlerGroupTest, a_deadline_that_passes_during_the_wait_is_the_answer) {
    first_->on_wait = [this](CallContext& context) {
        clock_.advance(std::chrono::hours(1));
        return until_cancelled(context);
    };
    second_->on_wait = until_cancelled;
    const auto answer = group({std::chrono::hours(1), "abort", ""}).wait_for_resolution(escalation_, context_);
    ASSERT_TRUE(answer.ok() && answer->has_value());
    EXPECT_TRUE((*answer)->abort);
    EXPECT_EQ((*answer)->resolved_by, "deadline");
}

TEST_F(HandlerGroupTest, a_hanging_handler_is_abandoned_and_named) {
    const auto open = std::make_shared<std::atomic<bool>>(false);
    const auto gone = std::make_shared<std::atomic<bool>>(false);
    first_->on_notify = [open, gone](const Escalation&) {
        while (!*open) { ::poll(nullptr, 0, 1); }
        *gone = true;
        return Result<void>();
    };
    context_.until = std::chrono::steady_clock::now();
    const auto notified = group().notify(escalation_, context_);
    ASSERT_FALSE(notified.ok());
    EXPECT_EQ(notified.error().code, "AF-ESC-057");
    EXPECT_THAT(notified.error().message, HasSubstr("`first`"));
    EXPECT_EQ(second_->notified, 1U);
    EXPECT_TRUE(left_behind_);
    *open = true;
    while (!*gone) { ::poll(nullptr, 0, 1); }
}

TEST_F(HandlerGroupTest, a_refused_handler_is_reported_each_time_and_never_called) {
    static_cast<void>(group());
    HandlerGroupOptions options{.clock = clock_, .store = store_};
    HandlerGroup handlers({{"first", first_, no_network()}, {"second", second_}}, options);
    EXPECT_EQ(handlers.notify(escalation_, context_).error().code, "AF-TEST-001");
    EXPECT_EQ(first_->notified, 0U);
    EXPECT_EQ(second_->notified, 1U);
}

TEST_F(HandlerGroupTest, secrets_are_not_sent_to_handlers) {
    const Redactor redactor({{"KEY", "hunter2-hunter2-hunter2"}}, {}, std::string(64, '1'));
    static_cast<void>(group());
    std::string seen;
    first_->on_notify = [&seen](const Escalation& notified) {
        seen = notified.question + notified.options.front() + json::serialize(notified.context);
        return Result<void>();
    };
    escalation_.question = "Is hunter2-hunter2-hunter2 right?";
    escalation_.options = {"hunter2-hunter2-hunter2"};
    escalation_.context = {{"log", "key hunter2-hunter2-hunter2"}};
    HandlerGroup handlers({{"first", first_}}, HandlerGroupOptions{.clock = clock_, .store = store_, .redactor = redactor});
    ASSERT_TRUE(handlers.notify(escalation_, context_).ok());
    EXPECT_THAT(seen, ::testing::Not(HasSubstr("hunter2")));
    EXPECT_THAT(seen, HasSubstr("Is "));
}

}  // namespace
}  // namespace agentforge::kernel
