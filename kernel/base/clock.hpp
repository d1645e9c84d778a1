// SPDX-License-Identifier: Apache-2.0
// The time, and its text form. `SystemClock` is the real clock, `FakeClock` the one for tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// The current time, behind an interface. Any thread may use one instance.
class Clock {
public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual std::chrono::system_clock::time_point now() const = 0;
    [[nodiscard]] virtual std::chrono::steady_clock::time_point steady() const = 0;
};

/// The machine's clocks.
class SystemClock final : public Clock {
public:
    [[nodiscard]] std::chrono::system_clock::time_point now() const override;
    [[nodiscard]] std::chrono::steady_clock::time_point steady() const override;
};

/// A clock for tests. Its time changes only when a test advances it.
class FakeClock final : public Clock {
public:
    explicit FakeClock(std::chrono::system_clock::time_point start = std::chrono::sys_days{std::chrono::year{2026} / 1 / 2});
    [[nodiscard]] std::chrono::system_clock::time_point now() const override { return now_; }
    [[nodiscard]] std::chrono::steady_clock::time_point steady() const override { return steady_; }
    void advance(std::chrono::milliseconds by);

private:
    std::chrono::system_clock::time_point now_;
    std::chrono::steady_clock::time_point steady_{};
};

/// Formats as `2026-01-02T15:30:00.123Z`: always UTC, always milliseconds, so the texts sort like the times.
[[nodiscard]] std::string format_time(std::chrono::system_clock::time_point time);
/// Parses RFC 3339 with `Z` or an offset. Errors: `invalid` AF-BASE-001.
[[nodiscard]] Result<std::chrono::system_clock::time_point> parse_time(std::string_view text);

/// Parses `45s`, `30m`, `1h30m`, `2d`: days, hours, minutes and seconds in this order, at most one year. Returns nothing if the
/// text is not a time span or is zero.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_time_span(std::string_view text);
/// Formats a time span as `parse_time_span` reads it: `90s`, `30m`, `1h30m`.
[[nodiscard]] std::string time_span(std::uint64_t ms);

}  // namespace agentforge::kernel
