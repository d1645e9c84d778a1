// SPDX-License-Identifier: Apache-2.0
#include "tools/text_edit.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

std::string edited(std::string_view content, std::string_view search, std::string_view replace) {
    const auto edit = replace_once(content, search, replace, "f");
    EXPECT_TRUE(edit.ok()) << (edit.ok() ? "" : edit.error().to_string());
    return edit.ok() ? edit->content : "";
}
Error failed(std::string_view content, std::string_view search, std::string_view replace) {
    const auto edit = replace_once(content, search, replace, "f");
    EXPECT_FALSE(edit.ok());
    return edit.ok() ? Error{} : edit.error();
}

TEST(ReplaceOnce, replaces_the_one_place) { EXPECT_EQ(edited("a\nb\nc\n", "b", "x\ny"), "a\nx\ny\nc\n"); }
TEST(ReplaceOnce, keeps_a_missing_last_newline_and_a_bom) { EXPECT_EQ(edited("\xEF\xBB\xBF" "a\nb", "b", "c"), "\xEF\xBB\xBF" "a\nc"); }
TEST(ReplaceOnce, keeps_latin_1_bytes) { EXPECT_EQ(edited("caf\xE9 = 1\nx = 2\n", "x = 2", "x = 3"), "caf\xE9 = 1\nx = 3\n"); }
TEST(ReplaceOnce, gives_the_replacement_the_line_ends_of_the_file) {
    EXPECT_EQ(edited("a\r\nb\r\nc\r\n", "b", "x\ny"), "a\r\nx\r\ny\r\nc\r\n");
    EXPECT_EQ(edited("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n"), "x\r\ny\r\nc\r\n");
    EXPECT_EQ(edited("a\nb\nc\n", "a\r\nb", "x\r\ny"), "x\ny\nc\n");
}
TEST(ReplaceOnce, ignores_white_space_at_line_ends_as_last_resort) {
    EXPECT_EQ(edited("def f():  \n    return 1\t\nend", "def f():\n    return 1\n", "def f():\n    return 2\n"), "def f():\n    return 2\nend");
    EXPECT_EQ(edited("a  \nb\n", "a\nb", "c"), "c\n");
}
TEST(ReplaceOnce, never_ignores_indentation) { EXPECT_EQ(failed("  a\n  b\n", "a\nb\n", "c").code, "AF-TOOL-040"); }
TEST(ReplaceOnce, prefers_the_exact_place_over_a_tolerant_one) { EXPECT_EQ(edited("a \nb\na\nb\n", "a\nb", "c"), "a \nb\nc\n"); }
TEST(ReplaceOnce, names_the_lines_where_the_text_stands_several_times) {
    const auto error = failed("x\nfoo\ny\nfoo\nfoo\n", "foo", "bar");
    EXPECT_EQ(error.code, "AF-TOOL-041");
    EXPECT_NE(error.message.find("stands 3 times in f: lines 2, 4, 5."), std::string::npos) << error.message;
}
TEST(ReplaceOnce, counts_overlapping_places) { EXPECT_EQ(failed("aaa", "aa", "b").code, "AF-TOOL-041"); }
TEST(ReplaceOnce, tolerant_match_must_be_the_only_one) { EXPECT_EQ(failed("a \nb \na\t\nb\t\n", "a\nb\n", "c").code, "AF-TOOL-041"); }
TEST(ReplaceOnce, refuses_an_empty_search) {
    const auto error = failed("a", "", "b");
    EXPECT_EQ(error.code, "AF-TOOL-042");
    EXPECT_NE(error.remedy.find("create_file"), std::string::npos);
}
TEST(ReplaceOnce, refuses_a_replacement_that_changes_nothing) { EXPECT_EQ(failed("a\n", "a", "a").code, "AF-TOOL-043"); }
TEST(ReplaceOnce, shows_the_nearest_lines_with_numbers) {
    const auto error = failed("import os\n\ndef slugify(text):\n    return text.lower()\n", "def slugify(txt):\n    return txt.lower()\n", "x");
    EXPECT_EQ(error.code, "AF-TOOL-040");
    EXPECT_NE(error.message.find("3\tdef slugify(text):"), std::string::npos) << error.message;
    EXPECT_EQ(error.where, "f:3");
}
TEST(ReplaceOnce, says_that_only_indentation_differs) {
    EXPECT_NE(failed("class A:\n    def f(self):\n        pass\n", "def f(self):\n    pass\n", "x").message.find("Only white space differs"), std::string::npos);
}
TEST(ReplaceOnce, says_that_the_edit_may_have_been_made_before) {
    EXPECT_NE(failed("a = 2\n", "a = 1\n", "a = 2\n").message.find("stands there already, at line 1"), std::string::npos);
}
TEST(ReplaceOnce, bounds_what_it_shows_of_long_lines) {
    const std::string content = "needle " + std::string(100'000, 'x') + "\n";
    EXPECT_LT(failed(content, "needle yyyy zzz\n", "q").message.size(), 2000U);
}
TEST(ReplaceOnce, empty_file_is_said_to_be_empty) { EXPECT_NE(failed("", "x", "y").message.find("empty"), std::string::npos); }

TEST(CountChanges, counts_as_a_diff_does) {
    EXPECT_EQ(count_changes("a\nb\nc\n", "a\nx\ny\nc\n").added, 2U);
    EXPECT_EQ(count_changes("a\nb\nc\n", "a\nx\ny\nc\n").removed, 1U);
    const auto moved = count_changes("a\nb\nc\nd\n", "b\nc\nd\na\n");
    EXPECT_EQ(moved.added, 1U);
    EXPECT_EQ(moved.removed, 1U);
    EXPECT_EQ(count_changes("", "a\nb").added, 2U);
    EXPECT_EQ(count_changes("a\n", "a\n").added, 0U);
}
TEST(CountChanges, ends_soon_on_large_texts) {
    std::string a;
    std::string b;
    for (int i = 0; i < 50'000; ++i) {
        a += std::to_string(i) + "\n";
        b += "x" + std::to_string(i) + "\n";
    }
    EXPECT_EQ(count_changes(a, b).added, 50'000U);
}

}  // namespace
}  // namespace agentforge::kernel
