// SPDX-License-Identifier: Apache-2.0
// What may leave a test file together with outdated tests, and what may not.
#include "gates/test_quality/leaving_tests.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/language/language.hpp"
#include "gates/test_quality/outdated_tests.hpp"
#include "gates/test_quality/same_code.hpp"
#include "unit/gates/shipped_language.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// A test file of which one test is outdated.
struct TestFileChange {
    std::string language;
    std::string before;
    std::vector<std::string> tests;
    std::set<std::string> outdated;

    [[nodiscard]] std::vector<ChangedTest> changed(const std::string& now) const {
        std::vector<TestOutcome> outcomes;
        for (const auto& name : tests) { outcomes.push_back({"t::" + name, name, "t", 0, TestStatus::passed, ""}); }
        std::set<std::string> ids;
        for (const auto& name : outdated) { ids.insert("t::" + name); }
        return changed_tests(before, now, outcomes, ids, rules_of_language(language));
    }

    /// Returns `line: test` of the changes that RED's gate refuses.
    [[nodiscard]] std::vector<std::string> refused(const std::string& now) const {
        std::vector<std::string> places;
        for (const auto& test : changed(now)) {
            const auto name = test.id.empty() ? std::string("none") : test.id.substr(3);
            if (!outdated.contains(name)) { places.push_back(std::to_string(test.line) + ": " + name); }
        }
        return places;
    }
};

/// Replaces one text after the other; an absent one is an error of the test.
std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& changes) {
    for (const auto& [old, now] : changes) {
        const auto at = text.find(old);
        EXPECT_NE(at, std::string::npos) << old;
        if (at != std::string::npos) { text.replace(at, old.size(), now); }
    }
    return text;
}

const TestFileChange pytest_file{"python",
                                 R"(from query import parse, parse_legacy
import json
import pytest

LEGACY = {"a": "1"}


@pytest.fixture
def legacy_text():
    return "a=1;b=2"


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    monkeypatch.setenv("STRICT", "1")


def same(one, other):
    return one == other


def test_parse():
    assert same(parse("a=1"), {"a": "1"})


# The old syntax.
@pytest.mark.parametrize("end", [
    "",
    ";",
])
def test_parse_legacy(legacy_text, end):
    assert parse_legacy(legacy_text + end) == {**LEGACY, "b": json.loads('"2"')}


def test_empty():
    assert same(parse(""), {})
)",
                                 {"test_parse", "test_parse_legacy[]", "test_parse_legacy[;]", "test_empty"},
                                 {"test_parse_legacy"}};

const std::vector<std::pair<std::string, std::string>> without_legacy_test = {{R"(# The old syntax.
@pytest.mark.parametrize("end", [
    "",
    ";",
])
def test_parse_legacy(legacy_text, end):
    assert parse_legacy(legacy_text + end) == {**LEGACY, "b": json.loads('"2"')}


)",
                                                                               ""}};

std::string without_legacy(const std::vector<std::pair<std::string, std::string>>& more = {}) {
    return replaced(replaced(pytest_file.before, without_legacy_test), more);
}

TEST(LeavingTests, names_of_an_import_may_leave_with_the_test_that_needed_them) {
    const auto now = without_legacy({{"parse, parse_legacy", "parse"}, {"import json\n", ""}});
    EXPECT_THAT(pytest_file.refused(now), IsEmpty());
    const auto changed = pytest_file.changed(now);
    ASSERT_THAT(changed, SizeIs(1)) << "a person sees these lines with the test";
    EXPECT_THAT(changed[0].before, Contains("from query import parse, parse_legacy"));
    EXPECT_THAT(changed[0].after, ElementsAre("from query import parse"));
}

TEST(LeavingTests, an_import_of_the_same_names_from_elsewhere_is_refused) {
    EXPECT_THAT(pytest_file.refused(without_legacy({{"from query import parse, parse_legacy", "from fake import parse"}})),
                ElementsAre("1: none"));
    EXPECT_THAT(pytest_file.refused(without_legacy({{"parse, parse_legacy", "parse_legacy as parse"}})), ElementsAre("1: none"));
    EXPECT_THAT(pytest_file.refused(without_legacy({{"parse, parse_legacy", "parse, other as same"}})), ElementsAre("1: none"))
        << "a name that a test already had";
}

TEST(LeavingTests, names_may_be_added_to_an_import_although_no_test_is_outdated) {
    TestFileChange file = pytest_file;
    file.outdated.clear();
    const auto changed = [&](const std::string& line) {
        return file.refused(replaced(file.before, {{"from query import parse, parse_legacy\n", line}}));
    };
    EXPECT_THAT(changed("from query import parse, parse_legacy, parse_all\n"), IsEmpty());
    EXPECT_THAT(changed("from query import (\n    parse,\n    parse_legacy,\n    parse_all,\n)\n"), IsEmpty());
    EXPECT_THAT(changed("from query import parse\n"), ElementsAre("1: none")) << "a name that goes";
    EXPECT_THAT(changed("from query import parse, parse_legacy, same\n"), ElementsAre("1: none")) << "a name of the file";
    EXPECT_THAT(changed("from fake import parse, parse_legacy, parse_all\n"), ElementsAre("1: none")) << "another module";
    EXPECT_THAT(changed("from query import parse_legacy as parse, parse_legacy, parse_all\n"), ElementsAre("1: none"));
}

TEST(LeavingTests, an_import_that_a_test_needs_is_refused) {
    const auto now = without_legacy({{"parse, parse_legacy", "parse_legacy"}, {"def same", "parse = dict\n\n\ndef same"}});
    EXPECT_THAT(pytest_file.refused(now), ElementsAre("1: none"));
}

TEST(LeavingTests, helpers_that_nothing_needs_may_leave) {
    const auto now = without_legacy(
        {{"LEGACY = {\"a\": \"1\"}\n\n\n", ""}, {"@pytest.fixture\ndef legacy_text():\n    return \"a=1;b=2\"\n\n\n", ""}});
    EXPECT_THAT(pytest_file.refused(now), IsEmpty());
}

TEST(LeavingTests, a_helper_that_a_staying_test_needs_is_refused) {
    EXPECT_THAT(pytest_file.refused(without_legacy({{"def same(one, other):\n    return one == other\n\n\n", ""},
                                                    {"import json", "import json\nsame = print"}})),
                Not(IsEmpty()));
    EXPECT_THAT(pytest_file.refused(without_legacy({{"one == other", "True"}})), Not(IsEmpty()));
}

std::string without_blanks(std::string text) {
    for (auto at = text.find("\n\n"); at != std::string::npos; at = text.find("\n\n")) { text.erase(at, 1); }
    return text;
}

/// A helper whose name the new tests use for something else.
struct NamesakeCase {
    std::string language;
    std::string helper;
    std::string fresh;  ///< Lines of a new test.
    bool may_leave = true;
};

TEST(LeavingTests, a_helper_may_leave_although_something_else_has_its_name) {
    const std::string python = "def parameters(text):\n    return parse(text)[2]\n\n\n";
    const std::string node = "function parameters(text) {\n  return parse(text)[2];\n}\n\n";
    const std::string go = "func parameters(text string) int {\n\treturn parse(text)\n}\n\n";
    const std::string java = "    private static int parameters(String text) {\n        return parse(text);\n    }\n\n";
    const std::string cpp = "static int parameters(int text) {\n    return parse(text);\n}\n\n";
    const std::vector<NamesakeCase> cases = {
        {"python", python, "def header(name, **parameters):\n    return Header(name, parameters=parameters)\n"},
        {"python", python, "def test_new():\n    assert parse(\"a\").parameters[\"b\"] == 1\n"},
        {"python", python, "def test_new():\n    parameters = {}\n    assert parse(\"a\") == parameters\n"},
        {"python", python, "def test_new():\n    for parameters in rows:\n        assert parse(parameters)\n"},
        {"python", python, "def test_new():\n    assert parameters(\"a\") == 1\n", false},
        {"python", python, "def test_new(value=parameters):\n    assert value\n", false},
        {"python", python, "def test_new():\n    assert parse(parameters)\n", false},
        {"python", python, "def parameters(text):\n    return {}\n", false},
        {"python", python, "parameters = dict\n", false},
        {"python", python, "from fake import *\n\n\ndef test_new():\n    assert getattr(here, \"parameters\")\n", false},
        {"python", "@pytest.fixture\n" + python, "def test_new(parameters):\n    assert parameters\n", false},
        {"javascript", node, "test('new', () => {\n  assert.deepEqual(parse('a'), { name: 1, parameters: 2 });\n});\n"},
        {"javascript", node, "test('new', () => {\n  const { parameters } = parse('a');\n  assert.equal(parameters, 2);\n});\n"},
        {"javascript", node, "rows.forEach((parameters) => {\n  check(parameters);\n});\n"},
        {"javascript", node, "test('new', () => {\n  assert.deepEqual(parse('a'), { parameters });\n});\n", false},
        {"javascript", node, "test('new', () => {\n  {\n    const parameters = 1;\n  }\n  check(parameters);\n});\n", false},
        {"go", go, "func TestNew(t *testing.T) {\n\tparameters := 1\n\tif parse(\"a\") != parameters {\n\t\tt.Fail()\n\t}\n}\n"},
        {"go", go, "func TestNew(t *testing.T) {\n\tif parse(\"a\").parameters != 1 {\n\t\tt.Fail()\n\t}\n}\n"},
        {"go", go, "func TestNew(t *testing.T) {\n\tparameters := parameters(\"a\")\n\t_ = parameters\n}\n", false},
        {"java", java,
         "    @Test\n    public void fresh() {\n        int parameters = 1;\n        assertEquals(parameters, parse(\"a\"));\n    }\n"},
        {"java", java, "    @Test\n    public void fresh() {\n        int parameters = parameters(\"a\");\n    }\n", false},
        {"cpp", cpp, "TEST(Parse, fresh) {\n    const int parameters = 1;\n    EXPECT_EQ(parse(2), parameters);\n}\n"},
        {"cpp", cpp, "TEST(Parse, fresh) {\n    EXPECT_EQ(parse(2), parameters(3));\n}\n", false},
    };
    const std::map<std::string, std::pair<std::string, std::string>> tests = {
        {"python",
         {"def test_old():\n    assert parameters(\"a\") == {}\n\n\n", "def test_keep():\n    assert parse(\"a\")\n\n\n"}},
        {"javascript",
         {"test('test_old', () => {\n  assert.equal(parameters('a'), 1);\n});\n\n",
          "test('test_keep', () => {\n  parse();\n});\n\n"}},
        {"go",
         {"func test_old(t *testing.T) {\n\tif parameters(\"a\") != 1 {\n\t\tt.Fail()\n\t}\n}\n\n",
          "func test_keep(t *testing.T) {\n\tparse(\"\")\n}\n\n"}},
        {"java",
         {"    @Test\n    public void test_old() {\n        assertEquals(1, parameters(\"a\"));\n    }\n\n",
          "    @Test\n    public void test_keep() {\n        parse(\"\");\n    }\n\n"}},
        {"cpp",
         {"TEST(Parse, test_old) {\n    EXPECT_EQ(parameters(1), 1);\n}\n\n", "TEST(Parse, test_keep) {\n    parse(1);\n}\n\n"}}};
    for (const auto& each : cases) {
        const auto& [old_test, kept] = tests.at(each.language);
        const std::string begin = each.language == "java"
                                      ? "public class T {\n"
                                      : (each.language == "javascript" ? "const { test } = require('node:test');\n\n" : "");
        const std::string end = each.language == "java" ? "}\n" : "";
        const std::string package = each.language == "go" ? "package a\n\n" : "";
        const TestFileChange file{
            each.language, package + begin + each.helper + old_test + kept + end, {"test_old", "test_keep"}, {"test_old"}};
        EXPECT_EQ(file.refused(package + begin + kept + each.fresh + end).empty(), each.may_leave) << each.language << "\n"
                                                                                                   << each.fresh;
    }
}

/// Returns `line: test` of the changes in a file without outdated tests.
std::vector<std::string> refused_in_support(const std::string& language, const std::string& before, const std::string& now,
                                            const UsesElsewhere& elsewhere) {
    std::vector<std::string> places;
    for (const auto& test : changed_tests(before, now, {}, {"t::test_old"}, rules_of_language(language), &elsewhere)) {
        if (test.id != "t::test_old") { places.push_back(std::to_string(test.line) + ": " + test.id); }
    }
    return places;
}

TEST(LeavingTests, a_fixture_in_another_file_leaves_with_the_only_test_that_used_it) {
    const std::string kept = "import pytest\n\n\n@pytest.fixture\ndef memory_store():\n    return Memory()\n";
    const std::string fixture = "\n\n@pytest.fixture\ndef file_store(tmp_path):\n    return File(path_of(tmp_path))\n";
    const std::string helper = "\n\ndef path_of(folder):\n    return folder / \"a\"\n";
    const UsesElsewhere elsewhere{
        "t::test_old", "def test_old(file_store):\n    file_store.put(1)\n", {"def test_new(memory_store):\n    pass\n"}};
    EXPECT_THAT(refused_in_support("python", kept + fixture, kept, elsewhere), IsEmpty());
    EXPECT_THAT(refused_in_support("python", kept + fixture + helper, kept, elsewhere), IsEmpty()) << "with what it alone used";
    auto used = elsewhere;
    used.staying.emplace_back("def test_more(file_store):\n    pass\n");
    EXPECT_THAT(refused_in_support("python", kept + fixture, kept, used), Not(IsEmpty())) << "another file has the name";
    auto unrelated = elsewhere;
    unrelated.leaving = "def test_old():\n    pass\n";
    EXPECT_THAT(refused_in_support("python", kept + fixture, kept, unrelated), Not(IsEmpty())) << "no outdated test used it";
    const std::string automatic = "\n\n@pytest.fixture(autouse=True)\ndef file_store(tmp_path):\n    return 1\n";
    EXPECT_THAT(refused_in_support("python", kept + automatic, kept, elsewhere), Not(IsEmpty()));
    EXPECT_THAT(refused_in_support("python", kept, "import pytest\n\n\n@pytest.fixture\ndef memory_store():\n    return None\n",
                                   elsewhere),
                Not(IsEmpty()));
}

TEST(LeavingTests, a_helper_in_another_file_of_a_go_package_leaves) {
    const std::string kept = "package a\n\nfunc keep() int {\n\treturn 1\n}\n";
    const std::string helper = "\nfunc logged() string {\n\treturn \"\"\n}\n";
    const UsesElsewhere elsewhere{"t::test_old", "func TestOld(t *testing.T) {\n\tlogged()\n}\n", {"package a\n"}};
    EXPECT_THAT(refused_in_support("go", kept + helper, kept, elsewhere), IsEmpty());
    EXPECT_THAT(refused_in_support("go", kept + helper, helper, elsewhere), Not(IsEmpty()));
}

TEST(LeavingTests, java_loses_a_helper_with_its_constant_and_their_imports) {
    const std::string head =
        "package a;\n\nimport static org.junit.Assert.assertEquals;\nimport static org.junit.Assert.assertTrue;\n\n"
        "import java.util.regex.Pattern;\nimport org.junit.Test;\n\npublic class T {\n";
    const std::string helper =
        "    private static final Pattern AMOUNT = Pattern.compile(\"a\\\\d\");\n\n"
        "    private static boolean isAmount(String text) {\n        return AMOUNT.matcher(text).matches();\n    }\n\n";
    const std::string kept = "    @Test\n    public void test_keep() {\n        assertEquals(1, total());\n    }\n";
    const std::string old =
        "\n    /** For the old pages. */\n    @Test\n    @SuppressWarnings(\"deprecation\")\n    public void test_old() {\n"
        "        assertTrue(isAmount(text()));\n    }\n";
    const std::string now =
        "package a;\n\nimport static org.junit.Assert.assertEquals;\n\nimport org.junit.Test;\n\npublic class T {\n" + kept +
        "}\n";
    const std::vector<TestOutcome> tests = {{"t::T::test_keep", "test_keep", "t", 0, TestStatus::passed, ""},
                                            {"t::T::test_old", "test_old", "t", 0, TestStatus::passed, ""}};
    const auto rules = rules_of_language("java");
    const LeavingTests leaving(head + helper + kept + old + "}\n", now, tests, {"t::T::test_old"}, rules);
    EXPECT_EQ(without_blanks(leaving.rest_that_builds({}, rules)), without_blanks(now));
}

TEST(LeavingTests, a_helper_that_a_staying_test_used_stays_although_it_gets_another) {
    const TestFileChange file{"python",
                              "def same(one, other):\n    return one == other\n\n\ndef test_old():\n    assert same(1, 1)\n\n\n"
                              "def test_keep():\n    assert same(2, 2)\n",
                              {"test_old", "test_keep"},
                              {"test_old"}};
    EXPECT_THAT(file.refused("def test_keep():\n    same = lambda *all: True\n    assert same(2, 2)\n"), Not(IsEmpty()));
}

TEST(LeavingTests, a_fixture_that_acts_without_being_named_is_refused) {
    EXPECT_THAT(
        pytest_file.refused(without_legacy(
            {{"@pytest.fixture(autouse=True)\ndef strict(monkeypatch):\n    monkeypatch.setenv(\"STRICT\", \"1\")\n", ""}})),
        Not(IsEmpty()));
}

TEST(LeavingTests, a_change_of_a_staying_test_is_refused) {
    EXPECT_THAT(pytest_file.refused(without_legacy({{"assert same(parse(\"\"), {})", "assert True"}})),
                ElementsAre("36: test_empty"));
}

TEST(LeavingTests, helpers_stay_if_no_test_leaves) {
    EXPECT_THAT(pytest_file.refused(replaced(pytest_file.before, {{"parse, parse_legacy", "parse"}})), ElementsAre("1: none"));
}

TEST(LeavingTests, hooks_of_a_class_of_tests_stay_with_its_tests) {
    const TestFileChange file{"python",
                              R"(import unittest


class LegacyTest(unittest.TestCase):
    def setUp(self):
        self.text = "a=1"

    def make(self):
        return self.text

    def test_old(self):
        self.assertEqual(self.make(), "a=1")

    def test_new(self):
        self.assertEqual(self.text, "a=1")


class OtherTest(unittest.TestCase):
    def test_other(self):
        self.assertTrue(True)
)",
                              {"LegacyTest::test_old", "LegacyTest::test_new", "OtherTest::test_other"},
                              {"LegacyTest::test_old"}};
    const std::string test = "    def test_old(self):\n        self.assertEqual(self.make(), \"a=1\")\n\n";
    const std::string make = "    def make(self):\n        return self.text\n\n";
    EXPECT_THAT(file.refused(replaced(file.before, {{test, ""}, {make, ""}})), IsEmpty());
    EXPECT_THAT(file.refused(replaced(file.before, {{test, ""}, {"    def setUp(self):\n        self.text = \"a=1\"\n\n", ""}})),
                Not(IsEmpty()));
    auto both = file;
    both.outdated.insert("LegacyTest::test_new");
    const auto end = file.before.find("class OtherTest");
    const auto now = file.before.substr(0, file.before.find("class LegacyTest")) + file.before.substr(end);
    EXPECT_THAT(both.refused(now), IsEmpty());
    EXPECT_THAT(file.refused(now), Not(IsEmpty()));
}

const TestFileChange node_file{"javascript",
                               R"(import assert from 'node:assert/strict';
import { describe, it, beforeEach } from 'node:test';
import { format, parse, parseLegacy } from '../src/index.js';

function legacyOf(text) {
  return parseLegacy(text);
}

describe('parse', () => {
  it('reads keys', () => {
    assert.deepEqual(parse('a=1'), { a: '1' });
  });
});

describe('parseLegacy', () => {
  beforeEach(() => {
    process.env.LEGACY = '1';
  });

  it('separates', () => {
    assert.deepEqual(legacyOf('a=1'), { a: '1' });
  });
});

describe('format', () => {
  it('sorts', () => {
    assert.equal(format({ b: 1 }), 'b=1');
  });
});
)",
                               {"parse::reads keys", "parseLegacy::separates", "format::sorts"},
                               {"parseLegacy::separates"}};
const std::string legacy_suite =
    "describe('parseLegacy', () => {\n  beforeEach(() => {\n    process.env.LEGACY = '1';\n  });\n\n  it('separates', () => {\n"
    "    assert.deepEqual(legacyOf('a=1'), { a: '1' });\n  });\n});\n\n";
const std::string legacy_helper = "function legacyOf(text) {\n  return parseLegacy(text);\n}\n\n";

TEST(LeavingTests, a_suite_leaves_with_all_its_tests) {
    const auto now = replaced(
        node_file.before,
        {{legacy_suite, ""}, {legacy_helper, ""}, {"parse, parseLegacy", "parse"}, {"describe, it, beforeEach", "describe, it"}});
    EXPECT_THAT(node_file.refused(now), IsEmpty());
    EXPECT_THAT(node_file.refused(replaced(now, {{"'b=1'", "'b=1' || true"}})), ElementsAre("27: format::sorts"));
    EXPECT_THAT(node_file.refused(replaced(now, {{"describe('format'", "describe.skip('format'"}})), Not(IsEmpty()));
}

TEST(LeavingTests, a_suite_with_a_staying_test_stays) {
    auto file = node_file;
    file.before =
        replaced(node_file.before,
                 {{"  it('separates'", "  it('keeps', () => {\n    assert.ok(legacyOf('a=1'));\n  });\n\n  it('separates'"}});
    file.tests.push_back("parseLegacy::keeps");
    const auto now = replaced(node_file.before, {{legacy_suite, ""}});
    EXPECT_THAT(file.refused(now), Not(IsEmpty()));
}

TEST(LeavingTests, statements_outside_tests_stay) {
    auto file = node_file;
    file.before = replaced(node_file.before, {{"describe('parse',", "process.env.TZ = 'UTC';\n\ndescribe('parse',"}});
    EXPECT_THAT(file.refused(replaced(node_file.before, {{legacy_suite, ""}})), ElementsAre("9: none"));
}

TEST(LeavingTests, parts_leave_in_compiled_languages) {
    const TestFileChange go{
        "go",
        "package span\n\nimport (\n\t\"strings\"\n\t\"testing\"\n)\n\nfunc legacy(text string) int {\n\treturn "
        "len(strings.TrimSpace(text))\n}\n\nfunc TestOld(t *testing.T) {\n\tif legacy(\"a\") != 1 {\n\t\tt.Fail()\n\t}\n}\n\n"
        "func TestNew(t *testing.T) {\n\tif Parse(\"a\") != 1 {\n\t\tt.Fail()\n\t}\n}\n",
        {"TestOld", "TestNew"},
        {"TestOld"}};
    const auto now =
        replaced(go.before, {{"\t\"strings\"\n", ""},
                             {"func legacy(text string) int {\n\treturn len(strings.TrimSpace(text))\n}\n\n", ""},
                             {"func TestOld(t *testing.T) {\n\tif legacy(\"a\") != 1 {\n\t\tt.Fail()\n\t}\n}\n\n", ""}});
    EXPECT_THAT(go.refused(now), IsEmpty());
    EXPECT_THAT(go.refused(replaced(now, {{"Parse(\"a\") != 1", "false"}})), ElementsAre("19: TestNew"));
    const TestFileChange java{
        "java",
        "import static org.junit.Assert.assertEquals;\n\nimport org.junit.Before;\nimport org.junit.Test;\nimport org.example.Legacy;\n\npublic "
        "class SpanTest {\n    private static String old(String text) {\n        return Legacy.of(text);\n    }\n\n    @Before\n    public void "
        "zone() {\n        System.setProperty(\"zone\", \"UTC\");\n    }\n\n    @Test\n    public void reads() {\n        assertEquals(1, "
        "Span.of(\"a\"));\n    }\n\n    @Test\n    public void readsOld() {\n        assertEquals(\"a\", old(\"a\"));\n    }\n}\n",
        {"SpanTest::reads", "SpanTest::readsOld"},
        {"SpanTest::readsOld"}};
    const auto left = replaced(
        java.before, {{"import org.example.Legacy;\n", ""},
                      {"    private static String old(String text) {\n        return Legacy.of(text);\n    }\n\n", ""},
                      {"\n    @Test\n    public void readsOld() {\n        assertEquals(\"a\", old(\"a\"));\n    }\n", ""}});
    EXPECT_THAT(java.refused(left), IsEmpty());
    EXPECT_THAT(
        java.refused(replaced(
            left, {{"    @Before\n    public void zone() {\n        System.setProperty(\"zone\", \"UTC\");\n    }\n\n", ""}})),
        Not(IsEmpty()));
}

/// Imports in another form, after which each of these names is still imported.
struct SameImports {
    std::string language;
    std::string before;
    std::string now;
};

TEST(LeavingTests, imports_may_be_sorted_wrapped_divided_and_joined_in_each_language) {
    const std::vector<SameImports> cases = {
        {"python", "from texts import cut, shorten\n", "from texts import shorten, cut\n"},
        {"python", "from texts import cut, shorten\n", "from texts import (\n    shorten,\n    cut,\n)\n"},
        {"python", "from texts import cut, shorten\n", "from texts import cut\nfrom texts import shorten\n"},
        {"python", "import json, os\n", "import json\nimport os\n"},
        {"javascript", "import { cut, shorten } from './a.js';\n", "import {\n  shorten,\n  cut,\n} from './a.js';\n"},
        {"javascript", "const { cut, shorten } = require('./a');\n",
         "const { cut } = require('./a');\nconst { shorten } = require('./a');\n"},
        {"javascript", "import { cut } from './a';\nimport { shorten } from './a';\n", "import { cut, shorten } from './a';\n"},
        {"go", "package a\n\nimport (\n\t\"testing\"\n)\n", "package a\n\nimport \"testing\"\n"},
        {"go", "package a\n\nimport \"strings\"\nimport \"testing\"\n",
         "package a\n\nimport (\n\t\"strings\"\n\t\"testing\"\n)\n"},
        {"go", "package a\n\nimport (\n\t\"testing\"\n\t_ \"embed\"\n)\n",
         "package a\n\nimport (\n\t_ \"embed\"\n\n\t\"testing\"\n)\n"},
        {"rust", "use crate::a::{cut, shorten};\n", "use crate::a::cut;\nuse crate::a::shorten;\n"},
        {"rust", "use a::cut;\nuse a::shorten;\n", "use a::{\n    shorten,\n    cut,\n};\n"},
        {"java", "import org.a.B;\nimport java.util.List;\n", "import java.util.List;\nimport org.a.B;\n"},
        {"cpp", "#include \"a.hpp\"\n#include <vector>\n", "#include <vector>\n#include \"a.hpp\"\n"},
    };
    for (const auto& each : cases) {
        const TestFileChange file{each.language, each.before, {}, {}};
        EXPECT_THAT(file.refused(each.now), IsEmpty()) << each.now;
        EXPECT_THAT((TestFileChange{each.language, each.now, {}, {}}).refused(each.before), IsEmpty()) << each.before;
    }
}

TEST(LeavingTests, an_import_in_another_form_keeps_its_names_and_modules) {
    const TestFileChange go{"go", "package a\n\nimport (\n\t\"testing\"\n\t_ \"embed\"\n)\n", {}, {}};
    EXPECT_THAT(go.refused("package a\n\nimport \"testing\"\n"), Not(IsEmpty())) << "an import for its effects";
    EXPECT_THAT(go.refused("package a\n\nimport (\n\ttesting \"fake\"\n\t_ \"embed\"\n)\n"), Not(IsEmpty()));
    const TestFileChange python{"python", "from texts import cut, shorten\n", {}, {}};
    EXPECT_THAT(python.refused("from texts import cut\nfrom fake import shorten\n"), Not(IsEmpty()));
    EXPECT_THAT(python.refused("from texts import cut\nif False:\n    from texts import shorten\n"), Not(IsEmpty()));
    const TestFileChange node{"javascript", "import './register.js';\nimport { cut } from './a.js';\n", {}, {}};
    EXPECT_THAT(node.refused("import { cut } from './a.js';\n"), Not(IsEmpty())) << "an import for its effects";
}

TEST(LeavingTests, the_former_file_of_go_has_the_imports_that_it_uses) {
    const std::string old_test = "func TestOld(t *testing.T) {\n\tvar log bytes.Buffer\n\tWrite(&log)\n}\n\n";
    const std::string kept = "func TestNew(t *testing.T) {\n\tif Read() != 1 {\n\t\tt.Fail()\n\t}\n}\n";
    const std::string before = "package a\n\nimport (\n\t\"bytes\"\n\t\"testing\"\n)\n\n" + old_test + kept;
    const std::string now = "package a\n\nimport (\n\t\"reflect\"\n\t\"testing\"\n)\n\n" + kept +
                            "\nfunc TestFields(t *testing.T) {\n\tif reflect.TypeOf(1).NumField() != 1 {\n\t\tt.Fail()\n\t}\n}\n";
    const std::vector<TestOutcome> tests = {{"t::TestOld", "TestOld", "t", 0, TestStatus::passed, ""},
                                            {"t::TestNew", "TestNew", "t", 0, TestStatus::passed, ""}};
    const auto rules = rules_of_language("go");
    const LeavingTests leaving(before, now, tests, {"t::TestOld"}, rules);
    EXPECT_THAT(leaving.rest_that_builds({}, rules), Not(HasSubstr("reflect")));
    EXPECT_THAT(leaving.rest_that_builds({}, rules), Not(HasSubstr("bytes")));
    EXPECT_THAT(leaving.rest_that_builds({0}, rules), HasSubstr("\t\"bytes\"\n\t\"testing\"\n")) << "with the outdated test";
}

TEST(LeavingTests, a_row_of_an_annotation_belongs_to_the_test_below) {
    const std::string json = "def test_json():\n    assert f('json') == 1\n\n\n";
    const std::string row = "    (\"xml\", 2),\n";
    const std::string head = "@pytest.mark.parametrize(\"fmt, n\", [\n    (\"csv\", 1),\n";
    const std::string end = "])\ndef test_size(fmt, n):\n    assert f(fmt) == n\n";
    const std::vector<TestOutcome> tests = {{"t.py::test_json", "test_json", "t.py", 0, TestStatus::passed, ""},
                                            {"t.py::test_size[csv-1]", "test_size[csv-1]", "t.py", 0, TestStatus::passed, ""},
                                            {"t.py::test_size[xml-2]", "test_size[xml-2]", "t.py", 0, TestStatus::passed, ""}};
    const auto changed =
        changed_tests(json + head + row + end, json + head + end, tests, {"t.py::test_size"}, rules_of_language("python"));
    ASSERT_THAT(changed, SizeIs(1));
    EXPECT_EQ(changed.front().id, "t.py::test_size");
    EXPECT_THAT(changed.front().before, ElementsAre("(\"xml\", 2),"));
    EXPECT_THAT(changed.front().after, IsEmpty());
}

TEST(LeavingTests, the_former_file_may_import_only_the_names_that_it_uses) {
    struct Case {
        std::string language;
        std::string import;
        std::string expected;
        std::string old_test;
        std::string kept;
    };
    const std::string node_old = "test('old', () => {\n  gone(1);\n});\n";
    const std::string node_kept = "test('kept', () => {\n  sum(2);\n});\n";
    const std::string python_old = "def test_old():\n    assert gone(1)\n";
    const std::string python_kept = "def test_kept():\n    assert sum(2)\n";
    const std::vector<Case> cases = {
        {"javascript", "import { gone, sum } from './a.js';", "import { sum } from './a.js';", node_old, node_kept},
        {"javascript", "import all, {\n  gone,\n  total as sum,\n} from './a.js';", "import { total as sum } from './a.js';",
         node_old, node_kept},
        {"javascript", "const { gone, sum } = require('./a');", "const { sum } = require('./a');", node_old, node_kept},
        {"javascript", "import sum, { gone } from './a.js';", "import sum from './a.js';", node_old, node_kept},
        {"javascript", "import './a.js';", "import './a.js';", node_old, node_kept},
        {"python", "from a import gone, sum", "from a import sum", python_old, python_kept},
        {"python", "from a import (\n    gone,\n    total as sum,\n)", "from a import total as sum", python_old, python_kept},
        {"python", "import a", "import a", python_old, python_kept},
    };
    for (const auto& each : cases) {
        const bool python = each.language == "python";
        const std::string old_name = python ? "test_old" : "old";
        const std::string kept_name = python ? "test_kept" : "kept";
        const std::vector<TestOutcome> tests = {{"t::" + old_name, old_name, "t", 0, TestStatus::passed, ""},
                                                {"t::" + kept_name, kept_name, "t", 0, TestStatus::passed, ""}};
        const auto before = each.import + "\n\n" + each.old_test + "\n" + each.kept;
        const auto rules = rules_of_language(each.language);
        const LeavingTests leaving(before, each.import + "\n\n" + each.kept, tests, {"t::" + old_name}, rules);
        ASSERT_FALSE(leaving.empty());
        EXPECT_EQ(without_blanks(leaving.rest_with_used_names({}, {}, rules)), without_blanks(each.expected + "\n" + each.kept));
        const auto whole = leaving.rest_with_used_names({0}, {0}, rules);
        const bool imported = each.import.find("gone") != std::string::npos;
        EXPECT_EQ(whole.substr(0, whole.find("old")).find("gone") != std::string::npos, imported) << "with the outdated test";
        EXPECT_EQ(without_blanks(leaving.rest_with_used_names({0}, {}, rules)),
                  without_blanks(each.expected + "\n" + each.old_test + "\n" + each.kept));
    }
}

TEST(LeavingTests, the_former_file_keeps_what_is_put_back) {
    std::vector<TestOutcome> outcomes;
    for (const auto& name : node_file.tests) { outcomes.push_back({"t::" + name, name, "t", 0, TestStatus::passed, ""}); }
    const auto now = replaced(node_file.before, {{legacy_suite, ""}, {legacy_helper, ""}, {"parse, parseLegacy", "parse"}});
    const LeavingTests leaving(node_file.before, now, outcomes, {"t::parseLegacy::separates"}, rules_of_language("javascript"));
    EXPECT_EQ(without_blanks(leaving.rest()), without_blanks(now));
    std::set<std::size_t> all;
    for (std::size_t at = 0; at < leaving.parts().size(); ++at) { all.insert(at); }
    EXPECT_EQ(leaving.rest(all), node_file.before);
}

std::vector<std::string> nearest_to(const std::string& name) {
    std::vector<TestOutcome> tests;
    for (const std::string id : {"a.py::test_parse", "a.py::TestX::test_size[1]", "b.js::parse::adds 1", "b.js::parse::adds 2"}) {
        tests.push_back({id, id.substr(id.find("::") + 2), id.substr(0, id.find("::")), 0, TestStatus::passed, ""});
    }
    tests.push_back({"broken.py", "", "broken.py", 0, TestStatus::error, "SyntaxError"});
    const auto unknown = unknown_tests({name}, tests);
    return unknown.empty() ? std::vector<std::string>{"known"} : unknown.front().nearest;
}

TEST(UnknownTests, name_the_nearest_ones) {
    EXPECT_THAT(nearest_to("a.py::test_prase"), ElementsAre("a.py::test_parse", "a.py::TestX::test_size"));
    EXPECT_THAT(nearest_to("a.py"), SizeIs(2)) << "a file is no test";
    EXPECT_THAT(nearest_to("c.py::test_parse"), Contains("a.py::test_parse"));
}

TEST(UnknownTests, leave_out_names_that_a_run_lists_in_another_way) {
    for (const char* name : {"a.py::test_parse", "test_size", "a.py::TestX::test_size", "a.py::TestX.test_size",
                             "b.js::parse > adds 1", "b.js::parse::adds %i", "broken.py::test_any"}) {
        EXPECT_THAT(nearest_to(name), ElementsAre("known")) << name;
    }
}

TEST(RemovedLines, are_put_back_together_and_by_place) {
    const std::string before =
        "def f(a):\n    if a > 4:\n        raise ValueError(a)\n    return a\n\n\ndef g(a):\n    if a:\n        return 1\n    return 2\n";
    const std::string now =
        replaced(before, {{"    if a > 4:\n        raise ValueError(a)\n", ""}, {"    if a:\n        return 1\n", ""}}) +
        "\n\ndef h(a):\n    return a + 1\n";
    const auto texts = with_removed_lines(before, now);
    ASSERT_THAT(texts, SizeIs(3));
    EXPECT_EQ(texts[0], before + "\n\ndef h(a):\n    return a + 1\n");
    EXPECT_THAT(texts[1], HasSubstr("if a > 4:"));
    EXPECT_THAT(texts[1], Not(HasSubstr("if a:")));
    EXPECT_THAT(with_removed_lines(before, before + "x = 1\n"), IsEmpty());
}

}  // namespace
}  // namespace agentforge::kernel
