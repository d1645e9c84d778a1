// SPDX-License-Identifier: Apache-2.0
#include "escalation/question.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

TEST(QuestionKind, is_read_from_the_beginning_of_an_id) {
    for (const QuestionKind kind : {QuestionKind::escalation, QuestionKind::approval, QuestionKind::action}) {
        EXPECT_EQ(kind_of(std::string(prefix_of(kind)) + "task-1-green-1"), kind) << to_string(kind);
    }
    for (const char* other : {"", "ESC", "esc-task-1", "REQ-001", "task-1"}) { EXPECT_FALSE(kind_of(other)) << other; }
}

TEST(QuestionKind, is_known_only_for_items_of_the_named_task) {
    EXPECT_EQ(kind_in_task("APR-task-1-spec-1", "task-1"), QuestionKind::approval);
    for (const char* other : {"APR-task-1", "APR-task-12-spec-1", "APR-task-2-spec-1", "task-1-spec-1"}) {
        EXPECT_FALSE(kind_in_task(other, "task-1")) << other;
    }
}

}  // namespace
}  // namespace agentforge::kernel
