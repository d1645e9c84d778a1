// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

using namespace std::chrono_literals;

TEST(FormatTime, writes_utc_with_milliseconds) {
    const auto time = std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} + 15h + 30min + 4s + 123'456us;
    EXPECT_EQ(format_time(time), "2026-01-02T15:30:04.123Z");
}

TEST(FormatTime, rounds_down_before_1970) {
    EXPECT_EQ(format_time(std::chrono::system_clock::time_point{} - 1us), "1969-12-31T23:59:59.999Z");
}

TEST(ParseTime, reads_what_format_time_writes) {
    const auto time = FakeClock().now() + 12'345'678ms;
    EXPECT_EQ(parse_time(format_time(time)).value(), time);
}

TEST(ParseTime, reads_offsets_and_fractions) {
    EXPECT_EQ(format_time(parse_time("2026-01-02T00:30:00.5+02:00").value()), "2026-01-01T22:30:00.500Z");
    EXPECT_EQ(format_time(parse_time("2026-01-01t23:59:60z").value()), "2026-01-02T00:00:00.000Z");
    EXPECT_EQ(format_time(parse_time("2026-01-01 10:00:00.123456789123-00:30").value()), "2026-01-01T10:30:00.123Z");
}

TEST(ParseTime, refuses_text_that_is_not_a_time) {
    for (const char* text :
         {"", "2026", "2026-01-02", "2026-01-02T15:30:00", "2026-13-02T15:30:00Z", "2026-02-30T15:30:00Z", "2026-01-02T24:00:00Z",
          "2026-01-02T15:60:00Z", "2026-01-02T15:30:61Z", "2026-01-02T15:30:00.Z", "2026-01-02T15:30:00Zx",
          "2026-01-02T15:30:00+2:00", "9999-01-02T15:30:00Z", "+026-01-02T15:30:00Z"}) {
        const auto result = parse_time(text);
        ASSERT_FALSE(result.ok()) << text;
        EXPECT_EQ(result.error().code, "AF-BASE-001") << text;
    }
}

TEST(FakeClock, moves_only_when_told) {
    FakeClock clock;
    const auto before = clock.now();
    const auto steady = clock.steady();
    EXPECT_EQ(clock.now(), before);
    clock.advance(5s);
    EXPECT_EQ(clock.now() - before, 5s);
    EXPECT_EQ(clock.steady() - steady, 5s);
}

TEST(SystemClock, advances) {
    const SystemClock clock;
    const auto before = clock.steady();
    EXPECT_GE(clock.steady(), before);
    EXPECT_GT(clock.now(), FakeClock().now() - 24h * 365);
}

}  // namespace
}  // namespace agentforge::kernel
