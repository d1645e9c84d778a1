// SPDX-License-Identifier: Apache-2.0
#include "escalation/told.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/clock.hpp"

namespace agentforge::kernel {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

Told::Time told_time(int minutes_later) {
    return std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} + minutes(minutes_later);
}
constexpr const char* asked_at = "2026-01-02T00:00:00.000Z";

TEST(Told, WhoWasNeverToldOwesTheQuestion) { EXPECT_TRUE(Told().owes("webhook", told_time(0))); }

TEST(Told, WhoHasToldOwesNothing) {
    Told told;
    told.arrived("webhook");
    EXPECT_FALSE(told.owes("webhook", told_time(600)));
    EXPECT_TRUE(told.owes("console", told_time(600)));
}

TEST(Told, WhoFailedWaitsAMinuteThenTwoThenAtMostAnHour) {
    Told told;
    told.failed("webhook", "no network", told_time(0));
    EXPECT_FALSE(told.owes("webhook", told_time(0) + seconds(59)));
    EXPECT_TRUE(told.owes("webhook", told_time(1)));
    told.failed("webhook", "no network", told_time(1));
    EXPECT_FALSE(told.owes("webhook", told_time(2)));
    EXPECT_TRUE(told.owes("webhook", told_time(3)));
    for (int tries = 0; tries < 40; ++tries) { told.failed("webhook", "no network", told_time(3)); }
    EXPECT_FALSE(told.owes("webhook", told_time(3 + 59)));
    EXPECT_TRUE(told.owes("webhook", told_time(3 + 60)));
    EXPECT_EQ(told.handlers.at("webhook").tries, 42U);
}

TEST(Told, WhoResumesDoesNotWaitForThePause) {
    Told told;
    told.failed("webhook", "no network", told_time(0));
    EXPECT_TRUE(told.owes("webhook", told_time(0), true));
}

TEST(Told, AClockThatWasWrongSilencesNobodyForLong) {
    Told told;
    told.failed("webhook", "no network", told_time(100'000));
    EXPECT_TRUE(told.owes("webhook", told_time(0)));
}

TEST(Told, RemindersComeAfterTheirTimeAndEndAtTheirNumber) {
    const ReminderPolicy policy{hours(1), 2};
    Told told;
    EXPECT_FALSE(told.remind(asked_at, told_time(59), policy));
    EXPECT_TRUE(told.remind(asked_at, told_time(70), policy));
    EXPECT_FALSE(told.remind(asked_at, told_time(129), policy));
    EXPECT_TRUE(told.remind(asked_at, told_time(130), policy));
    EXPECT_FALSE(told.remind(asked_at, told_time(100'000), policy));
    EXPECT_EQ(told.reminder, 2U);
}

TEST(Told, AnyNumberOfMissedRemindersIsOne) {
    const ReminderPolicy policy{hours(1), 9};
    Told told;
    EXPECT_TRUE(told.remind(asked_at, told_time(600), policy));
    EXPECT_FALSE(told.remind(asked_at, told_time(601), policy));
    EXPECT_EQ(told.reminder, 1U);
}

TEST(Told, AReminderIsOwedByWhoHasToldTheQuestion) {
    Told told;
    told.arrived("webhook");
    ASSERT_TRUE(told.remind(asked_at, told_time(60), {hours(1), 1}));
    EXPECT_TRUE(told.owes("webhook", told_time(60)));
    told.arrived("webhook");
    EXPECT_FALSE(told.owes("webhook", told_time(60)));
}

TEST(Told, WithoutATimeThereAreNoReminders) {
    Told told;
    EXPECT_FALSE(told.remind(asked_at, told_time(1'000'000), {seconds(0), 3}));
}

class ToldLedgerTest : public ::testing::Test {
protected:
    ToldLedgerTest() : temporary_("told-test"), ledger_(temporary_.path()) {
        std::ofstream(temporary_.path() / "ESC-1.yaml") << "id: ESC-1\n";
    }
    TemporaryDirectory temporary_;
    ToldLedger ledger_;
};

TEST_F(ToldLedgerTest, WhatIsWrittenIsReadAgain) {
    Told told;
    told.arrived("file");
    told.failed("webhook", "no network", told_time(0));
    ASSERT_TRUE(told.remind(asked_at, told_time(60), {hours(1), 1}));
    ASSERT_TRUE(ledger_.write("ESC-1", told, {"2026-01-03T00:00:00.000Z", "abort", ""}).ok());
    const Told read = ledger_.read("ESC-1");
    EXPECT_EQ(read.reminder, 1U);
    EXPECT_EQ(read.reminded_at, told.reminded_at);
    EXPECT_EQ(read.handlers.at("file").told, 1U);
    EXPECT_EQ(read.handlers.at("webhook").tries, 1U);
    EXPECT_EQ(read.handlers.at("webhook").error, "no network");
    EXPECT_EQ(read.handlers.at("webhook").next_try, "2026-01-02T00:01:00.000Z");
}

TEST_F(ToldLedgerTest, WhatCannotBeReadOwesEverything) {
    std::filesystem::create_directories(ledger_.file("ESC-1").parent_path());
    for (const char* bytes :
         {"", "{", "[]", R"({"handlers": 3, "reminder": -1})", R"({"handlers": {"webhook": {"told": "x"}}})"}) {
        std::ofstream(ledger_.file("ESC-1")) << bytes;
        EXPECT_TRUE(ledger_.read("ESC-1").owes("webhook", told_time(0))) << bytes;
    }
}

TEST_F(ToldLedgerTest, OneProcessAtATimeTells) {
    const auto first = ledger_.lock("ESC-1");
    ASSERT_TRUE(first.ok());
    EXPECT_TRUE(first->valid());
    const auto second = ledger_.lock("ESC-1");
    ASSERT_TRUE(second.ok());
    EXPECT_FALSE(second->valid());
}

TEST_F(ToldLedgerTest, AQuestionThatIsNotThereCannotBeTold) {
    const auto held = ledger_.lock("ESC-2");
    ASSERT_FALSE(held.ok());
    EXPECT_EQ(held.error().code, "AF-ESC-056");
}

TEST_F(ToldLedgerTest, AFolderThatCannotBeWrittenIsSaid) {
    std::ofstream(temporary_.path() / ".told") << "in the way";
    const auto written = ledger_.write("ESC-1", Told(), {});
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, "AF-ESC-056");
}

TEST(AnswerRule, WithoutATimeThereIsNoDeadline) { EXPECT_EQ(AnswerRule{}.of(asked_at, {"a"}, false), AnswerBy{}); }

TEST(AnswerRule, TheDeadlineCountsFromTheQuestion) {
    EXPECT_EQ((AnswerRule{hours(24), "abort", ""}.of(asked_at, {"a"}, false)),
              (AnswerBy{"2026-01-03T00:00:00.000Z", "abort", ""}));
}

TEST(AnswerRule, TheDefaultIsTheFirstOptionUnlessTheSettingsNameOne) {
    EXPECT_EQ((AnswerRule{hours(1), "default", ""}.of(asked_at, {"a", "b"}, false)).default_answer, "a");
    EXPECT_EQ((AnswerRule{hours(1), "default", "do nothing"}.of(asked_at, {"a", "b"}, false)).default_answer, "do nothing");
    EXPECT_EQ((AnswerRule{hours(1), "default", ""}.of(asked_at, {}, false)).default_answer, "");
}

TEST(AnswerRule, ADeadlineNeverApproves) {
    const AnswerBy by = AnswerRule{hours(1), "default", "yes"}.of(asked_at, {}, true);
    EXPECT_EQ(by.then, "pause");
    EXPECT_EQ(by.default_answer, "");
}

}  // namespace
}  // namespace agentforge::kernel
