// SPDX-License-Identifier: Apache-2.0
#include "base/yaml.hpp"

#include <chrono>
#include <random>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

/// Returns the value as JSON, or the error's code and place.
std::string read(std::string_view text, const YamlLimits& limits = {}) {
    const auto result = parse_yaml(text, "f.yaml", limits);
    if (result.ok()) { return to_json_line(result->value); }
    EXPECT_FALSE(result.error().message.empty() || result.error().remedy.empty());
    EXPECT_EQ(result.error().kind, ErrorKind::invalid);
    return result.error().code + " " + result.error().where;
}

TEST(ParseYaml, reads_a_map_with_each_kind_of_scalar) {
    EXPECT_EQ(read("a: 1\nb: yes\nc: true\nd: ~\ne: 1.5\nf: '5'\ng: 012\nh:\n  - x\n  - {y: z}\n"),
              R"({"a": 1, "b": "yes", "c": true, "d": null, "e": 1.5, "f": "5", "g": "012", "h": ["x", {"y": "z"}]})");
}

TEST(ParseYaml, reads_only_plain_json_numbers_as_numbers) {
    EXPECT_EQ(read("[0, -7, 1.0, 1e3, 1E-3, -0.5e+2]"), "[0, -7, 1.0, 1000.0, 0.001, -50.0]");
    EXPECT_EQ(
        read("['1', \"2\", +1, 0x1f, 0o7, 1_000, 1., .5, 12:30, 2024-01-01, .inf, .nan, 1.2.3, 007, -, e3]"),
        R"(["1", "2", "+1", "0x1f", "0o7", "1_000", "1.", ".5", "12:30", "2024-01-01", ".inf", ".nan", "1.2.3", "007", "-", "e3"])");
}

TEST(ParseYaml, reads_only_true_and_false_as_booleans) {
    EXPECT_EQ(read("[true, false, True, TRUE, yes, no, on, off, y, 'true']"),
              R"([true, false, "True", "TRUE", "yes", "no", "on", "off", "y", "true"])");
}

TEST(ParseYaml, reads_null_in_its_five_forms) {
    EXPECT_EQ(read("a: null\nb: ~\nc:\nd: Null\ne: NULL\nf: 'null'\ng: ''\n"),
              R"({"a": null, "b": null, "c": null, "d": null, "e": null, "f": "null", "g": ""})");
}

TEST(ParseYaml, reads_quoted_and_block_scalars_as_text) {
    EXPECT_EQ(read("a: |\n  1\nb: >-\n  x\n  y\nc: \"\\u00e9\\x41\\n\"\nd: 'it''s'\ne: |-\n  true\n"),
              "{\"a\": \"1\\n\", \"b\": \"x y\", \"c\": \"\u00e9A\\n\", \"d\": \"it's\", \"e\": \"true\"}");
}

TEST(ParseYaml, applies_core_tags) {
    EXPECT_EQ(read("[!!str 1, !!int '1', !!float 1, !!bool 'true', !!null '', ! 1, !!seq [a], !!map {a: b}]"),
              R"(["1", 1, 1.0, true, null, "1", ["a"], {"a": "b"}])");
    EXPECT_EQ(read("!!str null"), R"("null")");
}

TEST(ParseYaml, refuses_other_tags_and_those_that_do_not_fit) {
    EXPECT_EQ(read("a: !foo 1\n"), "AF-CONF-006 f.yaml:1:4");
    EXPECT_EQ(read("a: !!int x\n"), "AF-CONF-006 f.yaml:1:4");
    EXPECT_EQ(read("a: !!bool yes\n"), "AF-CONF-006 f.yaml:1:4");
    EXPECT_EQ(read("a: !!python/object/apply:os.system [ls]\n"), "AF-CONF-006 f.yaml:1:4");
    EXPECT_EQ(read("a: !!binary aGk=\n"), "AF-CONF-006 f.yaml:1:4");
    EXPECT_EQ(read("a: !!set {b}\n"), "AF-CONF-006 f.yaml:1:4");
    EXPECT_EQ(read("a: !!map [b]\n"), "AF-CONF-006 f.yaml:1:4");
    EXPECT_EQ(read("!!int a: 1\n"), "AF-CONF-004 f.yaml:1:1");
}

TEST(ParseYaml, refuses_numbers_that_do_not_fit) {
    EXPECT_EQ(read("[9223372036854775807, -9223372036854775808]"), "[9223372036854775807, -9223372036854775808]");
    EXPECT_EQ(read("a: 9223372036854775808"), "AF-CONF-006 f.yaml:1:4");
    EXPECT_EQ(read("a: 123456789012345678901234567890"), "AF-CONF-006 f.yaml:1:4");
    EXPECT_EQ(read("a: 1e999"), "AF-CONF-006 f.yaml:1:4");
}

TEST(ParseYaml, reads_words_such_as_yes_and_on_as_text_keys) {
    EXPECT_EQ(
        read("yes: 1\non: 2\nn: 3\nTrue: 4\n'1': 5\n\"null\": 6\n1.2.3: 7\na b: 8\n? c\n: 9\n'<<': 10\n1a: 11\n-x: 12\n"),
        R"({"yes": 1, "on": 2, "n": 3, "True": 4, "1": 5, "null": 6, "1.2.3": 7, "a b": 8, "c": 9, "<<": 10, "1a": 11, "-x": 12})");
}

TEST(ParseYaml, refuses_keys_that_are_not_strings) {
    for (const char* key : {"1", "-1", "1.5", "true", "false", "null", "~", "012", "0x1f", "1e3", "1_000", "12:30", "2024-01-01",
                            ".5", ".inf", "+1"}) {
        EXPECT_EQ(read("a: b\n" + std::string(key) + ": x\n"), "AF-CONF-004 f.yaml:2:1") << key;
    }
    EXPECT_EQ(read("? [a, b]\n: x\n"), "AF-CONF-004 f.yaml:1:3");
    EXPECT_EQ(read("{{a: b}: x}\n"), "AF-CONF-004 f.yaml:1:2");
    EXPECT_EQ(read(": x\n").substr(0, 11), "AF-CONF-004");
    EXPECT_EQ(read("a: &k [1]\n*k : x\n"), "AF-CONF-004 f.yaml:2:1");
}

TEST(ParseYaml, refuses_duplicate_keys_however_they_are_written) {
    EXPECT_EQ(read("a: 1\na: 2\n"), "AF-CONF-002 f.yaml:2:1");
    EXPECT_EQ(read("x:\n  - {b: 1, \"b\": 2}\n"), "AF-CONF-002 f.yaml:2:12");
    EXPECT_EQ(read("a: 1\n'\\x61': 2\nb: 3\n"), R"({"a": 1, "\\x61": 2, "b": 3})");
    EXPECT_EQ(read("a: 1\n\"\\x61\": 2\n"), "AF-CONF-002 f.yaml:2:1");
    EXPECT_EQ(read("k: &k a\na: 1\n*k : 2\n"), "AF-CONF-002 f.yaml:3:1");
}

TEST(ParseYaml, refuses_merge_keys) { EXPECT_EQ(read("x: &a {b: 1}\ny:\n  <<: *a\n"), "AF-CONF-003 f.yaml:3:3"); }

TEST(ParseYaml, refuses_a_second_document) {
    EXPECT_EQ(read("a: 1\n---\nb: 2\n"), "AF-CONF-005 f.yaml:2:1");
    EXPECT_EQ(read("---\na: 1\n...\n"), R"({"a": 1})");
    EXPECT_EQ(read("%YAML 1.2\n---\na: 1\n"), R"({"a": 1})");
    EXPECT_EQ(read("a: 1\n---\n").substr(0, 11), "AF-CONF-005");
}

TEST(ParseYaml, expands_aliases) {
    EXPECT_EQ(read("a: &x [1, {b: &y yes}]\nc: *x\nd: *y\ne: &x 2\nf: *x\n"),
              R"({"a": [1, {"b": "yes"}], "c": [1, {"b": "yes"}], "d": "yes", "e": 2, "f": 2})");
}

TEST(ParseYaml, refuses_cycles_and_unknown_aliases) {
    EXPECT_EQ(read("&a [*a]\n"), "AF-CONF-007 f.yaml:1:5");
    EXPECT_EQ(read("a: &a\n  b: {c: *a}\n"), "AF-CONF-007 f.yaml:2:10");
    EXPECT_EQ(read("a: *nowhere\n"), "AF-CONF-007 f.yaml:1:4");
}

TEST(ParseYaml, refuses_an_alias_bomb_quickly) {
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 30; ++i) {
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int j = 0; j < 10; ++j) { bomb += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1); }
        bomb += "]\n";
    }
    EXPECT_EQ(read(bomb).substr(0, 11), "AF-CONF-008");
}

TEST(ParseYaml, refuses_an_alias_bomb_of_long_texts) {
    std::string bomb = "a: &a " + std::string(500'000, 'x') + "\nb: [*a";
    for (int i = 0; i < 50'000; ++i) { bomb += ", *a"; }
    EXPECT_EQ(read(bomb + "]\n").substr(0, 11), "AF-CONF-008");
}

TEST(ParseYaml, keeps_positions_small_under_long_keys) {
    std::string text = "? " + std::string(400'000, 'k') + "\n: [1";
    for (int i = 0; i < 100'000; ++i) { text += ", 1"; }
    const auto result = parse_yaml(text + "]\n", "f.yaml");
    ASSERT_TRUE(result.ok()) << result.error().to_string();
    EXPECT_LT(result->places.size(), 10U);
}

TEST(ParseYaml, enforces_its_limits) {
    const YamlLimits limits{100, 5, 3};
    EXPECT_EQ(read("[1, 2, 3, 4]", limits), "[1, 2, 3, 4]");
    EXPECT_EQ(read("[1, 2, 3, 4, 5]", limits), "AF-CONF-008 f.yaml:1:14");
    EXPECT_EQ(read("[[[1]]]", limits), "[[[1]]]");
    EXPECT_EQ(read("[[[[1]]]]", limits), "AF-CONF-008 f.yaml:1:4");
    EXPECT_EQ(read("a: &a [1]\nb: [[*a]]\n", YamlLimits{100, 50, 3}), "AF-CONF-008 f.yaml:2:6");
    EXPECT_EQ(read(std::string(101, 'x'), limits), "AF-CONF-008 f.yaml");
}

TEST(ParseYaml, refuses_deep_nesting_with_its_own_error_code) {
    for (const char* opening : {"[", "{a: ", "- ", "? "}) {
        std::string text;
        while (text.size() < 100'000) { text += opening; }
        const std::string code = read(text).substr(0, 11);
        EXPECT_TRUE(code == "AF-CONF-008" || code == "AF-CONF-004") << opening << code;
    }
    EXPECT_EQ(read(std::string(300, '[') + std::string(300, ']'), YamlLimits{1000, 1000, 9999}).substr(0, 3), "[[[");
    EXPECT_EQ(read(std::string(450, '[') + std::string(450, ']'), YamlLimits{1000, 1000, 9999}).substr(0, 11), "AF-CONF-008");
}

TEST(ParseYaml, reads_windows_and_old_mac_files) {
    EXPECT_EQ(read("\xEF\xBB\xBF"
                   "a: 1\r\nb: |\r\n  x\r\n  y\r\n"),
              R"({"a": 1, "b": "x\ny\n"})");
    EXPECT_EQ(read("a: 1\rb: 2\r"), R"({"a": 1, "b": 2})");
}

TEST(ParseYaml, refuses_binary_data) {
    EXPECT_EQ(read("\u00e9: \xE9\n"), "AF-CONF-009 f.yaml:1:4");
    EXPECT_EQ(read("a: 1\nb: \xFF\xFE"), "AF-CONF-009 f.yaml:2:4");
    EXPECT_EQ(read(std::string_view("a: \0\n", 5)), "AF-CONF-009 f.yaml:1:4");
    EXPECT_EQ(read("a: \x04 b: c\n"), "AF-CONF-009 f.yaml:1:4");
    EXPECT_EQ(read("a: \x1B[31m\n"), "AF-CONF-009 f.yaml:1:4");
    EXPECT_EQ(read(std::string_view("\xFF\xFE"
                                    "a\0:\0 \0"
                                    "1\0",
                                    10)),
              "AF-CONF-009 f.yaml:1:1");
    EXPECT_EQ(read(std::string_view("\0a\0:", 4)), "AF-CONF-009 f.yaml:1:1");
    EXPECT_EQ(read("a: \xE4\xB8"), "AF-CONF-009 f.yaml:1:4");
}

TEST(ParseYaml, refuses_malformed_text_and_names_its_position) {
    EXPECT_EQ(read("a: 1\n\tb: 2\n").substr(0, 20), "AF-CONF-001 f.yaml:2");
    EXPECT_NE(read("a: [1, 2\n").find("AF-CONF-00"), std::string::npos);
    EXPECT_NE(read("a: {b: 1\n").find("AF-CONF-00"), std::string::npos);
    EXPECT_EQ(read("a: b: c\n").substr(0, 20), "AF-CONF-001 f.yaml:1");
    for (const char* quote : {"'", "\""}) {
        for (const char* end : {"x", "x\n", "x\n  ", "x\n\t\n", "", "\n", "x\nb: 1\n"}) {
            EXPECT_EQ(read("a: " + std::string(quote) + end).substr(0, 11), "AF-CONF-001") << quote << end;
        }
    }
    EXPECT_EQ(read("a: 1\n b: 2\n").substr(0, 20), "AF-CONF-001 f.yaml:2");
    EXPECT_EQ(read("a: \"\\q\"\n").substr(0, 20), "AF-CONF-001 f.yaml:1");
    EXPECT_EQ(read("a: @x\n").substr(0, 20), "AF-CONF-001 f.yaml:1");
    EXPECT_EQ(read("%YAML 9.0\n---\na: 1\n").substr(0, 11), "AF-CONF-001");
}

TEST(ParseYaml, keeps_the_line_ends_of_a_block_at_the_end_of_the_text) {
    EXPECT_EQ(read("a: |\n  x\n"), R"({"a": "x\n"})");
    EXPECT_EQ(read("a: |+\n  x\n\n\n"), R"({"a": "x\n\n\n"})");
    EXPECT_EQ(read("a: |-\n  x\n\n"), R"({"a": "x"})");
    EXPECT_EQ(read("a: >\n  x\n  # y\n"), R"({"a": "x # y\n"})");
    EXPECT_EQ(read("a:\n  x\n  y\n"), R"({"a": "x y"})");
    EXPECT_EQ(read("--- |\n  x\n"), R"("x\n")");
}

TEST(ParseYaml, reads_empty_text_as_null) {
    for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "\xEF\xBB\xBF", "---\n...\n"}) {
        EXPECT_EQ(read(text), "null") << text;
    }
}

TEST(ParseYaml, counts_columns_in_characters) {
    EXPECT_EQ(read("\u00e9\u4e2d\U0001F600: {a: 1, a: 2}\n"), "AF-CONF-002 f.yaml:1:13");
}

TEST(YamlDocument, knows_the_position_of_each_value) {
    const auto document = parse_yaml("stages:\n  - name: red\n    a/b~c: 1\n  - name: green\nlast: x\n", "p.yaml");
    ASSERT_TRUE(document.ok());
    EXPECT_EQ(document->where(""), "p.yaml:1:1");
    EXPECT_EQ(document->where("/stages/1/name"), "p.yaml:4:11");
    EXPECT_EQ(document->where("/stages/0/a~1b~0c"), "p.yaml:3:12");
    EXPECT_EQ(document->where("/last"), "p.yaml:5:7");
}

TEST(YamlDocument, names_the_nearest_position_for_a_missing_value) {
    const auto document = parse_yaml("a:\n  b: 1\n", "p.yaml");
    ASSERT_TRUE(document.ok());
    EXPECT_EQ(document->where("/a/missing/deeper"), "p.yaml:2:3");
    EXPECT_EQ(document->where("/zzz"), "p.yaml:1:1");
}

TEST(LoadYaml, reads_a_file_and_names_it_in_errors) {
    const TemporaryDirectory folder("yaml");
    const std::string path = (folder.path() / "f.yaml").string();
    ASSERT_TRUE(write_file_atomic(path, "a: 1\na: 2\n", Durability::cached).ok());
    EXPECT_EQ(load_yaml(path).error().where, path + ":2:1");
    EXPECT_EQ(load_yaml(path + "x").error().code, "AF-BASE-010");
    EXPECT_EQ(load_yaml(path, YamlLimits{5, 5, 5}).error().code, "AF-BASE-012");
}

TEST(ParseYaml, terminates_on_any_input) {
    const std::string seed =
        "a: &x [1, 'two', \"three\\n\"]\nb:\n  - c: |\n      text\n    d: *x\n  - ? key\n    : {e: ~, f: !!str 1}\n# end\n...\n";
    const std::string alphabet = "[]{}:,-?&*!|>'\"%@`#\n\t \\ax0~<\xC3\xA9";
    std::mt19937 random(7);
    std::size_t read_well = 0;
    for (int i = 0; i < 20'000; ++i) {
        std::string text = seed;
        for (auto changes = 1 + random() % 6; changes > 0; --changes) {
            const auto at = random() % text.size();
            const char c = alphabet[random() % alphabet.size()];
            switch (random() % 3) {
                case 0:
                    text[at] = c;
                    break;
                case 1:
                    text.insert(at, 1, c);
                    break;
                default:
                    text.erase(at, 1 + random() % 4);
            }
            if (text.empty()) { text = " "; }
        }
        const auto result = parse_yaml(text, "f");
        if (!result.ok()) { continue; }
        ++read_well;
        const auto again = parse_yaml(to_yaml(result->value), "again");
        ASSERT_TRUE(again.ok()) << text << "\n" << to_yaml(result->value) << again.error().to_string();
        ASSERT_EQ(again->value, result->value) << text;
    }
    EXPECT_GT(read_well, 100U);
}

}  // namespace
}  // namespace agentforge::kernel
