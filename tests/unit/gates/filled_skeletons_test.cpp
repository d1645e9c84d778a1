// SPDX-License-Identifier: Apache-2.0
// Which lines count as new because their function was a skeleton.
#include "gates/test_quality/filled_skeletons.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gates/shipped_language.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string marker = "agentforge: skeleton of";
const std::string skeleton = "export function money(cents) {\n  throw new Error('" + marker + " money');\n}\n";
const std::string old_body = "  return cents / 100;\n}\n";

std::set<std::uint64_t> filled(const std::string& before, const std::string& now) {
    return lines_of_filled_skeletons(before, now, rules_of_language("javascript"), marker);
}

TEST(FilledSkeletons, have_new_lines_also_where_another_function_had_them) {
    const auto before = "export function price(cents) {\n" + old_body + skeleton;
    EXPECT_THAT(filled(before, "// money\nexport function money(cents) {\n" + old_body), ElementsAre(2, 3, 4));
}

TEST(FilledSkeletons, are_no_functions_that_were_there_and_none_that_are_still_skeletons) {
    const auto price = "export function price(cents) {\n" + old_body;
    EXPECT_THAT(filled(price + skeleton, price + skeleton), IsEmpty());
    EXPECT_THAT(filled(price, "export function price(cents) {\n  return cents;\n}\n"), IsEmpty());
}

TEST(FilledSkeletons, are_told_apart_by_their_order_if_they_share_a_name) {
    const auto other = "class A {\n  money(cents) {\n" + old_body + "}\n";
    const auto now = other + "class B {\n  money(cents) {\n" + old_body + "}\n";
    const auto before = other + "class B {\n  money(cents) {\n    throw new Error('" + marker + " money');\n  }\n}\n";
    EXPECT_THAT(filled(before, now), ElementsAre(7, 8, 9));
    EXPECT_THAT(filled(before, "class B {\n  money(cents) {\n" + old_body + "}\n"), IsEmpty()) << "nobody knows which";
}

}  // namespace
}  // namespace agentforge::kernel
