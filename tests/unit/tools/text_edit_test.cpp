// SPDX-License-Identifier: Apache-2.0
#include "tools/text_edit.hpp"
#include "tools/hunks.hpp"

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

TEST(ReplaceOnce, replaces_the_only_match) { EXPECT_EQ(edited("a\nb\nc\n", "b", "x\ny"), "a\nx\ny\nc\n"); }
TEST(ReplaceOnce, keeps_a_missing_last_newline_and_a_bom) {
    EXPECT_EQ(edited("\xEF\xBB\xBF"
                     "a\nb",
                     "b", "c"),
              "\xEF\xBB\xBF"
              "a\nc");
}
TEST(ReplaceOnce, keeps_latin_1_bytes) { EXPECT_EQ(edited("caf\xE9 = 1\nx = 2\n", "x = 2", "x = 3"), "caf\xE9 = 1\nx = 3\n"); }
TEST(ReplaceOnce, gives_the_replacement_the_line_ends_of_the_file) {
    EXPECT_EQ(edited("a\r\nb\r\nc\r\n", "b", "x\ny"), "a\r\nx\r\ny\r\nc\r\n");
    EXPECT_EQ(edited("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n"), "x\r\ny\r\nc\r\n");
    EXPECT_EQ(edited("a\nb\nc\n", "a\r\nb", "x\r\ny"), "x\ny\nc\n");
}
TEST(ReplaceOnce, ignores_trailing_whitespace_as_a_last_resort) {
    EXPECT_EQ(edited("def f():  \n    return 1\t\nend", "def f():\n    return 1\n", "def f():\n    return 2\n"),
              "def f():  \n    return 2\nend");
    EXPECT_EQ(edited("a  \nb\n", "a\nb", "c"), "c\n");
}
TEST(ReplaceOnce, indents_the_replacement_like_the_matched_text) {
    EXPECT_EQ(edited("class A:\n    def f(self):\n        pass\n", "def f(self):\n    pass\n",
                     "def f(self):\n    x = 1\n\n    return x\n"),
              "class A:\n    def f(self):\n        x = 1\n\n        return x\n");
    EXPECT_EQ(edited("if a:\n\tb()\n\tc()\n", "\t\tb()\n\t\tc()\n", "\t\tb(1)\n\t\tc()\n"), "if a:\n\tb(1)\n\tc()\n");
}
TEST(ReplaceOnce, never_ignores_inconsistent_indentation) {
    EXPECT_EQ(failed("  a\n    b\n", "a\nb\n", "c").code, "AF-TOOL-040");
    EXPECT_EQ(failed("\ta\n  b\n", "a\nb\n", "c").code, "AF-TOOL-040");
}
TEST(ReplaceOnce, never_removes_indentation_that_a_new_line_lacks) {
    EXPECT_EQ(failed("a\nb\n", "  a\n  b\n", "x\n  b\n").code, "AF-TOOL-040");
}
TEST(ReplaceOnce, a_match_that_ignores_indentation_must_be_unique) {
    EXPECT_EQ(failed("  a\n  b\n    a\n    b\n", "a\nb\n", "c\n").code, "AF-TOOL-041");
}
TEST(ReplaceOnce, matches_unicode_punctuation_as_ascii) {
    EXPECT_EQ(edited("say(“hi”) — now\n", "say(\"hi\")", "say(\"ho\")"), "say(“ho”) — now\n");
    EXPECT_EQ(edited("it's a-b\n", "it’s a‑b", "it’s a‑c"), "it's a-c\n");
    EXPECT_EQ(edited("a\xC2\xA0= 1\n", "a = 1", "a = 2"), "a\xC2\xA0= 2\n");
    EXPECT_EQ(edited("# “x”\na = 1  \nb\n", "# \"x\"\na = 1\nb\n", "# \"x\"\na = 2\nb\n"), "# “x”\na = 2\nb\n");
}
TEST(ReplaceOnce, does_not_match_other_letters_as_ascii) {
    EXPECT_EQ(failed("caf\xC3\xA9\n", "cafe", "x").code, "AF-TOOL-040");
    EXPECT_EQ(failed("a … b\n", "a ... b", "x").code, "AF-TOOL-040");
}
TEST(ReplaceOnce, a_match_by_punctuation_must_be_unique) { EXPECT_EQ(failed("“a” “a”\n", "\"a\"", "b").code, "AF-TOOL-041"); }
TEST(ReplaceOnce, keeps_every_byte_of_unchanged_lines) {
    EXPECT_EQ(edited("a  \r\nb\t\r\nc\r\n", "a\nb\nc\n", "a\nx\nc\n"), "a  \r\nx\r\nc\r\n");
    EXPECT_EQ(edited("a \nb \r\nc", "a\nb\nc\n", "a\nb\nnew\nc\n"), "a \nb \r\nnew\nc");
}
TEST(ReplaceOnce, keeps_a_missing_final_line_end) {
    EXPECT_EQ(edited("a\nb", "b\n", "c\n"), "a\nc");
    EXPECT_EQ(edited("a\nb ", "a\nb\n", "a\nb\nc\n"), "a\nb \nc");
}
TEST(ReplaceOnce, uses_neighbouring_line_ends_in_a_mixed_file) {
    EXPECT_EQ(edited("a\r\nb\r\nc\nd\n", "b", "b\nx"), "a\r\nb\r\nx\r\nc\nd\n");
    EXPECT_EQ(edited("a\r\nb\r\nc\nd\n", "d", "d\nx"), "a\r\nb\r\nc\nd\nx\n");
}
TEST(ReplaceOnce, says_that_a_file_is_not_utf_8) {
    EXPECT_NE(failed("caf\xE9\n", "caf\xEF\xBF\xBD", "x").message.find("not UTF-8"), std::string::npos);
}
TEST(ReplaceOnce, is_fast_on_huge_and_repeated_lines) {
    const std::string line(2'000'000, 'a');
    EXPECT_EQ(edited(line + "b", "ab", "c"), line.substr(1) + "c");
    EXPECT_EQ(failed(line, std::string(20'000, 'a') + "b", "c").code, "AF-TOOL-040");
    std::string lines;
    for (int i = 0; i < 200'000; ++i) { lines += "x\n"; }
    EXPECT_EQ(failed(lines, lines.substr(0, 2'000) + "y\n", "c").code, "AF-TOOL-040");
}
TEST(ReplaceOnce, prefers_an_exact_match_to_a_tolerant_one) { EXPECT_EQ(edited("a \nb\na\nb\n", "a\nb", "c"), "a \nb\nc\n"); }
TEST(ReplaceOnce, names_the_lines_of_several_matches) {
    const auto error = failed("x\nfoo\ny\nfoo\nfoo\n", "foo", "bar");
    EXPECT_EQ(error.code, "AF-TOOL-041");
    EXPECT_NE(error.message.find("occurs 3 times in f: lines 2, 4, 5."), std::string::npos) << error.message;
}
TEST(ReplaceOnce, counts_overlapping_matches) { EXPECT_EQ(failed("aaa", "aa", "b").code, "AF-TOOL-041"); }
TEST(ReplaceOnce, a_tolerant_match_must_be_unique) { EXPECT_EQ(failed("a \nb \na\t\nb\t\n", "a\nb\n", "c").code, "AF-TOOL-041"); }
TEST(ReplaceOnce, refuses_an_empty_search) {
    const auto error = failed("a", "", "b");
    EXPECT_EQ(error.code, "AF-TOOL-042");
    EXPECT_NE(error.remedy.find("create_file"), std::string::npos);
}
TEST(ReplaceOnce, refuses_a_replacement_that_changes_nothing) { EXPECT_EQ(failed("a\n", "a", "a").code, "AF-TOOL-043"); }
TEST(ReplaceOnce, shows_the_nearest_lines_with_numbers) {
    const auto error =
        failed("import os\n\ndef slugify(text):\n    return text.lower()\n", "def slugify(txt):\n    return txt.lower()\n", "x");
    EXPECT_EQ(error.code, "AF-TOOL-040");
    EXPECT_NE(error.message.find("3\tdef slugify(text):"), std::string::npos) << error.message;
    EXPECT_EQ(error.where, "f:3");
}
TEST(ReplaceOnce, says_that_only_indentation_differs) {
    EXPECT_NE(failed("class A:\n    def f(self):\n        pass\n", "def f(self):\n  pass\n", "x")
                  .message.find("Only white space differs"),
              std::string::npos);
}
TEST(ReplaceOnce, says_that_the_edit_may_already_be_made) {
    EXPECT_NE(failed("a = 2\n", "a = 1\n", "a = 2\n").message.find("is already in the file, at line 1"), std::string::npos);
}
TEST(ReplaceOnce, truncates_long_lines_in_errors) {
    const std::string content = "needle " + std::string(100'000, 'x') + "\n";
    EXPECT_LT(failed(content, "needle yyyy zzz\n", "q").message.size(), 2000U);
}
TEST(ReplaceOnce, reports_an_empty_file) { EXPECT_NE(failed("", "x", "y").message.find("empty"), std::string::npos); }

Hunk lines(std::string search, std::string replace, std::vector<std::string> anchors = {}, bool at_end = false) {
    Hunk hunk;
    hunk.search = std::move(search);
    hunk.replace = std::move(replace);
    hunk.anchors = std::move(anchors);
    hunk.whole_lines = true;
    hunk.at_end = at_end;
    return hunk;
}
std::string hunked(std::string_view content, const std::vector<Hunk>& hunks) {
    const auto edit = apply_hunks(content, hunks, "f");
    return edit.ok() ? edit->content : edit.error().code + " " + edit.error().message;
}

TEST(ApplyHunks, matches_every_hunk_against_the_original_text) {
    EXPECT_EQ(hunked("a\nb\nc\n", {lines("a\n", "b\n"), lines("b\n", "a\n")}), "b\na\nc\n");
    EXPECT_EQ(hunked("a\nb\nc\nd\n", {lines("d\n", "D\n"), lines("a\n", "A\nA\n")}), "A\nA\nb\nc\nD\n");
}
TEST(ApplyHunks, does_not_match_lines_inside_others) { EXPECT_EQ(hunked("xa\na\n", {lines("a\n", "b\n")}), "xa\nb\n"); }
TEST(ApplyHunks, hunks_may_share_context_lines) {
    EXPECT_EQ(hunked("a\nb\nc\n", {lines("a\nb\n", "A\nb\n"), lines("b\nc\n", "b\nC\n")}), "A\nb\nC\n");
}
TEST(ApplyHunks, hunks_may_not_change_the_same_lines) {
    const auto text = hunked("a\nb\nc\n", {lines("a\nb\n", "a\nx\n"), lines("b\nc\n", "y\nc\n")});
    EXPECT_EQ(text.find("AF-TOOL-049 Edit 1 and Edit 2 change the same lines of f."), 0U) << text;
}
TEST(ApplyHunks, one_hunk_that_fails_fails_all) {
    EXPECT_EQ(hunked("a\nb\n", {lines("a\n", "x\n"), lines("q\n", "y\n")}).find("AF-TOOL-040"), 0U);
}
TEST(ApplyHunks, an_anchor_selects_one_of_several_matches) {
    const std::string text = "def f():\n    x = 1\n\ndef g():\n    x = 1\n\ndef h():\n    x = 1\n";
    EXPECT_EQ(hunked(text, {lines("    x = 1\n", "    x = 2\n")}).find("AF-TOOL-041"), 0U);
    EXPECT_EQ(hunked(text, {lines("    x = 1\n", "    x = 2\n", {"def g():"})}),
              "def f():\n    x = 1\n\ndef g():\n    x = 2\n\ndef h():\n    x = 1\n");
}
TEST(ApplyHunks, anchors_nest_from_the_outside_in) {
    const std::string text = "class A:\n    def f(self):\n        pass\nclass B:\n    def f(self):\n        pass\n";
    EXPECT_EQ(hunked(text, {lines("        pass\n", "        return\n", {"class B:", "def f(self):"})}),
              "class A:\n    def f(self):\n        pass\nclass B:\n    def f(self):\n        return\n");
    EXPECT_EQ(hunked(text, {lines("        pass\n", "        return\n", {"def f(self):"})}).find("AF-TOOL-041"), 0U);
}
TEST(ApplyHunks, the_scope_of_an_anchor_ends_after_its_brackets) {
    const std::string text = "void f()\n{\n  a();\n}\nvoid g()\n{\n  a();\n}\n";
    EXPECT_EQ(hunked(text, {lines("  a();\n", "  b();\n", {"void f()"})}), "void f()\n{\n  b();\n}\nvoid g()\n{\n  a();\n}\n");
}
TEST(ApplyHunks, a_missing_anchor_is_named_with_the_nearest_lines) {
    const auto text = hunked("def slug(x):\n    pass\n", {lines("    pass\n", "    return\n", {"def slugs(x):"})});
    EXPECT_EQ(text.find("AF-TOOL-040 The line 'def slugs(x):' of an @@ mark is not in f."), 0U) << text;
    EXPECT_NE(text.find("1\tdef slug(x):"), std::string::npos) << text;
}
TEST(ApplyHunks, says_that_the_only_match_is_above_the_anchor) {
    EXPECT_NE(hunked("a\nb\n", {lines("a\n", "x\n", {"b"})}).find("but for line 1, which is above"), std::string::npos);
}
TEST(ApplyHunks, a_hunk_at_the_end_matches_only_there) {
    EXPECT_EQ(hunked("a\nb\na\n", {lines("a\n", "x\n", {}, true)}), "a\nb\nx\n");
    EXPECT_NE(hunked("a\nb\n", {lines("a\n", "x\n", {}, true)}).find("which is not the end of the file"), std::string::npos);
}
TEST(ApplyHunks, adds_lines_without_context_at_the_end_or_below_their_anchor) {
    EXPECT_EQ(hunked("a\nb\n", {lines("", "c\n")}), "a\nb\nc\n");
    EXPECT_EQ(hunked("a\nb", {lines("", "c\n")}), "a\nb\nc");
    EXPECT_EQ(hunked("a\r\nb\r\n", {lines("", "c\n", {"a"})}), "a\r\nc\r\nb\r\n");
    EXPECT_EQ(hunked("", {lines("", "c\n")}), "c\n");
    EXPECT_EQ(hunked("\xEF\xBB\xBF", {lines("", "c\n")}),
              "\xEF\xBB\xBF"
              "c\n");
    EXPECT_EQ(hunked("a\na\n", {lines("", "c\n", {"a"})}).find("AF-TOOL-041 the line 'a' occurs 2 times in f: lines 1, 2."), 0U);
}
TEST(ApplyHunks, finds_the_first_line_behind_a_byte_order_mark) {
    EXPECT_EQ(hunked("\xEF\xBB\xBF"
                     "a\r\nb\r\n",
                     {lines("a\n", "x\n")}),
              "\xEF\xBB\xBF"
              "x\r\nb\r\n");
}
TEST(ApplyHunks, a_blank_line_after_a_hunk_may_be_missing_in_the_text) {
    EXPECT_EQ(hunked("a\nb\nc\n", {lines("a\nb\n\n", "a\nx\n\n")}), "a\nx\nc\n");
}
TEST(ApplyHunks, can_remove_every_line) { EXPECT_EQ(hunked("a\nb\n", {lines("a\nb\n", "")}), ""); }
TEST(ApplyHunks, keeps_bytes_that_are_not_utf_8) { EXPECT_EQ(hunked("\xE9\na\n\xFF", {lines("a\n", "b\n")}), "\xE9\nb\n\xFF"); }
TEST(ApplyHunks, refuses_hunks_that_change_nothing) { EXPECT_EQ(hunked("a\n", {lines("a\n", "a\n")}).find("AF-TOOL-043"), 0U); }
TEST(ApplyHunks, refuses_a_hunk_without_lines) { EXPECT_EQ(hunked("a\n", {lines("", "")}).find("AF-TOOL-042"), 0U); }
TEST(ApplyHunks, reports_the_new_lines_of_each_hunk) {
    const auto edit =
        apply_hunks("a\nb\nc\nd\n", {lines("d\n", "D\nE\n"), lines("a\n", "1\n2\n3\n"), lines("c\n", "")}, "f").value();
    ASSERT_EQ(edit.regions.size(), 3U);
    const auto is = [&](std::size_t i, std::uint64_t first, std::uint64_t last) {
        return edit.regions[i].first_line == first && edit.regions[i].last_line == last;
    };
    EXPECT_TRUE(is(0, 1, 3) && is(1, 5, 4) && is(2, 5, 6)) << edit.content;
}
TEST(ApplyHunks, names_the_hunk_that_fails) {
    Hunk hunk = lines("q\n", "r\n");
    hunk.label = "Hunk 2 (line 14 of the patch)";
    EXPECT_EQ(hunked("a\n", {hunk}).find("AF-TOOL-040 Hunk 2 (line 14 of the patch): the text to replace is not in f."), 0U);
}

/// Compares every result with a simple interpretation of the hunks: random texts of few lines, so that places repeat.
TEST(ApplyHunksProperty, an_accepted_edit_changes_one_place_and_nothing_else) {
    std::uint64_t state = 42;
    const auto random = [&](std::uint64_t below) {
        state ^= state << 13U;
        state ^= state >> 7U;
        state ^= state << 17U;
        return state % below;
    };
    const std::vector<std::string> words{"a", "b", "  a", "a ", "\t", "", "“a”", "\"a\""};
    const std::vector<std::string> ends{"\n", "\n", "\n", "\r\n"};
    const auto some_lines = [&](std::size_t most) {
        std::string text;
        for (std::uint64_t i = random(most + 1); i > 0; --i) { text += words[random(words.size())] + ends[random(ends.size())]; }
        if (!text.empty() && random(4) == 0) { text.pop_back(); }
        return text;
    };
    int accepted = 0;
    for (int round = 0; round < 5'000; ++round) {
        const std::string content = (random(8) == 0 ? "\xEF\xBB\xBF" : "") + some_lines(8);
        const std::string search = some_lines(3);
        const std::string replace = some_lines(3);
        Hunk hunk;
        hunk.search = search;
        hunk.replace = replace;
        hunk.whole_lines = random(2) == 0;
        if (hunk.whole_lines && !(search.empty() || search.ends_with('\n'))) { hunk.search += '\n'; }
        if (hunk.whole_lines && !(replace.empty() || replace.ends_with('\n'))) { hunk.replace += '\n'; }
        const auto edit = apply_hunks(content, {hunk}, "f");
        if (!edit.ok()) { continue; }
        ++accepted;
        ASSERT_NE(edit->content, content);
        if (hunk.search.empty()) { continue; }
        const auto at = content.find(hunk.search);
        const bool once = at != std::string::npos && content.find(hunk.search, at + 1) == std::string::npos;
        if (!hunk.whole_lines && at != std::string::npos) { ASSERT_TRUE(once) << content << "|" << hunk.search; }
        // The text outside the place stays: the new text begins and ends as the old one except for at most that many bytes.
        std::size_t head = 0;
        while (head < std::min(content.size(), edit->content.size()) && content[head] == edit->content[head]) { ++head; }
        std::size_t tail = 0;
        while (tail < std::min(content.size(), edit->content.size()) - head &&
               content[content.size() - 1 - tail] == edit->content[edit->content.size() - 1 - tail]) {
            ++tail;
        }
        ASSERT_LE(content.size() - head - tail, hunk.search.size() * 3 + 8)
            << content << "|" << hunk.search << "|" << edit->content;
    }
    EXPECT_GT(accepted, 1000);
}

TEST(TextForm, keeps_byte_order_mark_and_crlf) {
    EXPECT_EQ(in_the_form_of("\xEF\xBB\xBF"
                             "a\r\nb\r\n",
                             "x\ny\n"),
              "\xEF\xBB\xBF"
              "x\r\ny\r\n");
    EXPECT_EQ(in_the_form_of("a\r\nb\n", "x\ny\n"), "x\ny\n");
    EXPECT_EQ(in_the_form_of("a\r\n", "x\r\ny\n"), "x\r\ny\n");
}

TEST(CountChanges, counts_as_a_diff_does) {
    EXPECT_EQ(count_changes("a\nb\nc\n", "a\nx\ny\nc\n").added, 2U);
    EXPECT_EQ(count_changes("a\nb\nc\n", "a\nx\ny\nc\n").removed, 1U);
    const auto moved = count_changes("a\nb\nc\nd\n", "b\nc\nd\na\n");
    EXPECT_EQ(moved.added, 1U);
    EXPECT_EQ(moved.removed, 1U);
    EXPECT_EQ(count_changes("", "a\nb").added, 2U);
    EXPECT_EQ(count_changes("a\n", "a\n").added, 0U);
}
TEST(CountChanges, is_fast_on_large_texts) {
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
