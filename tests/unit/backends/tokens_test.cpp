// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/tokens.hpp"

#include <random>
#include <string>

namespace agentforge::kernel {
namespace {

TEST(TokenEstimate, counts_seven_letters_as_two_tokens) { EXPECT_EQ(estimate_tokens("abcdefg"), 2U); }
TEST(TokenEstimate, rounds_up) { EXPECT_EQ(estimate_tokens("a"), 1U); }
TEST(TokenEstimate, nothing_costs_nothing) { EXPECT_EQ(estimate_tokens(""), 0U); }
TEST(TokenEstimate, counts_an_emoji_as_two_tokens) { EXPECT_EQ(estimate_tokens("🙂"), 2U); }
TEST(TokenEstimate, counts_three_tokens_for_two_chinese_characters) { EXPECT_EQ(estimate_tokens("中文"), 3U); }
TEST(TokenEstimate, counts_punctuation_higher_than_letters) {
    EXPECT_GT(estimate_tokens("{}[]();:"), estimate_tokens("abcdefgh"));
}

TEST(TokenEstimate, of_a_text_is_at_most_the_sum_of_its_parts) {
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        std::string a;
        std::string b;
        for (std::string* text : {&a, &b}) {
            const auto length = random() % 200;
            for (std::size_t i = 0; i < length; ++i) { *text += static_cast<char>(random() % 256); }
        }
        ASSERT_LE(estimate_tokens(a + b), estimate_tokens(a) + estimate_tokens(b) + 0U);
    }
}

}  // namespace
}  // namespace agentforge::kernel
