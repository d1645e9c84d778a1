// SPDX-License-Identifier: Apache-2.0
#include "task/task_set.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

class TaskSetTest : public ::testing::Test {
protected:
    TaskSetTest() {
        set_.id = "set-20260102-add-login-00000001";
        set_.created_at = "2026-01-02T00:00:00.000Z";
    }

    TemporaryDirectory folder_{"sets"};
    fs::path sets_{folder_.path() / "sets"};
    TaskSet set_;
};

TEST_F(TaskSetTest, a_new_set_has_its_file_and_specification_and_is_locked) {
    const auto lock = create_set(sets_, set_, "requirements: []\n");
    ASSERT_TRUE(lock.ok()) << lock.error().to_string();
    const auto listing = list_sets(sets_);
    ASSERT_EQ(listing.sets.size(), 1U);
    EXPECT_EQ(listing.sets[0].id, set_.id);
    EXPECT_TRUE(listing.sets[0].running);
    EXPECT_EQ(read_file(sets_ / set_.id / "specification.yaml").value_or(""), "requirements: []\n");
}

TEST_F(TaskSetTest, a_set_that_a_killed_process_was_creating_is_not_listed) {
    fs::create_directories(sets_ / ".agentforge-new-1-0");
    const auto listing = list_sets(sets_);
    EXPECT_TRUE(listing.sets.empty());
    EXPECT_TRUE(listing.problems.empty());
}

TEST_F(TaskSetTest, the_next_set_removes_what_a_killed_process_was_creating) {
    constexpr int no_such_process = 2147483647;
    const fs::path abandoned = sets_ / (".agentforge-new-" + std::to_string(no_such_process) + "-0");
    fs::create_directories(abandoned);
    ASSERT_TRUE(create_set(sets_, set_, {}).ok());
    EXPECT_FALSE(fs::exists(abandoned));
}

TEST_F(TaskSetTest, a_set_that_cannot_be_created_leaves_nothing_behind) {
    fs::create_directories(sets_ / set_.id / "in the way");
    EXPECT_FALSE(create_set(sets_, set_, {}).ok());
    EXPECT_EQ(std::distance(fs::directory_iterator(sets_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace agentforge::kernel
