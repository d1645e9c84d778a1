// SPDX-License-Identifier: Apache-2.0
#include "task/store.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::string_view id = "task-20260102-add-login-1f2e3d4c";

TEST(TestPipelineStateStore, load_returns_saved_state) {
    const TemporaryDirectory folder("store");
    TaskStore store(folder.path());
    ASSERT_TRUE(store.create(id, {{"task_id", id}, {"request", "Add login"}}).ok());
    const json::object state{{"task_id", id}, {"status", "running"}, {"n", 7}};
    ASSERT_TRUE(store.save_state(id, state).ok());
    EXPECT_EQ(store.load_state(id).value(), state);
}

}  // namespace
}  // namespace agentforge::kernel
