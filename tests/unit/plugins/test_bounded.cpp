// SPDX-License-Identifier: Apache-2.0
#include "plugins/bounded.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace agentforge::kernel
