// SPDX-License-Identifier: Apache-2.0
#include "config/skip_condition.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agentforge::kernel {

namespace {

std::string reason(std::string_view text, const std::vector<std::string>& holding) {
    const auto condition = SkipCondition::parse(text);
    if (!condition.ok()) { return condition.error().code; }
    return condition->reason([&](std::string_view word) { return std::ranges::find(holding, word) != holding.end(); });
}

}  // namespace

TEST(SkipCondition, the_first_true_word_is_the_reason) { EXPECT_EQ(reason("a OR b OR c", {"c", "b"}), "b"); }

TEST(SkipCondition, and_binds_closer_than_or_and_not_closest) {
    EXPECT_EQ(reason("a OR b AND NOT c", {"b"}), "b AND NOT c");
    EXPECT_EQ(reason("a OR b AND NOT c", {"b", "c"}), "");
    EXPECT_EQ(reason("NOT a AND b", {"b"}), "NOT a AND b");
}

TEST(SkipCondition, parentheses_group) {
    EXPECT_EQ(reason("(a OR b) AND c", {"b"}), "");
    EXPECT_EQ(reason("(a OR b) AND c", {"b", "c"}), "(a OR b) AND c");
    EXPECT_EQ(reason("NOT (a OR b)", {}), "NOT (a OR b)");
}

TEST(SkipCondition, operators_may_be_lower_case) { EXPECT_EQ(reason("a and not b", {"a"}), "a and not b"); }

TEST(SkipCondition, an_empty_condition_and_never_are_false) {
    EXPECT_EQ(reason("", {}), "");
    EXPECT_EQ(reason("never", {"never"}), "");
}

TEST(SkipCondition, a_malformed_condition_is_refused) {
    for (const char* text : {"a OR", "OR a", "a b", "(a", "a)", "NOT", "a AND AND b", "()"}) {
        EXPECT_EQ(reason(text, {}), "AF-PIPE-005") << text;
    }
    EXPECT_EQ(reason(std::string(1000, '('), {}), "AF-PIPE-005");
}

TEST(SkipCondition, names_its_words_in_order) {
    EXPECT_THAT(SkipCondition::parse("b OR NOT (a AND b)")->words(), testing::ElementsAre("b", "a", "b"));
}

}  // namespace agentforge::kernel
