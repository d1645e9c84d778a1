// SPDX-License-Identifier: Apache-2.0
#include "plugins/bounded.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "unit/no_threads.hpp"

namespace agentforge::kernel {
namespace {

TEST(BoundedCall, runs_on_a_thread_of_its_own) {
    std::thread::id ran;
    EXPECT_TRUE(run_bounded([&ran] { ran = std::this_thread::get_id(); }, std::make_shared<CallWatch>(), [] { return false; }));
    EXPECT_NE(ran, std::this_thread::get_id());
}

TEST(BoundedCall, runs_on_the_callers_thread_where_the_machine_has_none_left) {
    const NoThreads none;
    std::thread::id ran;
    EXPECT_TRUE(run_bounded([&ran] { ran = std::this_thread::get_id(); }, std::make_shared<CallWatch>(), [] { return false; }));
    EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST(BoundedCall, one_of_several_that_hangs_is_abandoned_and_the_others_count) {
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

TEST(BoundedCall, none_at_all_has_returned_at_once) {
    EXPECT_TRUE(run_bounded({}, [](const std::vector<bool>&) { return false; }).empty());
}

}  // namespace
}  // namespace agentforge::kernel
