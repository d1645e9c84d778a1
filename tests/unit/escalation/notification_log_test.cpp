// SPDX-License-Identifier: Apache-2.0
#include "escalation/notification_log.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/clock.hpp"

namespace agentforge::kernel {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

NotificationState::Time time_after_question(int minutes_later) {
    return std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} + minutes(minutes_later);
}
constexpr const char* asked_at = "2026-01-02T00:00:00.000Z";

TEST(NotificationState, a_handler_that_never_notified_owes_the_question) {
    EXPECT_TRUE(NotificationState().is_due("webhook", time_after_question(0)));
}

TEST(NotificationState, a_handler_that_notified_owes_nothing) {
    NotificationState notifications;
    notifications.succeeded("webhook");
    EXPECT_FALSE(notifications.is_due("webhook", time_after_question(600)));
    EXPECT_TRUE(notifications.is_due("console", time_after_question(600)));
}

TEST(NotificationState, a_failed_handler_waits_a_minute_then_two_then_at_most_an_hour) {
    NotificationState notifications;
    notifications.failed("webhook", "no network", time_after_question(0));
    EXPECT_FALSE(notifications.is_due("webhook", time_after_question(0) + seconds(59)));
    EXPECT_TRUE(notifications.is_due("webhook", time_after_question(1)));
    notifications.failed("webhook", "no network", time_after_question(1));
    EXPECT_FALSE(notifications.is_due("webhook", time_after_question(2)));
    EXPECT_TRUE(notifications.is_due("webhook", time_after_question(3)));
    for (int tries = 0; tries < 40; ++tries) { notifications.failed("webhook", "no network", time_after_question(3)); }
    EXPECT_FALSE(notifications.is_due("webhook", time_after_question(3 + 59)));
    EXPECT_TRUE(notifications.is_due("webhook", time_after_question(3 + 60)));
    EXPECT_EQ(notifications.handlers.at("webhook").tries, 42U);
}

TEST(NotificationState, a_resume_does_not_wait_for_the_retry_delay) {
    NotificationState notifications;
    notifications.failed("webhook", "no network", time_after_question(0));
    EXPECT_TRUE(notifications.is_due("webhook", time_after_question(0), true));
}

TEST(NotificationState, a_wrong_clock_silences_no_handler_for_long) {
    NotificationState notifications;
    notifications.failed("webhook", "no network", time_after_question(100'000));
    EXPECT_TRUE(notifications.is_due("webhook", time_after_question(0)));
}

TEST(NotificationState, reminders_come_at_their_interval_up_to_their_limit) {
    const ReminderPolicy policy{hours(1), 2};
    NotificationState notifications;
    EXPECT_FALSE(notifications.remind(asked_at, time_after_question(59), policy));
    EXPECT_TRUE(notifications.remind(asked_at, time_after_question(70), policy));
    EXPECT_FALSE(notifications.remind(asked_at, time_after_question(129), policy));
    EXPECT_TRUE(notifications.remind(asked_at, time_after_question(130), policy));
    EXPECT_FALSE(notifications.remind(asked_at, time_after_question(100'000), policy));
    EXPECT_EQ(notifications.reminder, 2U);
}

TEST(NotificationState, missed_reminders_are_sent_as_one) {
    const ReminderPolicy policy{hours(1), 9};
    NotificationState notifications;
    EXPECT_TRUE(notifications.remind(asked_at, time_after_question(600), policy));
    EXPECT_FALSE(notifications.remind(asked_at, time_after_question(601), policy));
    EXPECT_EQ(notifications.reminder, 1U);
}

TEST(NotificationState, only_a_handler_that_notified_owes_a_reminder) {
    NotificationState notifications;
    notifications.succeeded("webhook");
    ASSERT_TRUE(notifications.remind(asked_at, time_after_question(60), {hours(1), 1}));
    EXPECT_TRUE(notifications.is_due("webhook", time_after_question(60)));
    notifications.succeeded("webhook");
    EXPECT_FALSE(notifications.is_due("webhook", time_after_question(60)));
}

TEST(NotificationState, no_interval_means_no_reminders) {
    NotificationState notifications;
    EXPECT_FALSE(notifications.remind(asked_at, time_after_question(1'000'000), {seconds(0), 3}));
}

class NotificationLogTest : public ::testing::Test {
protected:
    NotificationLogTest() : temporary_("told-test"), log_(temporary_.path()) {
        std::ofstream(temporary_.path() / "ESC-1.yaml") << "id: ESC-1\n";
    }
    TemporaryDirectory temporary_;
    NotificationLog log_;
};

TEST_F(NotificationLogTest, reads_back_what_it_wrote) {
    NotificationState notifications;
    notifications.succeeded("file");
    notifications.failed("webhook", "no network", time_after_question(0));
    ASSERT_TRUE(notifications.remind(asked_at, time_after_question(60), {hours(1), 1}));
    ASSERT_TRUE(log_.write("ESC-1", notifications, {"2026-01-03T00:00:00.000Z", "abort", ""}).ok());
    const NotificationState read = log_.read("ESC-1");
    EXPECT_EQ(read.reminder, 1U);
    EXPECT_EQ(read.reminded_at, notifications.reminded_at);
    EXPECT_EQ(read.handlers.at("file").sent, 1U);
    EXPECT_EQ(read.handlers.at("webhook").tries, 1U);
    EXPECT_EQ(read.handlers.at("webhook").error, "no network");
    EXPECT_EQ(read.handlers.at("webhook").next_try, "2026-01-02T00:01:00.000Z");
}

TEST_F(NotificationLogTest, an_unreadable_log_owes_every_notification) {
    std::filesystem::create_directories(log_.file("ESC-1").parent_path());
    for (const char* bytes :
         {"", "{", "[]", R"({"handlers": 3, "reminder": -1})", R"({"handlers": {"webhook": {"told": "x"}}})"}) {
        std::ofstream(log_.file("ESC-1")) << bytes;
        EXPECT_TRUE(log_.read("ESC-1").is_due("webhook", time_after_question(0))) << bytes;
    }
}

TEST_F(NotificationLogTest, only_one_process_notifies_at_a_time) {
    const auto first = log_.lock("ESC-1");
    ASSERT_TRUE(first.ok());
    EXPECT_TRUE(first->valid());
    const auto second = log_.lock("ESC-1");
    ASSERT_TRUE(second.ok());
    EXPECT_FALSE(second->valid());
}

TEST_F(NotificationLogTest, a_missing_question_cannot_be_sent) {
    const auto held = log_.lock("ESC-2");
    ASSERT_FALSE(held.ok());
    EXPECT_EQ(held.error().code, "AF-ESC-056");
}

TEST_F(NotificationLogTest, an_unwritable_folder_is_reported) {
    std::ofstream(temporary_.path() / ".told") << "in the way";
    const auto written = log_.write("ESC-1", NotificationState(), {});
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, "AF-ESC-056");
}

TEST(DeadlinePolicy, no_timeout_means_no_deadline) { EXPECT_EQ(DeadlinePolicy{}.of(asked_at, {"a"}, false), AnswerDeadline{}); }

TEST(DeadlinePolicy, the_deadline_counts_from_the_question) {
    EXPECT_EQ((DeadlinePolicy{hours(24), "abort", ""}.of(asked_at, {"a"}, false)),
              (AnswerDeadline{"2026-01-03T00:00:00.000Z", "abort", ""}));
}

TEST(DeadlinePolicy, the_default_is_the_first_option_unless_the_settings_name_one) {
    EXPECT_EQ((DeadlinePolicy{hours(1), "default", ""}.of(asked_at, {"a", "b"}, false)).default_answer, "a");
    EXPECT_EQ((DeadlinePolicy{hours(1), "default", "do nothing"}.of(asked_at, {"a", "b"}, false)).default_answer, "do nothing");
    EXPECT_EQ((DeadlinePolicy{hours(1), "default", ""}.of(asked_at, {}, false)).default_answer, "");
}

TEST(DeadlinePolicy, a_deadline_never_approves) {
    const AnswerDeadline deadline = DeadlinePolicy{hours(1), "default", "yes"}.of(asked_at, {}, true);
    EXPECT_EQ(deadline.then, "pause");
    EXPECT_EQ(deadline.default_answer, "");
}

}  // namespace
}  // namespace agentforge::kernel
