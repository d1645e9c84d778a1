// SPDX-License-Identifier: Apache-2.0
#include "base/ids.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

TEST(MakeTaskId, holds_day_words_and_random_digits) {
    CountingIdSource ids;
    EXPECT_EQ(make_task_id("Add OAuth2 authentication", "20260102", ids), "task-20260102-add-oauth2-authentication-00000001");
    EXPECT_EQ(make_task_id("  fix: the   bug (now), please & thank you", "20260102", ids),
              "task-20260102-fix-the-bug-now-please-00000002");
}

TEST(MakeTaskId, always_makes_a_task_id) {
    SystemIdSource ids;
    for (const std::string& request :
         {std::string(), std::string("!!!"), std::string("../../etc/passwd"), std::string("\xF0\x9F\x98\x80 \xC3\xBC"),
          std::string("a\0b", 3), std::string(100'000, 'x'), std::string(100'000, '-'),
          std::string("one two three four five six seven")}) {
        const std::string id = make_task_id(request, "20260102", ids);
        EXPECT_TRUE(is_task_id(id)) << id;
        EXPECT_LT(id.size(), 140U);
    }
    EXPECT_TRUE(is_task_id(make_task_id("x", "not a day", ids)));
}

TEST(IsTaskId, refuses_everything_else) {
    for (const char* text : {"", "task-", "task-2026010", "task-202601021", "task-20260102-", "task-20260102--a",
                             "task-20260102-A", "task-20260102-a/b", "task-20260102-..", "task-20260102-a.b", "Task-20260102",
                             "task-2026010a", "task-20260102 ", " task-20260102", "task-20260102-\xC3\xBC"}) {
        EXPECT_FALSE(is_task_id(text)) << text;
    }
    EXPECT_FALSE(is_task_id("task-20260102-" + std::string(300, 'a')));
    EXPECT_TRUE(is_task_id("task-20260102"));
    EXPECT_TRUE(is_task_id("task-20260102-add-1f2e3d4c"));
}

TEST(IdsNamed, take_the_beginning_of_the_short_id_or_the_end_of_the_whole_one) {
    const std::string one = "task-20261128-add-a-cache-997ae471";
    const std::string other = "task-20261128-add-a-login-77904be9";
    const std::vector<std::string> ids{one, other};
    using Found = std::vector<std::string>;
    EXPECT_EQ(ids_named(ids, one), Found{one});
    EXPECT_EQ(ids_named(ids, "997a"), Found{one});
    EXPECT_EQ(ids_named(ids, "77904be9"), Found{other});
    EXPECT_EQ(ids_named(ids, "4be9"), Found{other});
    EXPECT_EQ(ids_named(ids, "login-77904be9"), Found{other});
    EXPECT_EQ(ids_named(ids, "20261128-add-a-c"), Found{one});
    EXPECT_EQ(ids_named(ids, "task-20261128"), ids);
    for (const char* none : {"", "9", "997", "be9", "97ae", "904b", "cache"}) {
        EXPECT_EQ(ids_named(ids, none), Found()) << none;
    }
}

TEST(IdsNamed, prefer_what_is_shown_to_a_day_of_the_same_digits) {
    const std::string one = "task-20261128-add-2026beef";
    EXPECT_EQ(ids_named({one, "task-20261128-add-77904be9"}, "2026"), std::vector<std::string>{one});
}

TEST(IsQuestionOfTask, tells_apart_tasks_whose_ids_begin_alike) {
    EXPECT_TRUE(is_question_of_task("ESC-task-20260102-x-1f2e3d4c-spec-1", "task-20260102-x-1f2e3d4c"));
    EXPECT_TRUE(is_question_of_task("APR-task-20260102-x-1f2e3d4c-my-own-stage-1.resolution.yaml", "task-20260102-x-1f2e3d4c"));
    EXPECT_FALSE(is_question_of_task("ESC-task-20260102-x-1f2e3d4c-again-0a0b0c0d-spec-1.yaml", "task-20260102-x-1f2e3d4c"));
    EXPECT_FALSE(is_question_of_task("ESC-task-20260102-x-1f2e3d4c2-spec-1", "task-20260102-x-1f2e3d4c"));
    EXPECT_FALSE(is_question_of_task("ESC-task-20260102-x-1f2e3d4c", "task-20260102-x-1f2e3d4c"));
    EXPECT_FALSE(is_question_of_task("task", "task-20260102-x-1f2e3d4c"));
}

TEST(SystemIdSource, gives_as_many_hexadecimal_digits_as_asked) {
    SystemIdSource ids;
    for (const std::size_t digits : {0U, 1U, 8U, 63U, 64U, 65U, 1000U}) {
        const std::string text = ids.random_hex(digits);
        EXPECT_EQ(text.size(), digits);
        EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos);
    }
    EXPECT_NE(ids.random_hex(32), ids.random_hex(32));
}

TEST(CountingIdSource, counts_in_hexadecimal) {
    CountingIdSource ids;
    for (int i = 0; i < 15; ++i) { static_cast<void>(ids.random_hex(4)); }
    EXPECT_EQ(ids.random_hex(4), "0010");
    EXPECT_EQ(ids.random_hex(1), "1");
}

}  // namespace
}  // namespace agentforge::kernel
