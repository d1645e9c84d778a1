// SPDX-License-Identifier: Apache-2.0
// TAP and JUnit XML, with the real output of runners.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/formats/format.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> lines_of(const FormatResult& result) {
    std::vector<std::string> lines;
    for (const auto& test : result.tests) {
        lines.push_back(std::string(to_string(test.status)) + " " + test.file + " " +
                        (test.suite.empty() ? "" : test.suite + "::") + test.name);
    }
    return lines;
}

FormatResult tap(std::string_view text) {
    RunOutput output;
    output.out = text;
    return parse_tap(output);
}

FormatResult junit(std::string text, std::string name = "report.xml") {
    RunOutput output;
    output.files.emplace_back(std::move(name), std::move(text));
    return parse_junit_xml(output);
}

// node 20.20.2, `--test-reporter=tap`, shortened stacks.
constexpr std::string_view node_tap = R"(TAP version 13
# Subtest: slugify
    # Subtest: skeleton
    not ok 1 - skeleton
      ---
      duration_ms: 1.269953
      location: '/some/tree/test/slug.test.js:6:3'
      failureType: 'testCodeFailure'
      error: 'agentforge: skeleton of slugify'
      code: 'ERR_TEST_FAILURE'
      stack: |-
        slugify (file:///some/tree/src/slug.js:2:9)
      ...
    # Subtest: assertion
    not ok 2 - assertion
      ---
      duration_ms: 17.697492
      location: '/some/tree/test/slug.test.js:7:3'
      failureType: 'testCodeFailure'
      error: |-
        Expected values to be strictly equal:
        
        1 !== 2
        
      code: 'ERR_ASSERTION'
      name: 'AssertionError'
      ...
    # Subtest: skipped
    ok 3 - skipped # SKIP later
      ---
      duration_ms: 0.374639
      ...
    # Subtest: issue \#12
    ok 4 - issue \#12
      ---
      duration_ms: 0.256833
      ...
    1..4
not ok 1 - slugify
  ---
  duration_ms: 22.3
  type: 'suite'
  location: '/some/tree/test/slug.test.js:5:1'
  failureType: 'subtestsFailed'
  error: '2 subtests failed'
  code: 'ERR_TEST_FAILURE'
  ...
# Subtest: broken
not ok 2 - broken
  ---
  failureType: 'testCodeFailure'
  error: 'x is not a function'
  code: 'ERR_TEST_FAILURE'
  name: 'TypeError'
  ...
1..2
# tests 5
# fail 3
)";

TEST(Tap, node_reports_suites_assertions_and_errors) {
    const auto result = tap(node_tap);
    EXPECT_EQ(result.problem, "");
    EXPECT_THAT(lines_of(result), ElementsAre("error /some/tree/test/slug.test.js slugify::skeleton",
                                              "failed_assertion /some/tree/test/slug.test.js slugify::assertion",
                                              "skipped  slugify::skipped", "passed  slugify::issue #12", "error  broken"));
    ASSERT_EQ(result.tests.size(), 5U);
    EXPECT_EQ(result.tests[0].line, 6U);
    EXPECT_THAT(result.tests[0].message, HasSubstr("agentforge: skeleton of slugify"));
    EXPECT_THAT(result.tests[1].message, HasSubstr("1 !== 2"));
    EXPECT_THAT(result.tests[4].message, HasSubstr("TypeError: x is not a function"));
}

TEST(Tap, a_failure_shows_both_values_if_its_message_does_not) {
    const auto result = tap(
        "1..2\nnot ok 1 - slug of Hello\n  ---\n    operator: equal\n    expected: 'hello'\n    actual:   'Hello'\n    at: Test.<anonymous> (/some/tree/test/slug.js:4:5)\n  ...\n"
        "not ok 2 - said\n  ---\n  message: \"'a' != 'b'\"\n  expected: 'b'\n  actual: 'a'\n  ...\n");
    ASSERT_EQ(result.tests.size(), 2U);
    EXPECT_THAT(result.tests[0].message, HasSubstr("expected: hello\nactual: Hello"));
    EXPECT_EQ(result.tests[1].message, "'a' != 'b'");
}

TEST(Tap, ignores_other_program_output) {
    const auto result = tap("Hello\nokay computer\n1..2\nok 1 first\n# a comment\nokay\nnot ok 2 - second # TODO not yet\n");
    EXPECT_EQ(result.problem, "");
    EXPECT_THAT(lines_of(result), ElementsAre("passed  first", "skipped  second"));
}

TEST(Tap, a_number_without_a_name_is_a_test) {
    EXPECT_THAT(lines_of(tap("1..2\nok\nnot ok 2\n")), ElementsAre("passed  test 1", "failed_assertion  test 2"));
}

TEST(Tap, a_file_reported_as_a_test_is_a_file) {
    const auto result = tap("    ok 1 - a\n    1..1\nok 1 - test/a.test.js\nnot ok 2 - test/b.test.js\n1..2\n");
    EXPECT_EQ(result.problem, "");
    EXPECT_THAT(lines_of(result), ElementsAre("passed test/a.test.js a", "error test/b.test.js test/b.test.js"));
}

struct Broken {
    const char* name;
    const char* text;
    const char* says;
};
class TapBroken : public ::testing::TestWithParam<Broken> {};

TEST_P(TapBroken, is_incomplete) { EXPECT_THAT(tap(GetParam().text).problem, HasSubstr(GetParam().says)); }

INSTANTIATE_TEST_SUITE_P(Each, TapBroken,
                         ::testing::Values(Broken{"nothing", "", "printed no TAP"},
                                           Broken{"no_tap", "npm ERR! missing script\n", "the test command printed no TAP"},
                                           Broken{"no_plan", "ok 1 - a\n", "no plan"},
                                           Broken{"too_few", "1..3\nok 1 - a\nok 2 - b\n", "announces 3 tests, 2 were reported"},
                                           Broken{"too_many", "1..1\nok 1 - a\nok 2 - b\n", "announces 1 tests, 2 were reported"},
                                           Broken{"twice", "1..1\nok 1 - a\n1..1\n", "two plans"},
                                           Broken{"misnumbered", "1..2\nok 1 - a\nok 3 - b\n", "is numbered 3"},
                                           Broken{"bailed_out", "1..2\nok 1 - a\nBail out! no database\n", "no database"},
                                           Broken{"subtest_cut", "    1..2\n    ok 1 - a\nok 1 - parent\n1..1\n",
                                                  "announces 2 tests, 1 were reported"},
                                           Broken{"inside_details", "1..1\nnot ok 1 - a\n  ---\n  error: 'x'\n", "middle"}),
                         [](const auto& each) { return std::string(each.param.name); });

// Vitest 3.2.7, `--reporter=junit`, shortened.
constexpr const char* vitest_xml = R"(<?xml version="1.0" encoding="UTF-8" ?>
<testsuites name="vitest tests" tests="4" failures="3" errors="0" time="0.04">
    <testsuite name="test/bad.test.ts" tests="1" failures="1" errors="0" skipped="0" time="0">
        <testcase classname="test/bad.test.ts" name="test/bad.test.ts" time="0">
            <failure message="Cannot find module &apos;./nothere&apos;" type="Error">
Error: Cannot find module
            </failure>
        </testcase>
    </testsuite>
    <testsuite name="test/slug.test.ts" tests="3" failures="2" errors="0" skipped="1" time="0.04">
        <testcase classname="test/slug.test.ts" name="slugify &gt; skeleton" time="0.01">
            <failure message="agentforge: skeleton of slugify" type="Error"> &#x276f; src/slug.ts:6:9</failure>
        </testcase>
        <testcase classname="test/slug.test.ts" name="slugify &gt; assertion" time="0.01">
            <failure message="expected 1 to be 2 // Object.is equality" type="AssertionError"/>
        </testcase>
        <testcase classname="test/slug.test.ts" name="slugify &gt; skipped" time="0"><skipped/></testcase>
    </testsuite>
</testsuites>
)";

TEST(JunitXml, vitest_reports_files_suites_and_exceptions) {
    const auto result = junit(vitest_xml);
    EXPECT_EQ(result.problem, "");
    EXPECT_THAT(
        lines_of(result),
        ElementsAre("error test/bad.test.ts test/bad.test.ts", "error test/slug.test.ts slugify::skeleton",
                    "failed_assertion test/slug.test.ts slugify::assertion", "skipped test/slug.test.ts slugify::skipped"));
    EXPECT_THAT(result.tests.at(1).message, HasSubstr("agentforge: skeleton of slugify"));
}

// Surefire 3.2 with JUnit 5, and pytest 7.2: the class is the suite; `error` is an error.
TEST(JunitXml, the_class_is_the_suite) {
    const auto surefire = junit(R"(<testsuite name="com.example.SlugTest" tests="3" errors="1" skipped="0" failures="1">
<testcase name="passes" classname="com.example.SlugTest" time="0.1"/>
<testcase name="fails" classname="com.example.SlugTest"><failure message="expected: &lt;1&gt; but was: &lt;2&gt;" type="org.opentest4j.AssertionFailedError">stack</failure></testcase>
<testcase name="breaks" classname="com.example.SlugTest"><error message="null" type="java.lang.NullPointerException">stack</error><system-out>ok</system-out></testcase>
</testsuite>)");
    EXPECT_EQ(surefire.problem, "");
    EXPECT_THAT(lines_of(surefire),
                ElementsAre("passed  com.example.SlugTest::passes", "failed_assertion  com.example.SlugTest::fails",
                            "error  com.example.SlugTest::breaks"));
}

// Written by Meson 1.0.1.
TEST(JunitXml, a_meson_report_names_tests_and_their_output) {
    const auto result = junit(R"(<?xml version='1.0' encoding='utf-8'?>
<testsuites tests="2" errors="0" failures="1"><testsuite name="a" tests="2" errors="0" failures="1" skipped="0" time="0.08"><testcase name="a:unit / sums" classname="a" time="0.08" /><testcase name="a / fails" classname="a" time="0.07"><failure /><system-err>u: ../tests/test_b.c:3: main: Assertion `1 == 2' failed.</system-err></testcase></testsuite></testsuites>)");
    EXPECT_EQ(result.problem, "");
    EXPECT_THAT(lines_of(result), ElementsAre("passed  a::sums", "failed_assertion  a::fails"));
    EXPECT_THAT(result.tests.at(1).message, HasSubstr("tests/test_b.c:3: main: Assertion `1 == 2' failed."));
}

// In the form of Gradle 8, with JUnit 5.
TEST(JunitXml, a_gradle_report_names_tests_and_assertions) {
    const auto result = junit(R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="com.example.SlugTest" tests="2" skipped="0" failures="1" errors="0" timestamp="2024-01-01T00:00:00" hostname="host" time="0.02">
  <properties/>
  <testcase name="lowers()" classname="com.example.SlugTest" time="0.01"/>
  <testcase name="joins()" classname="com.example.SlugTest" time="0.01">
    <failure message="org.opentest4j.AssertionFailedError: expected: &lt;a-b&gt; but was: &lt;a_b&gt;" type="org.opentest4j.AssertionFailedError">org.opentest4j.AssertionFailedError: expected: &lt;a-b&gt; but was: &lt;a_b&gt;
	at app//com.example.SlugTest.joins(SlugTest.java:14)
</failure>
  </testcase>
  <system-out><![CDATA[]]></system-out>
  <system-err><![CDATA[]]></system-err>
</testsuite>)xml");
    EXPECT_EQ(result.problem, "");
    EXPECT_THAT(lines_of(result),
                ElementsAre("passed  com.example.SlugTest::lowers", "failed_assertion  com.example.SlugTest::joins"));
    EXPECT_THAT(result.tests.at(1).message, HasSubstr("SlugTest.java:14"));
}

// Surefire 2.22.3 (braces) and 3.2.5 (parentheses) with JUnit 5: nested classes, methods with arguments, cases in brackets.
TEST(JunitXml, nested_classes_and_parameterized_methods_have_their_source_names) {
    const auto result = junit(R"xml(<testsuite name="com.example.ManyTest" tests="8" errors="0" skipped="0" failures="1">
<testcase name="plain" classname="com.example.ManyTest$Inner$Innermost" time="0"/>
<testcase name="withTemp{Path}" classname="com.example.ManyTest" time="0"/>
<testcase name="writes{long, String}[1]" classname="com.example.ManyTest" time="0"/>
<testcase name="writes{long, String}[2]" classname="com.example.ManyTest" time="0"><failure message="no" type="org.opentest4j.AssertionFailedError">no</failure></testcase>
<testcase name="sums(List, int[])[2]" classname="com.example.ManyTest" time="0"/>
<testcase name="containers[1][2]" classname="com.example.ManyTest" time="0"/>
<testcase name="again{RepetitionInfo}[1]" classname="ManyTest" time="0"/>
<testcase name="is 2(1)" classname="com.example.ManyTest" time="0"/>
</testsuite>)xml");
    EXPECT_EQ(result.problem, "");
    EXPECT_THAT(lines_of(result),
                ElementsAre("passed  com.example.ManyTest::Inner::Innermost::plain", "passed  com.example.ManyTest::withTemp",
                            "passed  com.example.ManyTest::writes[1]", "failed_assertion  com.example.ManyTest::writes[2]",
                            "passed  com.example.ManyTest::sums[2]", "passed  com.example.ManyTest::containers[1][2]",
                            "passed  ManyTest::again[1]", "passed  com.example.ManyTest::is 2(1)"));
}

// Surefire 2.22.3 names the class, 3.2.5 does not.
TEST(JunitXml, a_class_whose_setup_failed_is_one_error) {
    for (const auto* name : {"com.example.SetUpTest", ""}) {
        const auto result = junit(
            "<testsuite name=\"com.example.SetUpTest\" tests=\"1\" errors=\"1\"><testcase name=\"" + std::string(name) +
            "\" classname=\"com.example.SetUpTest\"><error message=\"before all\" type=\"java.lang.IllegalStateException\">x</error></testcase></testsuite>");
        ASSERT_EQ(result.tests.size(), 1U) << result.problem;
        EXPECT_TRUE(result.tests.front().whole_file) << name;
    }
}

// node 20.20.2, `--test-reporter=junit`.
TEST(JunitXml, nested_suites_are_joined) {
    const auto result = junit(
        R"(<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="outer" tests="1" failures="1" errors="0" skipped="0">
<testsuite name="inner" tests="1" failures="1"><testcase name="fails" time="0.01" classname="test" failure="no"><failure type="testCodeFailure" message="1 !== 2"/></testcase></testsuite>
</testsuite><testcase name="plain" classname="test" time="0"/></testsuites>)");
    EXPECT_EQ(result.problem, "");
    EXPECT_THAT(lines_of(result), ElementsAre("failed_assertion  outer::inner::fails", "passed  plain"));
}

class JunitXmlBroken : public ::testing::TestWithParam<Broken> {};

TEST_P(JunitXmlBroken, is_incomplete) { EXPECT_THAT(junit(GetParam().text).problem, HasSubstr(GetParam().says)); }

INSTANTIATE_TEST_SUITE_P(
    Each, JunitXmlBroken,
    ::testing::Values(Broken{"empty", "", "not complete"}, Broken{"cut_off", "<testsuite><testcase name=\"a\"/>", "not complete"},
                      Broken{"another_document", "<html/>", "html"},
                      Broken{"failures_without_a_failure",
                             "<testsuite tests=\"1\" failures=\"1\"><testcase name=\"a\"/></testsuite>", "counts"},
                      Broken{"tests_missing", "<testsuite tests=\"2\"><testcase name=\"a\"/></testsuite>", "counts"},
                      Broken{"entities", "<!DOCTYPE a [<!ENTITY b \"c\">]><testsuite/>", "document type"},
                      Broken{"nameless", "<testsuite><testcase/></testsuite>", "no name"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(JunitXml, a_report_must_have_an_xml_extension) {
    EXPECT_THAT(junit("<testsuite/>", "report.json").problem, HasSubstr(".xml"));
}

TEST(JunitXml, depth_is_bounded) {
    std::string text;
    for (int depth = 0; depth < 1000; ++depth) { text += "<testsuite>"; }
    EXPECT_THAT(junit(text).problem, HasSubstr("nested too deeply"));
}

// A report with one changed byte is read without harm, and never gains a passed test.
TEST(TextFormats, a_damaged_report_passes_no_additional_test) {
    std::mt19937 random(7);
    const auto passed = [](const FormatResult& result) {
        return std::count_if(result.tests.begin(), result.tests.end(),
                             [](const auto& test) { return test.status == TestStatus::passed; });
    };
    for (int round = 0; round < 300; ++round) {
        std::string text(node_tap);
        text.resize(random() % text.find("1..2\n#"));
        const auto result = tap(text);
        EXPECT_NE(result.problem, "");
        EXPECT_LE(passed(result), 1);
        std::string xml(vitest_xml);
        xml.resize(random() % (xml.size() - 15));
        EXPECT_NE(junit(xml).problem, "");
    }
}

}  // namespace
}  // namespace agentforge::kernel::testing
