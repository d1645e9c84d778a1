// SPDX-License-Identifier: Apache-2.0
#include "base/json_keywords.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

TEST(TextPattern, matches_somewhere_in_the_text) {
    EXPECT_TRUE(TextPattern("b+").is_in("abbc"));
    EXPECT_FALSE(TextPattern("^b").is_in("abbc"));
    EXPECT_EQ(TextPattern("b+").problem(), "");
}

TEST(TextPattern, wrong_expression_says_why_and_matches_nothing) {
    EXPECT_NE(TextPattern("(").problem(), "");
    EXPECT_FALSE(TextPattern("(").is_in("("));
    EXPECT_NE(TextPattern("(?=x)").problem(), "");
}

TEST(TextPattern, nested_repetition_takes_linear_time) {
    EXPECT_FALSE(TextPattern("^(a+)+$").is_in(std::string(100'000, 'a') + "b"));
}

TEST(RepeatedItems, are_all_but_the_first) {
    const auto items = json::parse(R"([1, "1", 1, {"a": 1, "b": 2}, {"b": 2, "a": 1}, 1, null])").as_array();
    EXPECT_EQ(repeated_items(items), (std::vector<std::size_t>{2, 4, 5}));
}

TEST(RepeatedItems, are_found_in_a_long_list) {
    json::array items;
    for (int i = 0; i < 20'000; ++i) { items.emplace_back(i); }
    items.emplace_back(12'345);
    EXPECT_EQ(repeated_items(items), (std::vector<std::size_t>{20'000}));
}

TEST(CountCharacters, counts_code_points) { EXPECT_EQ(count_characters("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), 4U); }

}  // namespace
}  // namespace agentforge::kernel
