// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t second_ms = 1'000;
constexpr std::uint64_t most_span_ms = 366ULL * 86'400'000;
constexpr std::pair<char, std::uint64_t> span_units[] = {{'d', 86'400'000}, {'h', 3'600'000}, {'m', 60'000}, {'s', second_ms}};

}  // namespace

std::chrono::system_clock::time_point SystemClock::now() const { return std::chrono::system_clock::now(); }
std::chrono::steady_clock::time_point SystemClock::steady() const { return std::chrono::steady_clock::now(); }

FakeClock::FakeClock(std::chrono::system_clock::time_point start) : now_(start) {}

void FakeClock::advance(std::chrono::milliseconds by) {
    now_ += by;
    steady_ += by;
}

std::string format_time(std::chrono::system_clock::time_point time) {
    using namespace std::chrono;
    const auto instant = floor<milliseconds>(time);
    const auto day = floor<days>(instant);
    const year_month_day date{day};
    const hh_mm_ss clock{instant - day};
    char text[64];
    const int length = std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                                     static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                                     static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
    return std::string(text, static_cast<std::size_t>(length));
}

namespace {

/// Takes exactly `count` digits off the front. Returns -1 if they are missing.
int take_digits(std::string_view& text, std::size_t count) {
    if (text.size() < count) { return -1; }
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (text[i] < '0' || text[i] > '9') { return -1; }
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return value;
}

bool take(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) { return false; }
    text.remove_prefix(1);
    return true;
}

bool read_time(std::string_view text, std::chrono::system_clock::time_point& result) {
    using namespace std::chrono;
    const int y = take_digits(text, 4);
    if (y < 0 || !take(text, "-")) { return false; }
    const int mo = take_digits(text, 2);
    if (mo < 0 || !take(text, "-")) { return false; }
    const int d = take_digits(text, 2);
    if (d < 0 || !take(text, "Tt ")) { return false; }
    const int h = take_digits(text, 2);
    if (h < 0 || h > 23 || !take(text, ":")) { return false; }
    const int mi = take_digits(text, 2);
    if (mi < 0 || mi > 59 || !take(text, ":")) { return false; }
    const int s = take_digits(text, 2);
    if (s < 0 || s > 60) { return false; }
    std::int64_t fraction_ns = 0;
    if (take(text, ".")) {
        std::int64_t unit = 100'000'000;
        std::size_t digits = 0;
        for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), ++digits) {
            fraction_ns += unit * (text.front() - '0');
            unit /= 10;
        }
        if (digits == 0) { return false; }
    }
    minutes offset{0};
    if (!take(text, "Zz")) {
        if (text.empty()) { return false; }
        const char sign = text.front();
        if (!take(text, "+-")) { return false; }
        const int oh = take_digits(text, 2);
        if (oh < 0 || oh > 23 || !take(text, ":")) { return false; }
        const int om = take_digits(text, 2);
        if (om < 0 || om > 59) { return false; }
        offset = hours{oh} + minutes{om};
        if (sign == '-') { offset = -offset; }
    }
    const year_month_day date{year{y}, month{static_cast<unsigned>(mo)}, day{static_cast<unsigned>(d)}};
    // The range of a 64-bit count of nanoseconds, with a margin.
    if (!text.empty() || !date.ok() || y < 1680 || y > 2260) { return false; }
    result = time_point_cast<system_clock::duration>(sys_days{date} + hours{h} + minutes{mi} + seconds{s} +
                                                     nanoseconds{fraction_ns} - offset);
    return true;
}

}  // namespace

Result<std::chrono::system_clock::time_point> parse_time(std::string_view text) {
    std::chrono::system_clock::time_point result;
    if (read_time(text, result)) { return result; }
    return Error{"AF-BASE-001", "'" + std::string(text.substr(0, 60)) + "' is not a time", "",
                 "Write it as 2026-01-02T15:30:00Z or with an offset such as +02:00.", ErrorKind::invalid};
}

std::optional<std::chrono::milliseconds> parse_time_span(std::string_view text) {
    std::uint64_t total = 0;
    auto unit = std::begin(span_units);
    if (text.empty()) { return std::nullopt; }
    while (!text.empty()) {
        std::uint64_t number = 0;
        std::size_t digits = 0;
        while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && digits < 9) {
            number = number * 10 + static_cast<std::uint64_t>(text[digits++] - '0');
        }
        if (digits == 0 || digits == text.size()) { return std::nullopt; }
        const auto found = std::find_if(unit, std::end(span_units), [&](const auto& one) { return one.first == text[digits]; });
        if (found == std::end(span_units)) { return std::nullopt; }
        total += number * found->second;
        unit = std::next(found);
        text.remove_prefix(digits + 1);
    }
    if (total == 0 || total > most_span_ms) { return std::nullopt; }
    return std::chrono::milliseconds(total);
}

std::string time_span(std::uint64_t ms) {
    if (ms < second_ms) { return std::to_string(ms) + "ms"; }
    std::string text;
    for (const auto& [letter, length] : span_units) {
        if (ms >= length) { text += std::to_string(ms / length) + letter; }
        ms %= length;
    }
    return text;
}

}  // namespace agentforge::kernel
