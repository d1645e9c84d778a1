// SPDX-License-Identifier: Apache-2.0
#include "plugins/call_watch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "unit/no_threads.hpp"

namespace agentforge::kernel {
namespace {

TEST(BoundedCall, runs_on_a_separate_thread) {
    std::thread::id ran;
    EXPECT_TRUE(run_bounded([&ran] { ran = std::this_thread::get_id(); }, std::make_shared<CallWatch>(), [] { return false; }));
    EXPECT_NE(ran, std::this_thread::get_id());
}

TEST(BoundedCall, runs_on_the_callers_thread_if_no_thread_is_available) {
    const NoThreads none;
    std::thread::id ran;
    EXPECT_TRUE(run_bounded([&ran] { ran = std::this_thread::get_id(); }, std::make_shared<CallWatch>(), [] { return false; }));
    EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST(BoundedCall, abandons_a_hanging_call_and_keeps_the_results_of_the_others) {
    const auto open = std::make_shared<std::atomic<bool>>(false);
    const auto gone = std::make_shared<std::atomic<bool>>(false);
    std::vector<BoundedWork> works;
    works.push_back({[] {}});
    works.push_back({[open, gone] {
        while (!*open) { std::this_thread::yield(); }
        *gone = true;
    }});
    const std::vector<bool> expected{true, false};
    EXPECT_EQ(run_bounded(std::move(works), [&](const std::vector<bool>& returned) { return returned == expected; }), expected);
    *open = true;
    while (!*gone) { std::this_thread::yield(); }
}

TEST(BoundedCall, returns_at_once_without_calls) {
    EXPECT_TRUE(run_bounded({}, [](const std::vector<bool>&) { return false; }).empty());
}

}  // namespace
}  // namespace agentforge::kernel
