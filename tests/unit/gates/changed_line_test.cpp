// SPDX-License-Identifier: Apache-2.0
// How a changed line is divided into its differences.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/test_quality/changed_line.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> reverted(const std::string& before, const std::string& now) {
    std::vector<std::string> lines;
    for (const auto& each : line_differences(before, now)) { lines.push_back(each.reverted); }
    return lines;
}

TEST(ChangedLine, reverts_each_difference_alone) {
    EXPECT_THAT(reverted("if check(name, trace=trace) and len(name) >= 3:", "if check(name) and len(name) > 3:"),
                ElementsAre("if check(name, trace=trace) and len(name) > 3:", "if check(name) and len(name) >= 3:"));
    EXPECT_THAT(reverted("if (a > 1 && b < 2) {", "if (a >= 1 && b < 3) {"),
                ElementsAre("if (a > 1 && b < 3) {", "if (a >= 1 && b < 2) {"));
    EXPECT_THAT(reverted("    return x", "    return x"), IsEmpty());
}

TEST(ChangedLine, reverts_removed_arguments_one_by_one) {
    EXPECT_THAT(reverted("def greet(name, shout=False, words={1, 2}):", "def greet(name):"),
                ElementsAre("def greet(name, shout=False):", "def greet(name, words={1, 2}):"));
    EXPECT_THAT(reverted("f(strict, level, name)", "f(name)"), ElementsAre("f(strict,name)", "f( level,name)"));
}

TEST(ChangedLine, keeps_brackets_together) {
    EXPECT_THAT(reverted("if check(name, trace=trace) and len(name) >= 3:", "if check(name):"),
                ElementsAre("if check(name, trace=trace):", "if check(name) and len(name) >= 3:"));
    EXPECT_THAT(reverted("return shout ? upper(text) : text;", "return text;"),
                ElementsAre("return shout ? upper(text) : text;"));
}

TEST(ChangedLine, tells_values_from_other_words) {
    const auto values = [](const char* before, const char* now) { return line_differences(before, now).front().values; };
    EXPECT_TRUE(values("if n > 100:", "if n > 1000:"));
    EXPECT_TRUE(values("if n > 100:", "if n >= 100:"));
    EXPECT_TRUE(values("if a and b:", "if a or b:"));
    EXPECT_TRUE(values("if ready {", "if !ready {"));
    EXPECT_FALSE(values("if n > limit:", "if n > most:"));
    EXPECT_FALSE(values("f(a, b)", "f((a, b))"));
}

TEST(ChangedLine, is_similar_if_most_words_stay) {
    EXPECT_DOUBLE_EQ(line_similarity("def greet(name, shout=False, language='en'):", "def greet(name):"), 1);
    EXPECT_LT(line_similarity("word = WORDS['en']", "word = 'Hello'"), 0.6);
    EXPECT_GT(line_similarity("if len(accepted) > 100:", "if len(accepted) >= 100:"), 0.8);
}

}  // namespace
}  // namespace agentforge::kernel
