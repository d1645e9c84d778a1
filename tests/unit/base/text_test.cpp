// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

std::string utf8(char32_t code) {
    const auto byte = [](char32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
    if (code < 0x80) { return {byte(code)}; }
    if (code < 0x800) { return {byte(0xC0 | (code >> 6)), byte(0x80 | (code & 0x3F))}; }
    return {byte(0xE0 | (code >> 12)), byte(0x80 | ((code >> 6) & 0x3F)), byte(0x80 | (code & 0x3F))};
}

TEST(ToJsonLine, writes_doubles_with_a_dot_and_a_signed_exponent) {
    EXPECT_EQ(to_json_line(json::array{12.5, 0.92, 1e21, 1e-7, 100.0, -0.0}), "[12.5, 0.92, 1.0e+21, 1.0e-07, 100.0, -0.0]");
}

TEST(ToJsonLine, stays_one_line_of_printable_characters) {
    std::string all;
    for (int c = 0; c < 256; ++c) { all += static_cast<char>(c); }
    all += "\u0085\u2028\u2029\uFEFF\u007F";
    for (const char c : to_json_line(json::object{{all, all}})) {
        EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
    }
}

TEST(ToJsonLine, escapes_characters_that_parsers_treat_differently) {
    EXPECT_EQ(to_json_line("\u0085\u2028\uFEFF\x7F\x01\"\\/\U0001F600"),
              "\"\\u0085\\u2028\\ufeff\\u007f\\u0001\\\"\\\\/\U0001F600\"");
}

TEST(ToJsonLine, escapes_bidi_control_characters) {
    const std::string all = "\u061C\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069\u206A\u206F";
    const std::string escaped = R"("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u206a\u206f")";
    EXPECT_EQ(to_json_line(json::value(all)), escaped);
    EXPECT_EQ(to_json_pretty(json::value(all)), escaped + "\n");
    EXPECT_EQ(to_json_line(json::value("\u05D0\u0628 \u200D\u200B")),
              "\"\u05D0\u0628 \u200D\u200B\"");  // Letters, and zero-width characters that join and separate them.
}

TEST(ShownText, escapes_the_same_characters_as_json_does) {
    for (char32_t code = 1; code < 0x10000; ++code) {
        const std::string raw = utf8(code);
        const std::string quoted = to_json_line(json::value(raw));
        const bool raw_in_json = quoted.find(raw) == 1 || code == '"' || code == '\\';
        const bool raw_in_text = shown_text(raw, false) == raw && code != '\n' && code != '\t';
        ASSERT_EQ(raw_in_text, raw_in_json) << std::hex << static_cast<unsigned>(code);
    }
}

TEST(ShownText, keeps_lines_and_tabs_or_makes_them_spaces) {
    EXPECT_EQ(shown_text("a\n\tb\x1b[2J\u061C\xFF", false), "a\n\tb\\x1b[2J\\u061c\uFFFD");
    EXPECT_EQ(shown_text("a\n\tb", true), "a  b");
}

TEST(ToJsonCanonical, does_not_change_so_old_hashes_stay_valid) {
    EXPECT_EQ(to_json_canonical(json::value("\u202E")), "\"\u202E\"");
}

TEST(ToJsonLine, keeps_the_order_of_keys) {
    EXPECT_EQ(to_json_line(json::object{{"b", 1}, {"a", nullptr}}), R"({"b": 1, "a": null})");
}

TEST(ToJsonPretty, indents_by_two_and_ends_in_a_newline) {
    EXPECT_EQ(to_json_pretty(json::object{{"a", json::array{1, json::object{}}}, {"b", json::array{}}}),
              "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}\n");
}

TEST(ToJsonCanonical, sorts_keys_bytewise_and_has_no_spaces) {
    EXPECT_EQ(to_json_canonical(json::object{{"b", json::object{{"z", 1}, {"Z", 2}}}, {"a", json::array{true, "x y"}}}),
              R"({"a":[true,"x y"],"b":{"Z":2,"z":1}})");
}

TEST(ParseJson, names_line_and_column) {
    for (const auto& [text, where] : std::vector<std::pair<std::string, std::string>>{
             {"{\n  \"a\": 1,\n  b\n}", "f.json:3:3"}, {"", "f.json:1:1"}, {"{} x", "f.json:1:4"}, {"[1,\n2", "f.json:2:2"}}) {
        const auto result = parse_json(text, "f.json");
        ASSERT_FALSE(result.ok()) << text;
        EXPECT_EQ(result.error().code, "AF-BASE-020");
        EXPECT_EQ(result.error().where, where) << text;
    }
}

TEST(ParseJson, is_strict) {
    for (const char* text : {"{'a': 1}",  "[1,]", "{\"a\": 1,}", "// c\n1",        "NaN",       "Infinity",     "01",
                             "+1",        "1.",   ".5",          "\"\t\"",         "\"\\x41\"", "\"\xC3\x28\"", "\"\\ud800\"",
                             "{\"a\" 1}", "tru",  "[1] [2]",     "\xEF\xBB\xBF{}", "{1: 2}",    "\"a"}) {
        EXPECT_FALSE(parse_json(text, "f").ok()) << text;
    }
}

TEST(ParseJson, refuses_a_duplicate_key) {
    const auto result = parse_json("{\"a\": 1, \"b\": {\"a\": 1},\n \"a\": 2}", "f");
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("'a'"), std::string::npos) << result.error().message;
    EXPECT_EQ(result.error().where, "f:2:2");
    EXPECT_FALSE(parse_json(R"({"a": 1, "\u0061": 2})", "f").ok());
    EXPECT_TRUE(parse_json(R"([{"a": 1}, {"a": {"a": ["a", "a"]}}])", "f").ok());
}

TEST(ParseJson, reads_two_hundred_levels_and_no_more) {
    EXPECT_TRUE(parse_json(std::string(200, '[') + std::string(200, ']'), "f").ok());
    EXPECT_FALSE(parse_json(std::string(201, '[') + std::string(201, ']'), "f").ok());
    EXPECT_FALSE(parse_json(std::string(1'000'000, '['), "f").ok());
}

TEST(ParseJson, accepts_surrogate_pairs) { EXPECT_EQ(parse_json(R"("\ud83d\ude00")", "f").value(), json::value("\U0001F600")); }

TEST(SanitizeUtf8, replaces_each_maximal_invalid_sequence_once) {
    EXPECT_EQ(sanitize_utf8("a\xF0\x9F\x98z"), "a\uFFFDz");
    EXPECT_EQ(sanitize_utf8("\xE0\x80\x80"), "\uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(sanitize_utf8("\xC3"), "\uFFFD");
    EXPECT_EQ(sanitize_utf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(sanitize_utf8("\u00e9\U0010FFFF"), "\u00e9\U0010FFFF");
}

TEST(IsValidUtf8, agrees_with_sanitize) {
    for (const std::string& text : {std::string("a\xF0\x9F\x98z"), std::string("\xC3\xA9"), std::string(),
                                    std::string("\xED\xA0\x80"), std::string("\0", 1), std::string("abc\xFF")}) {
        EXPECT_EQ(is_valid_utf8(text), sanitize_utf8(text) == text);
    }
}

TEST(HeadAndTail, keeps_both_ends_within_the_bound) {
    const std::string text = "head" + std::string(10'000, 'x') + "tail";
    const std::string cut = head_and_tail(text, 200);
    EXPECT_LE(cut.size(), 200U);
    EXPECT_TRUE(cut.starts_with("head") && cut.ends_with("tail")) << cut;
    EXPECT_NE(cut.find("bytes left out"), std::string::npos);
    EXPECT_EQ(head_and_tail(text, text.size()), text);
}

TEST(HeadAndTail, cuts_between_characters_at_every_bound) {
    std::string text;
    for (int i = 0; i < 100; ++i) { text += "a\u00e9\u4e2d\U0001F600"; }
    for (std::size_t bound = 0; bound <= text.size() + 1; ++bound) {
        const std::string cut = head_and_tail(text, bound);
        EXPECT_LE(cut.size(), bound);
        EXPECT_TRUE(is_valid_utf8(cut)) << bound;
    }
}

TEST(Ellipsis, cuts_between_characters_at_every_bound) {
    const std::string text = "a\u00e9\u4e2d\U0001F600z";
    for (std::size_t bound = 0; bound <= text.size() + 1; ++bound) {
        const std::string cut = ellipsis(text, bound);
        EXPECT_LE(cut.size(), bound);
        EXPECT_TRUE(is_valid_utf8(cut)) << bound;
    }
    EXPECT_EQ(ellipsis("abcdef", 5), "ab\u2026");
    EXPECT_EQ(ellipsis(text, text.size()), text);
}

TEST(LetterCase, changes_only_ascii_letters) {
    EXPECT_EQ(lower_case("RED-Größe[1]Z"), "red-größe[1]z");
    EXPECT_EQ(upper_case("red-größe[1]z"), "RED-GRößE[1]Z");
}

TEST(FirstLine, ends_at_any_line_end) {
    EXPECT_EQ(first_line("one\ntwo"), "one");
    EXPECT_EQ(first_line("one\r\ntwo"), "one");
    EXPECT_EQ(first_line("\nx"), "");
    EXPECT_EQ(first_line("one"), "one");
}

TEST(Nearest, suggests_the_likely_word_or_nothing) {
    const std::vector<std::string> words{"pipeline", "stage", "status", "request"};
    EXPECT_EQ(nearest("pipelne", words), "pipeline");
    EXPECT_EQ(nearest("staus", words), "status");
    EXPECT_EQ(nearest("stauts", {"start", "status"}), "status");
    EXPECT_EQ(nearest("zebra", words), "");
    const std::vector<std::string> commands{"abort", "apply", "cost", "logs", "remind", "reject", "setup", "start", "status"};
    for (const char* other : {"replay", "stop", "test", "list", "review"}) { EXPECT_EQ(nearest(other, commands), "") << other; }
    for (const auto& [wrong, meant] : {std::pair{"strat", "start"},
                                       {"log", "logs"},
                                       {"csot", "cost"},
                                       {"aplly", "apply"},
                                       {"rejct", "reject"},
                                       {"sttaus", "status"}}) {
        EXPECT_EQ(nearest(wrong, commands), meant);
    }
    EXPECT_EQ(nearest("x", {}), "");
    EXPECT_EQ(nearest(std::string(1'000'000, 'x'), words), "");
}

}  // namespace
}  // namespace agentforge::kernel
