// SPDX-License-Identifier: Apache-2.0
#include "task/people_figures.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

constexpr const char* nine = "2026-01-02T09:00:00.000Z";
constexpr const char* two_seconds_later = "2026-01-02T09:00:02.000Z";

TEST(PeopleFigures, sum_the_time_from_a_request_to_its_decision) {
    PeopleFigures figures;
    figures.asked("APR-1", nine);
    figures.asked("ACT-1", nine);
    figures.decided("APR-1", two_seconds_later);
    EXPECT_EQ(figures.waited_ms, 2'000U);
    EXPECT_EQ(figures.open.size(), 1U) << "nobody has decided on the action yet";
}

TEST(PeopleFigures, count_nothing_for_a_decision_without_an_open_request) {
    PeopleFigures figures;
    figures.decided("APR-1", two_seconds_later);
    EXPECT_EQ(figures, PeopleFigures());
}

TEST(PeopleFigures, count_nothing_if_a_time_is_invalid) {
    PeopleFigures figures;
    figures.asked("APR-1", "yesterday");
    figures.decided("APR-1", two_seconds_later);
    EXPECT_EQ(figures, PeopleFigures());
}

}  // namespace
}  // namespace agentforge::kernel
