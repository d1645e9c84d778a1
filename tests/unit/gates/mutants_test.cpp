// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/mutants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/language/language.hpp"
#include "gates/language/source_text.hpp"
#include "gates/test_quality/altered_results.hpp"
#include "gates/test_quality/other_expectations.hpp"
#include "gates/test_quality/same_code.hpp"
#include "gates/test_quality/test_quality.hpp"
#include "unit/gates/shipped_language.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::set<std::uint64_t> all_lines(std::string_view text) {
    std::set<std::uint64_t> lines;
    for (std::uint64_t number = 1; number <= static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')); ++number) {
        lines.insert(number);
    }
    return lines;
}

/// Returns the mutated lines, in order.
std::vector<std::string> altered(const std::string& language_name, const std::string& path, const std::string& text,
                                 std::set<std::uint64_t> lines = {}) {
    const auto language = shipped_language(language_name);
    if (lines.empty()) { lines = all_lines(text); }
    std::vector<std::string> result;
    for (const auto& mutant : mutants_of(path, text, text, lines, language.code, language.mutations)) {
        result.push_back(mutant.after);
    }
    return result;
}

TEST(Mutants, skip_the_list_of_exported_names) {
    EXPECT_TRUE(altered("python", "a.py", "__all__ = [\"slugify\", \"shorten\"]\n", {1}).empty());
    EXPECT_FALSE(altered("python", "a.py", "names = [\"slugify\", \"shorten\"]\n", {1}).empty());
}

TEST(Mutants, alter_comparisons_results_and_literals_of_each_language) {
    EXPECT_THAT(altered("python", "a.py", "def f(a):\n    if a == 3:\n        return 'x' + a\n"),
                ::testing::AllOf(Contains("if a != 3:"), Contains("if a == 4:"), Contains("return another value"),
                                 Contains("return 'y' + a")));
    EXPECT_THAT(altered("cpp", "a.cpp", "int f(int a) {\n    return a < 7;\n}\n"),
                ::testing::AllOf(Contains("return a >= 7;"), Contains("return {};"), Contains("return a < 8;")));
    EXPECT_THAT(altered("cpp", "a.c", "int f(int a) {\n    return a;\n}\n"), ElementsAre("return 0;"));
    EXPECT_THAT(altered("javascript", "a.js", "export function f(a) {\n  return a === 'x';\n}\n"),
                ::testing::AllOf(Contains("return a !== 'x';"), Contains("return another value;")));
    EXPECT_THAT(altered("go", "a.go", "func F(a string) string {\n\treturn a + \"-\"\n}\n"),
                ::testing::AllOf(Contains("return \"\""), Contains("return a + \"~-\"")));
    EXPECT_THAT(altered("rust", "a.rs", "fn f(a: &str) -> String {\n    a.to_lowercase()\n}\n"), Contains("Default::default()"));
    EXPECT_THAT(altered("java", "A.java", "class A {\n    String f(String a) {\n        return a + \"-\";\n    }\n}\n"),
                ::testing::AllOf(Contains("return null;"), Contains("return a + \"~-\";")));
}

TEST(Mutants, change_a_result_to_one_of_the_same_kind_and_describe_it) {
    const auto language = shipped_language("python");
    const std::string text = "def f(a):\n    return g(a)  # why\n";
    const auto found = mutants_of("a.py", text, text, all_lines(text), language.code, language.mutations);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().after, "return another value");
    EXPECT_THAT(found.front().content, ::testing::AllOf(HasSubstr("it + 1 if"), HasSubstr("lambda: g(a)})")));
}

std::vector<AlteredResults> with_other_results(const std::string& language_name, const std::string& path, const std::string& text,
                                               std::set<std::uint64_t> lines = {}) {
    const auto language = shipped_language(language_name);
    if (lines.empty()) { lines = all_lines(text); }
    return altered_results(path, text, text, lines, language.code, language.mutations);
}

TEST(AlteredResults, change_every_result_of_a_function_and_nothing_else) {
    const std::string text =
        "int sign(int a) {\n    if (a < 0) { log(a); }\n    if (a < 0) {\n        return -1;\n    }\n    return 0;\n}\n";
    const auto found = with_other_results("cpp", "a.cpp", text);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].function, "sign");
    EXPECT_EQ(found[0].line, 4U);
    EXPECT_THAT(
        found[0].contents,
        ElementsAre(
            "int sign(int a) {\n    if (a < 0) { log(a); }\n    if (a < 0) {\n        return {};\n    }\n    return 1;\n}\n"));
}

TEST(AlteredResults, have_one_text_per_kind_of_value) {
    const auto found = with_other_results("java", "A.java", "class A {\n    int f(int a) {\n        return a;\n    }\n}\n");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_THAT(found[0].contents, ElementsAre(HasSubstr("return null;"), HasSubstr("return 0;"), HasSubstr("return false;")));
}

TEST(AlteredResults, change_differently_written_results_together) {
    const auto found = with_other_results(
        "rust", "a.rs",
        "fn f(a: &[u8]) -> u8 {\n    if a.len() > 9 {\n        return 0;\n    }\n    if a.len() > 8 {\n        return g(a);\n    }\n    sum(a)\n}\n");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_THAT(
        found[0].contents,
        ElementsAre(
            "fn f(a: &[u8]) -> u8 {\n    if a.len() > 9 {\n        return 1;\n    }\n    if a.len() > 8 {\n        return Default::default();\n    }\n    Default::default()\n}\n"));
}

TEST(AlteredResults, are_none_of_a_go_function_that_only_passes_errors_on) {
    const auto of = [](const std::string& result, const std::string& end) {
        return with_other_results("go", "a.go",
                                  "func f() error {\n\tif err := g(); err != nil {\n\t\t" + result + "\n\t}\n\t" + end + "\n}\n");
    };
    EXPECT_THAT(of("return err", "return nil"), IsEmpty());
    EXPECT_THAT(of("return err", "return h()"), ::testing::SizeIs(1));
}

TEST(AlteredResults, change_a_literal_to_another_literal) {
    EXPECT_THAT(
        with_other_results("java", "A.java", "class A {\n    boolean f() {\n        return false;\n    }\n}\n")[0].contents,
        ElementsAre(HasSubstr("return true;")));
    EXPECT_THAT(with_other_results("python", "a.py", "def f():\n    return 0\n")[0].contents,
                ElementsAre("def f():\n    return 1\n"));
}

TEST(AlteredResults, keep_a_result_that_equals_its_replacement) {
    const auto found = with_other_results(
        "rust", "a.rs",
        "fn f(a: &[u32]) -> Option<u32> {\n    if a.is_empty() {\n        return None;\n    }\n    Some(a[0])\n}\n");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].before, "Some(a[0])");
    EXPECT_THAT(found[0].contents, ElementsAre(HasSubstr("        return None;\n    }\n    Default::default()\n")));
    EXPECT_THAT(with_other_results("cpp", "a.cpp", "std::vector<int> f() {\n    return std::vector<int>{};\n}\n"), IsEmpty());
}

TEST(AlteredResults, cover_functions_that_are_one_expression) {
    EXPECT_THAT(with_other_results("python", "a.py", "half = lambda a: a / 2\n")[0].contents[0],
                ::testing::AllOf(HasSubstr("half = lambda a: (lambda it"), HasSubstr(")(a / 2)")));
    const auto arrow = with_other_results("javascript", "a.js", "export const half = (a) => a / 2;\n");
    ASSERT_EQ(arrow.size(), 1U);
    EXPECT_EQ(arrow[0].function, "half");
    EXPECT_EQ(arrow[0].after, "=> another value;");
}

TEST(AlteredResults, cover_only_enclosing_functions_that_return_a_value) {
    const std::string text =
        "def a(x):\n    return x\n\n\ndef b(\n    x,\n):\n    \"\"\"Prints.\"\"\"\n    print(x)\n\n\nclass C:\n    def c(self, x):\n        self.x = x\n        return self\n\n"
        "    def d(self):\n        def e():\n            return 2\n        return e\n";
    std::vector<std::string> names;
    for (const auto& each : with_other_results("python", "a.py", text)) { names.push_back(each.function); }
    EXPECT_THAT(names, ElementsAre("a", "d", "e"));
    names.clear();
    for (const auto& each : with_other_results("python", "a.py", text, {2, 19})) { names.push_back(each.function); }
    EXPECT_THAT(names, ElementsAre("a", "e")) << "a line belongs to the innermost function";
    EXPECT_THAT(with_other_results("python", "a.py", "def f(x):\n    g(x)\n    return x\n", {2}), IsEmpty())
        << "its result is as it was";
}

TEST(Mutants, skip_comments_documentation_and_unchanged_lines) {
    EXPECT_THAT(altered("python", "a.py", "# if a == 3:\n\"\"\"returns 3 == 4\"\"\"\n"), IsEmpty());
    EXPECT_THAT(altered("python", "a.py", "x = 1\ny = 2\n", {2}), ElementsAre("y = 3"));
    EXPECT_THAT(altered("javascript", "a.js", "import { f } from './a.js'; // === 3\n"), Not(Contains(HasSubstr("!=="))));
}

TEST(Mutants, change_one_line_and_keep_brackets_balanced) {
    const auto language = shipped_language("python");
    const std::string text = "def f(a):\n    return g(\n        a == 1)\n";
    for (const auto& mutant : mutants_of("a.py", text, text, all_lines(text), language.code, language.mutations)) {
        EXPECT_EQ(mutant.line, 3U) << mutant.content;
        EXPECT_THAT(mutant.content, HasSubstr("    return g(\n"));
    }
}

TEST(Mutants, of_a_data_file_change_the_last_word) {
    const auto found = mutants_of("a.json", "{\"limit\": 10}\n", "{\"limit\": 10}\n", {1}, {}, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].after, "{\"limit\": 11}");
}

TEST(MutantsExpectations, do_not_include_arguments_of_a_predicate) {
    const auto go = shipped_language("go");
    EXPECT_EQ(with_other_expectations("\tif !Equal(\"a\", \"a\") {\n", {1}, go.code).text, "");
    EXPECT_EQ(with_other_expectations("\tif Equal(\"a\", \"b\") {\n", {1}, go.code).text, "");
    EXPECT_THAT(with_other_expectations("\tif !reflect.DeepEqual(got, []string{\"a\"}) {\n", {1}, go.code).text,
                HasSubstr("\"~\""));
    EXPECT_THAT(with_other_expectations("\tif add(1, 2) != 3 {\n", {1}, go.code).text, HasSubstr("!= 4"));
}

TEST(Mutants, change_the_expectations_of_a_test_and_keep_its_inputs) {
    const auto python = shipped_language("python");
    EXPECT_EQ(with_other_expectations("@pytest.mark.parametrize(\n    ('text', 'expected'),\n    [('1', True)],\n)\n",
                                      {1, 2, 3, 4}, python.code)
                  .text,
              "@pytest.mark.parametrize(\n    ('text', 'expected'),\n    [('1', False)],\n)\n");
    EXPECT_EQ(with_other_expectations("x = 'a'\nassert f('a') == 'bc'\n", {1, 2}, python.code).text,
              "x = 'a'\nassert f('a') == '~c'\n");
    EXPECT_EQ(with_other_expectations("assert added('a') == ['a']\n", {1}, python.code).text.find("added('a')"), 7U);
    EXPECT_EQ(with_other_expectations("self.assertEqual(f(), 7)\n", {1}, python.code).text, "self.assertEqual(f(), 8)\n");
    EXPECT_EQ(with_other_expectations("self.assertEqual(f(), 7)\n", {2}, python.code).text, "");
    EXPECT_EQ(with_other_expectations("    EXPECT_EQ(f(\"a\", 1), \"bc\");\n", {1}, rules_of_language("cpp")).text,
              "    EXPECT_EQ(f(\"a\", 1), \"~c\");\n");
    EXPECT_EQ(with_other_expectations("assert f('ab') == 7, 'no message'\n", {1}, python.code).text,
              "assert f('ab') == 8, 'no message'\n");
}

// A test that compares lengths only must not pass for another reason than the one that compares values.
TEST(MutantsExpectations, keep_the_length_of_a_text) {
    const auto go = rules_of_language("go");
    EXPECT_EQ(with_other_expectations("\t{\"half\", 15, \"0.02\"},\n", {1}, go).text, "\t{\"half\", 15, \"~.02\"},\n");
    EXPECT_EQ(with_other_expectations("\t{\"less\", 4, \"-0.01\"},\n", {1}, go).text, "\t{\"less\", 4, \"~0.01\"},\n");
    EXPECT_EQ(with_other_expectations("\tif f() != \"ab\" {\n", {1}, go).text, "\tif f() != \"~b\" {\n");
    EXPECT_EQ(with_other_expectations("\tif f() != \"\\tb\" {\n", {1}, go).text, "\tif f() != \"~\\tb\" {\n");
    EXPECT_EQ(with_other_expectations("\tif f() != \"\" {\n", {1}, go).text, "\tif f() != \"~\" {\n");
}

TEST(MutantsExpectations, prefer_an_equality_with_a_literal) {
    const auto python = rules_of_language("python");
    EXPECT_EQ(with_other_expectations("assert f([5, 1]) == 4 or f([5, 1]) >= 0\n", {1}, python).text,
              "assert f([5, 1]) == 5 or f([5, 1]) >= 0\n");
    EXPECT_EQ(with_other_expectations("assert f([5, 1]) == 2.5\n", {1}, python).text, "assert f([5, 1]) == 3.5\n");
    EXPECT_EQ(with_other_expectations("assert f([5, 1]) == 2.5, 'no 7'\n", {1}, python).text,
              "assert f([5, 1]) == 3.5, 'no 7'\n");
    EXPECT_EQ(with_other_expectations("    assert!(f(&[5, 1]) == 4);\n", {1}, rules_of_language("rust")).text,
              "    assert!(f(&[5, 1]) == 5);\n");
}

TEST(MutantsExpectations, do_not_include_a_call_compared_with_itself) {
    const auto python = rules_of_language("python");
    EXPECT_EQ(with_other_expectations("assert f([5, 1]) == f([5, 1])\n", {1}, python).text, "");
    EXPECT_EQ(with_other_expectations("    self.assertEqual(f([5, 1]), f([5, 1]))\n", {1}, python).text, "");
    EXPECT_NE(with_other_expectations("assert f([5, 1]) == f([1, 5])\n", {1}, python).text, "");
    EXPECT_EQ(with_other_expectations("assert add(f(1), f(1)) == 4\n", {1}, python).text, "assert add(f(1), f(1)) == 5\n");
}

std::set<std::string> equating(const std::string& text) {
    std::set<std::uint64_t> lines;
    for (std::uint64_t line = 1; line <= 9; ++line) { lines.insert(line); }
    return asserting_equality(text, lines, rules_of_language("python"));
}

TEST(MutantsExpectations, name_tests_that_unconditionally_equate_a_result_with_a_literal) {
    EXPECT_THAT(equating("def test_a():\n    x = f(1)\n    assert x == 2\n"), ElementsAre("test_a"));
    EXPECT_THAT(equating("def test_a():\n    assert f('a', 1) == 'b', 'no message'\n"), ElementsAre("test_a"));
    EXPECT_THAT(equating("class T:\n    def test_a(self):\n        self.assertEqual(f('a', 1), 'b')\n"), ElementsAre("test_a"));
    for (const auto* line :
         {"assert f(1) == 2 or g()", "assert not f(1) == 2", "assert f(1) != 2", "assert f(1) >= 2",
          "assert f(1) == approx(2, 1)", "assert all(x == 2 for x in f())", "assert f(x == 2)",
          "self.assertEqual(f(), g(), 'a message')", "self.assertNotEqual(f(), 2)", "self.assertAlmostEqual(f(), 2, 1)",
          "for x in f(): assert x == 2", "self.assertEqual(f(1) + 1, 8)"}) {
        EXPECT_THAT(equating(std::string("def test_a():\n    ") + line + "\n"), IsEmpty()) << line;
    }
    EXPECT_THAT(equating("def test_a():\n    if here:\n        assert f(1) == 2\n"), IsEmpty());
    EXPECT_THAT(equating("def test_a():\n    assert f(1) == 2\n\n\ndef test_a():\n    pass\n"), IsEmpty());
}

TEST(Mutants, change_the_last_value_of_a_row_of_test_cases) {
    EXPECT_EQ(with_other_expectations("    (\"a\", {\"b\"}, True),\n", {1}, rules_of_language("python")).text,
              "    (\"a\", {\"b\"}, False),\n");
    EXPECT_EQ(with_other_expectations("\t{\"first\", \"EUR\", 9, 200},\n", {1}, rules_of_language("go")).text,
              "\t{\"first\", \"EUR\", 9, 201},\n");
    EXPECT_EQ(with_other_expectations("  ['a', 'bc'],\n", {1}, rules_of_language("javascript")).text, "  ['a', '~c'],\n");
    EXPECT_EQ(with_other_expectations("x = 1\n", {1}, rules_of_language("python")).text, "");
}

TEST(Mutants, change_the_arguments_of_an_assertion_before_those_of_inner_calls) {
    EXPECT_THAT(
        with_other_expectations("        assertEquals(4, Stats.median(5, 1, 4), 1e-9);\n", {1}, rules_of_language("java")).text,
        HasSubstr("assertEquals(5, Stats.median(5, 1, 4),"));
    EXPECT_EQ(with_other_expectations("expect(f(1)).toBe(2);\n", {1}, rules_of_language("javascript")).text,
              "expect(f(1)).toBe(3);\n");
}

TEST(MutantsExpectations, change_the_largest_decimal_and_keep_the_tolerance) {
    EXPECT_EQ(with_other_expectations("self.assertAlmostEqual(f(2), 1.4142, places=4)\n", {1}, rules_of_language("python")).text,
              "self.assertAlmostEqual(f(2), 2.4142, places=4)\n");
    EXPECT_EQ(with_other_expectations("assert f(2) == pytest.approx(1.4142, abs=0.001)\n", {1}, rules_of_language("python")).text,
              "assert f(2) == pytest.approx(2.4142, abs=0.001)\n");
    EXPECT_EQ(
        with_other_expectations("assert.ok(Math.abs(f(2) - 1.4142) < 0.0001);\n", {1}, rules_of_language("javascript")).text,
        "assert.ok(Math.abs(f(2) - 2.4142) < 0.0001);\n");
    EXPECT_EQ(with_other_expectations("    EXPECT_NEAR(f(2), 1.4142, 1e-4);\n", {1}, rules_of_language("cpp")).text,
              "    EXPECT_NEAR(f(2), 2.4142, 1e-4);\n");
    EXPECT_EQ(
        with_other_expectations("        assertEquals(2.5, Stats.mean(2, 3), 0.01);\n", {1}, rules_of_language("java")).text,
        "        assertEquals(3.5, Stats.mean(2, 3), 0.01);\n");
}

TEST(MutantsExpectations, are_decisive_if_a_value_must_equal_them) {
    const auto decisive = [](std::string_view language, const std::string& line) {
        return with_other_expectations(line + "\n", {1}, rules_of_language(std::string(language))).decisive;
    };
    for (const auto* line : {"assert f() == 2", "self.assertEqual(f(1), [2, 3])", "self.assertAlmostEqual(f(), 2.5, 3)",
                             "assert f(1) == {'a': 1}", "    (\"a\", 1),"}) {
        EXPECT_TRUE(decisive("python", line)) << line;
    }
    EXPECT_TRUE(decisive("rust", "    assert_eq!(f(), vec![1, 2]);"));
    EXPECT_TRUE(decisive("go", "\tif got := f(1); got != \"a\" {"));
    EXPECT_TRUE(decisive("javascript", "expect(f(1)).toStrictEqual({ a: 2 });"));
    EXPECT_TRUE(decisive("cpp", "    EXPECT_STREQ(f(), \"a\");"));
    for (const auto* line : {"self.assertEqual(len(got), min(size, 5))", "self.assertTrue(is_valid('a'))", "assert is_valid('a')",
                             "self.assertNotEqual(f(), 2)", "self.assertAlmostEqual(f(), pi, places=4)", "assert f() < 2"}) {
        EXPECT_FALSE(decisive("python", line)) << line;
    }
}

TEST(Mutants, do_not_change_imports_of_a_test) {
    const auto code = rules_of_language("javascript");
    const std::string imports =
        "import assert from 'node:assert';\nconst assert = require('node:assert');\nexport { expect } from 'chai';\n";
    EXPECT_EQ(with_other_expectations(imports, {1, 2, 3}, code).text, "");
    EXPECT_EQ(with_other_expectations("import assert from 'node:assert';\nassert.equal(f(), 3);\n", {1, 2}, code).text,
              "import assert from 'node:assert';\nassert.equal(f(), 4);\n");
}

TEST(Mutants, are_sampled_from_every_file_and_the_end_of_a_long_change) {
    std::string text;
    for (int line = 0; line < 40; ++line) { text += "x = " + std::to_string(line + 10) + "\n"; }
    const auto language = shipped_language("python");
    const auto chosen = choose_mutants({mutants_of("a.py", text, text, all_lines(text), language.code, language.mutations),
                                        mutants_of("b.py", "y = 1\n", "y = 1\n", {1}, language.code, language.mutations)},
                                       10);
    ASSERT_EQ(chosen.size(), 10U);
    EXPECT_EQ(std::count_if(chosen.begin(), chosen.end(), [](const auto& mutant) { return mutant.file == "b.py"; }), 1);
    EXPECT_GT(std::max_element(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) { return a.line < b.line; })->line,
              30U);
}

TEST(Mutants, of_messages_are_tried_last) {
    const std::string text = "raise ValueError(\"nothing\")\nreturn a < b\n";
    const auto language = shipped_language("python");
    const auto chosen = choose_mutants({mutants_of("a.py", text, text, {1, 2}, language.code, language.mutations)}, 2);
    ASSERT_EQ(chosen.size(), 2U);
    EXPECT_EQ(chosen[0].line, 2U);
}

TEST(Mutants, put_the_change_as_comments_into_the_skeleton) {
    const auto language = shipped_language("python");
    EXPECT_EQ(with_text_as_comment("def f():\n    raise NotImplementedError(\"agentforge: skeleton of f\")\n",
                                   "def f():\n    return 1\n", language.code, language.skeleton_marker),
              "def f():\n    # def f():\n    #     return 1\n    raise NotImplementedError(\"agentforge: skeleton of f\")\n");
    EXPECT_EQ(with_text_as_comment("x = 1\n", "x = 2\n", language.code, language.skeleton_marker), "x = 1\n# x = 2\n");
}

TEST(Mutants, treat_comments_and_blank_lines_as_no_code_change) {
    const auto language = shipped_language("cpp");
    EXPECT_TRUE(same_code("int a = 1;\n", "// Why.\n\nint a = 1;   /* here */\n", language.code));
    EXPECT_FALSE(same_code("int a = 1;\n", "int a = 2;\n", language.code));
    EXPECT_FALSE(same_code("auto a = \"x\";\n", "auto a = \"y\";\n", language.code));
    EXPECT_TRUE(same_code("/**\n * One.\n */\nint a;\n", "/**\n * Two.\n * Three.\n */\nint a;\n", language.code));
}

bool same(const char* language, const std::string& before, const std::string& after) {
    return same_code(before, after, rules_of_language(language));
}

TEST(Mutants, treat_a_significant_comment_as_code) {
    EXPECT_FALSE(same("python", "x = 1\n", "# -*- coding: utf-7 -*-\nx = 1\n"));
    EXPECT_FALSE(same("python", "x = 1\n", "# a\ry = 2\nx = 1\n"));
    EXPECT_FALSE(same("python", "x = 1\n", "#!/bin/false\nx = 1\n"));
    EXPECT_FALSE(same("go", "package a\n", "//go:build ignore\n\npackage a\n"));
    EXPECT_FALSE(same("go", "package a\n\n// int f() { return 1; }\nimport \"C\"\n",
                      "package a\n\n// int f() { return 2; }\nimport \"C\"\n"));
    EXPECT_FALSE(same("java", "class A { /* a */ }\n", "class A { /* \\u002a/ int b; /* */ }\n"));
    EXPECT_FALSE(same("cpp", "#define value 1\nint a = value;\n", "#define value 2\nint a = value;\n"));
    EXPECT_FALSE(same("cpp", "// a\nint b = 1;\n", "// a \\\nint b = 1;\n"));
    EXPECT_FALSE(same("cpp", "#if 1\n#else\n*p = 1;\n#endif\n", "#if 1\n#else\n*p = 2;\n#endif\n"));
    EXPECT_FALSE(same("rust", "let a = br#\"\n// one\n\"#;\n", "let a = br#\"\n// two\n\"#;\n"));
    EXPECT_FALSE(same("javascript", "const quote = /'/; let a = 1; // '\n", "const quote = /'/; let a = 2; // '\n"));
    EXPECT_FALSE(same("javascript", "const all = /[/*]/;\nlet a = 1;\n// */\n", "const all = /[/*]/;\nlet a = 2;\n// */\n"));
    EXPECT_FALSE(same("javascript", "// one\n", "// one\xE2\x80\xA8let a = 2;\n"));
}

TEST(Mutants, treat_comments_of_each_language_as_no_code) {
    EXPECT_TRUE(same("python", "x = 1\n", "# Why.\nx = 1  # here\n"));
    EXPECT_TRUE(same("go", "package a\n", "// Package a does.\n/*\nLong text.\n*/\npackage a\n"));
    EXPECT_TRUE(same("java", "class A {}\n", "/**\n * Does.\n *\n * @since 2\n */\nclass A {}\n"));
    EXPECT_TRUE(same("javascript", "let a = /'/;\nlet b = 1;\n", "/** One. */\nlet a = /'/;\n// Two.\nlet b = 1;\n"));
    EXPECT_TRUE(same("rust", "fn a() {}\n", "/// Does.\nfn a() {}\n"));
}

TestQualityEvidence with_mutant(TriedMutant::Noticed noticed) {
    TestQualityEvidence evidence;
    evidence.fresh = {"t.py::T::a"};
    evidence.mutated = true;
    evidence.tried = {{"a.py", 2, "return 1", "return None", noticed, false}};
    return evidence;
}

TEST(TestQuality, new_tests_that_kill_no_mutant_block_and_name_the_survivors) {
    auto evidence = with_mutant(TriedMutant::Noticed::not_noticed);
    auto verdict = judge_test_quality(evidence);
    EXPECT_THAT(verdict.blocking, ElementsAre(HasSubstr("a.py:2: `return 1` made `return None`")));
    evidence.tried.push_back({"a.py", 3, "x", "y", TriedMutant::Noticed::by_assertion, false});
    verdict = judge_test_quality(evidence);
    EXPECT_THAT(verdict.blocking, IsEmpty());
    EXPECT_EQ(verdict.facts.at("mutants_survived").as_array().size(), 1U);
    EXPECT_EQ(verdict.facts.at("behaviour"), "tested");
}

TEST(TestQuality, a_change_that_only_removes_needs_no_new_test_that_kills_a_mutant) {
    auto evidence = with_mutant(TriedMutant::Noticed::not_noticed);
    evidence.removal.only_removes = true;
    EXPECT_THAT(judge_test_quality(evidence).blocking, IsEmpty());
}

TEST(TestQuality, only_a_request_that_begins_with_it_asks_to_remove) {
    EXPECT_TRUE(asks_to_remove("Remove the shout option of greet"));
    EXPECT_TRUE(asks_to_remove("Please drop support for XML"));
    for (const char* other :
         {"Add a function that removes duplicates", "Implement remove(name)", "Removed users must not log in"}) {
        EXPECT_FALSE(asks_to_remove(other)) << other;
    }
}

TEST(TestQuality, a_change_with_a_word_that_was_not_there_does_not_only_remove) {
    const std::string before = "def greet(name, shout=False):\n    if shout:\n        name = name.upper()\n    return name\n";
    EXPECT_TRUE(adds_no_words("def greet(name):\n    return name\n", before));
    EXPECT_FALSE(adds_no_words("def greet(name):\n    return 'x'\n", before));
    EXPECT_FALSE(adds_no_words("def greet(name, name, name, name):\n    return name\n", before));
}

TEST(TestQuality, a_new_test_that_passes_with_a_changed_expectation_blocks) {
    auto evidence = with_mutant(TriedMutant::Noticed::by_assertion);
    evidence.accepting_other_literals = {"t.py::T::a"};
    EXPECT_THAT(judge_test_quality(evidence).blocking,
                ElementsAre(HasSubstr("t.py::T::a also passes when the literals that it compares with are altered")));
}

TriedMutant results_of(const std::string& function, bool declared, TriedMutant::Noticed noticed) {
    return {"a.py", 2, "return 1", "return 2", noticed, false, "", function, declared};
}

TEST(TestQuality, an_untested_result_of_a_declared_function_blocks) {
    auto evidence = with_mutant(TriedMutant::Noticed::by_assertion);
    evidence.tried.push_back(results_of("median", true, TriedMutant::Noticed::not_noticed));
    evidence.tried.push_back(results_of("mean", true, TriedMutant::Noticed::by_assertion));
    EXPECT_THAT(judge_test_quality(evidence).blocking,
                ElementsAre(HasSubstr("every result of `median` is replaced (a.py:2: `return 1` made `return 2`)")));
    evidence.tried[1].noticed = TriedMutant::Noticed::by_error;
    EXPECT_THAT(judge_test_quality(evidence).blocking, IsEmpty());
}

TEST(TestQuality, an_untested_helper_result_blocks_only_if_no_result_is_tested) {
    auto evidence = with_mutant(TriedMutant::Noticed::by_assertion);
    evidence.tried.push_back(results_of("helper", false, TriedMutant::Noticed::not_noticed));
    evidence.tried.push_back(results_of("other", false, TriedMutant::Noticed::not_noticed));
    EXPECT_THAT(judge_test_quality(evidence).blocking, ElementsAre(HasSubstr("every result of `helper`")));
    evidence.tried.push_back(results_of("mean", true, TriedMutant::Noticed::by_assertion));
    EXPECT_THAT(judge_test_quality(evidence).blocking, IsEmpty());
}

TestQualityEvidence with_two_requirements() {
    auto evidence = with_mutant(TriedMutant::Noticed::by_assertion);
    evidence.tried.push_back({"a.py", 3, "x", "y", TriedMutant::Noticed::not_noticed, false});
    evidence.tried.push_back({"a.py", 4, "x", "y", TriedMutant::Noticed::by_error, false});
    evidence.fresh = {"t.py::T::a", "t.py::T::b"};
    evidence.of_requirements = {{"REQ-001", {"t.py::T::a"}}, {"REQ-002", {"t.py::T::b"}}};
    evidence.comparing = {"t.py::T::a"};
    return evidence;
}

TEST(TestQuality, a_requirement_without_a_comparing_test_blocks) {
    auto evidence = with_two_requirements();
    EXPECT_THAT(unproven_requirements(evidence), ElementsAre("REQ-002"));
    EXPECT_THAT(judge_test_quality(evidence).blocking,
                ElementsAre(::testing::AllOf(HasSubstr("REQ-002"), HasSubstr("t.py::T::b"))));
    evidence.comparing.insert("t.py::T::b");
    EXPECT_TRUE(judge_test_quality(evidence).passed());
}

TEST(TestQuality, one_case_of_a_parameterized_test_counts_for_all) {
    auto evidence = with_two_requirements();
    evidence.of_requirements["REQ-002"] = {"t.py::T::b[1-True]"};
    evidence.comparing.insert("t.py::T::b[1-False]");
    EXPECT_TRUE(judge_test_quality(evidence).passed());
}

TEST(TestQuality, a_requirement_unproven_for_lack_of_time_does_not_block) {
    auto evidence = with_two_requirements();
    evidence.cut_short = true;
    EXPECT_TRUE(judge_test_quality(evidence).passed());
}

TEST(TestQuality, a_mutant_killed_by_an_error_does_not_offset_a_survivor) {
    auto evidence = with_mutant(TriedMutant::Noticed::by_error);
    evidence.tried.push_back({"a.py", 3, "x", "y", TriedMutant::Noticed::not_noticed, false});
    EXPECT_FALSE(judge_test_quality(evidence).passed());
    evidence.tried.pop_back();
    EXPECT_TRUE(judge_test_quality(evidence).passed());
}

TEST(TestQuality, two_survivors_do_not_block_if_time_ran_out) {
    auto evidence = with_mutant(TriedMutant::Noticed::by_error);
    for (int line = 3; line < 5; ++line) {
        evidence.tried.push_back({"a.py", static_cast<std::uint64_t>(line), "x", "y", TriedMutant::Noticed::not_noticed, false});
    }
    evidence.cut_short = true;
    EXPECT_TRUE(judge_test_quality(evidence).passed());
    evidence.tried.push_back({"a.py", 5, "x", "y", TriedMutant::Noticed::not_noticed, false});
    EXPECT_FALSE(judge_test_quality(evidence).passed());
}

TEST(TestQuality, without_new_tests_a_guard_must_kill_a_mutant_in_each_changed_file) {
    auto evidence = with_mutant(TriedMutant::Noticed::by_assertion);
    evidence.fresh.clear();
    EXPECT_THAT(judge_test_quality(evidence).blocking, ElementsAre(HasSubstr("no guard fails")));
    evidence.tried[0].by_guard = true;
    EXPECT_TRUE(judge_test_quality(evidence).passed());
    EXPECT_EQ(judge_test_quality(evidence).facts.at("behaviour"), "unchanged");
    evidence.tried.push_back({"b.py", 1, "x", "y", TriedMutant::Noticed::not_noticed, false});
    EXPECT_THAT(judge_test_quality(evidence).blocking, ElementsAre(HasSubstr("no test notices when b.py is altered")));
}

TEST(TestQuality, a_body_that_is_still_the_skeleton_blocks) {
    auto evidence = with_mutant(TriedMutant::Noticed::by_assertion);
    evidence.skeletons = {"a.py:4"};
    EXPECT_THAT(judge_test_quality(evidence).blocking, ElementsAre(HasSubstr("a.py:4 is still the stub")));
}

TEST(TestQuality, work_without_a_new_test_blocks_unless_requested) {
    auto evidence = with_mutant(TriedMutant::Noticed::by_assertion);
    evidence.fresh.clear();
    evidence.tried[0].by_guard = true;
    evidence.without_new_test = false;
    EXPECT_THAT(judge_test_quality(evidence).blocking,
                ElementsAre(HasSubstr("the request does not ask for work that keeps behaviour")));
    evidence.without_new_test = true;
    EXPECT_TRUE(judge_test_quality(evidence).passed());
}

TEST(TestQuality, only_a_request_to_build_asks_for_new_behaviour) {
    for (const auto* request : {"Refactor the parser", "Rename shout to yell", "Please remove the unused helpers",
                                "Document total in README.md", "Add docstrings to stats.py", "Fix typos", "Fix the lint warnings",
                                "Update the README", "The parser should be split into two modules"}) {
        EXPECT_TRUE(may_keep_behaviour(request)) << request;
    }
    for (const auto* request :
         {"Add median(values) to stats.py", "Implement removal of items", "Add a function that formats durations",
          "Fix the median of an even count", "Make the parser accept comments in any place", "Der Median fehlt"}) {
        EXPECT_FALSE(may_keep_behaviour(request)) << request;
    }
}

TEST(TestQuality, code_must_not_change_if_the_request_is_for_documentation) {
    TestQualityEvidence evidence;
    evidence.guards = {"t.py::test_old"};
    evidence.asked_for_documentation = true;
    evidence.code_changed = true;
    EXPECT_THAT(judge_test_quality(evidence).blocking, Contains(HasSubstr("asks for documentation, and code has changed")));
    evidence.code_changed = false;
    EXPECT_THAT(judge_test_quality(evidence).blocking, Not(Contains(HasSubstr("asks for documentation"))));
    for (const char* request : {"Document the limit in quota", "Add docstrings to stats.py", "Fix the typos in the README",
                                "Please comment parser.py", "Improve the wording of the changelog"}) {
        EXPECT_TRUE(asks_for_documentation(request)) << request;
    }
    for (const char* request : {"Refactor the parser and document it", "Add type hints and docstrings", "Rename shout to yell",
                                "Add median(values) to stats.py", "Remove comments from the output of strip()"}) {
        EXPECT_FALSE(asks_for_documentation(request)) << request;
    }
}

TEST(Mutants, treat_a_docstring_as_code_only_if_the_program_reads_it) {
    EXPECT_TRUE(same("python", "def f():\n    return 1\n", "def f():\n    \"\"\"One.\n\n    More.\n    \"\"\"\n    return 1\n"));
    EXPECT_FALSE(same("python", "print(__doc__)\n", "\"\"\"One.\"\"\"\nprint(__doc__)\n"));
    EXPECT_FALSE(same("python", "x = [\n    'a'\n]\n", "x = [\n    'b'\n]\n"));
    EXPECT_FALSE(same("python", "def f():\n    return 1\n", "def f():\n    f\"\"\"{g()}\"\"\"\n    return 1\n"));
    EXPECT_FALSE(same("python", "x = \\\n'a'\n", "x = \\\n'b'\n"));
}

TEST(TestQuality, documentation_alone_does_not_satisfy_a_request_for_code) {
    TestQualityEvidence evidence;
    evidence.fresh = {"t.py::test_readme"};
    evidence.code_changed = false;
    EXPECT_TRUE(judge_test_quality(evidence).passed());
    evidence.asked_for_code = true;
    EXPECT_THAT(judge_test_quality(evidence).blocking,
                ElementsAre(HasSubstr("only documentation, comments and tests have changed")));
    evidence.code_changed = true;
    EXPECT_TRUE(judge_test_quality(evidence).passed());
}

TEST(TestQuality, a_request_that_names_code_and_no_documentation_asks_for_code) {
    for (const auto* request :
         {"Add median(values) to stats.py", "Implement a function that formats durations", "Please write a class for money"}) {
        EXPECT_TRUE(asks_for_code(request)) << request;
    }
    for (const auto* request : {"Add a guide to stats.py", "Write in the README what median(values) does",
                                "Add comments to stats.py", "Document total() in docs/a.md", "Add a code of conduct",
                                "Der Median fehlt in stats.py", "The function median is slow"}) {
        EXPECT_FALSE(asks_for_code(request)) << request;
    }
}

TEST(TestQuality, documentation_alone_needs_no_new_test) {
    TestQualityEvidence evidence;
    evidence.code_changed = false;
    EXPECT_TRUE(judge_test_quality(evidence).passed());
    EXPECT_EQ(judge_test_quality(evidence).facts.at("behaviour"), "documentation");
    const auto python = shipped_language("python");
    for (const char* path : {"docs/a.md", "a.md", "packages/one/docs/a.md", "src/README.md", "src/CONTRIBUTING.md",
                             "CHANGELOG.md", "README", "README.txt", "LICENSE-APACHE-2.0", "LICENSE-MIT"}) {
        EXPECT_TRUE(is_documentation(python, path)) << path;
    }
    for (const char* path : {"templates/letter.md", "src/prompts/system.md", "a.py", "requirements.txt", "README_slug.py",
                             "LICENSE.py", "README.sh", "AUTHORSHIP", "README.json"}) {
        EXPECT_FALSE(is_documentation(python, path)) << path;
    }
}

TEST(TestQuality, an_untested_new_function_blocks_without_a_new_test) {
    auto evidence = with_mutant(TriedMutant::Noticed::by_assertion);
    evidence.fresh.clear();
    evidence.tried[0].by_guard = true;
    const TriedMutant survivor{"a.py", 9, "return 1", "return 2", TriedMutant::Noticed::not_noticed, false, "whisper"};
    evidence.tried.push_back(survivor);
    EXPECT_TRUE(judge_test_quality(evidence).passed()) << "one altered line may be the same in effect";
    evidence.tried.push_back(survivor);
    EXPECT_THAT(judge_test_quality(evidence).blocking,
                ElementsAre(HasSubstr("no test notices when the new function whisper of a.py is altered")));
    evidence.tried.push_back(survivor);
    evidence.tried.back().noticed = TriedMutant::Noticed::by_error;
    EXPECT_TRUE(judge_test_quality(evidence).passed());
}

TEST(Mutants, name_the_enclosing_function_if_it_is_new) {
    const auto python = rules_of_language("python");
    const std::string before = "def old(a):\n    return a\n";
    const std::string now =
        before + "\n\nclass Voice:\n    def whisper(self, text):\n        if text:\n            return 1\n        return 2\n";
    EXPECT_EQ(added_function(before, now, 8, python), "whisper");
    EXPECT_EQ(added_function(before, now, 9, python), "whisper");
    EXPECT_EQ(added_function(before, now, 2, python), "") << "it was there before";
    EXPECT_EQ(added_function(before, "x = 3\n", 1, python), "");
    const auto go = rules_of_language("go");
    EXPECT_EQ(added_function("func old() int {\n\treturn 1\n}\n",
                             "func old() int {\n\treturn 1\n}\nfunc fresh() int {\n\treturn 2\n}\n", 5, go),
              "fresh");
    EXPECT_EQ(added_function("func old() int {\n\treturn 1\n}\n", "func old() int {\n\treturn 3\n}\n", 2, go), "");
}

TEST(TestQuality, a_removed_test_blocks_only_if_it_would_fail_an_assertion) {
    TestQualityEvidence evidence;
    evidence.fresh = {"t.py::T::a"};
    evidence.removed = {{"t.py::T::b", "b", "t.py", 3, TestStatus::error, "ImportError"}};
    EXPECT_TRUE(judge_test_quality(evidence).passed());
    evidence.removed[0].status = TestStatus::failed_assertion;
    EXPECT_THAT(judge_test_quality(evidence).blocking, ElementsAre(HasSubstr("t.py::T::b was removed")));
}

}  // namespace
}  // namespace agentforge::kernel
