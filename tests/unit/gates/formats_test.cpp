// SPDX-License-Identifier: Apache-2.0
// Reports as real runners wrote them, and what comes out of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/formats/format.hpp"
#include "gates/gates.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// `status file suite::name`, one a test.
std::vector<std::string> told(const FormatResult& result) {
    std::vector<std::string> lines;
    for (const auto& test : result.tests) {
        lines.push_back(std::string(to_string(test.status)) + " " + test.file + " " + (test.suite.empty() ? "" : test.suite + "::") + test.name);
    }
    return lines;
}

RunOutput with_file(std::string name, std::string content) {
    RunOutput output;
    output.files.emplace_back(std::move(name), std::move(content));
    output.root = "/work/tree";
    return output;
}

// GoogleTest 1.12.1.
constexpr std::string_view googletest_report = R"({"tests": 6, "failures": 3, "disabled": 1, "errors": 0, "name": "AllTests", "testsuites": [
{"name": "Slug", "tests": 4, "testsuite": [
{"name": "passes", "file": "/work/tree/tests/slug_test.cpp", "line": 3, "status": "RUN", "result": "COMPLETED", "classname": "Slug"},
{"name": "fails", "file": "/work/tree/tests/slug_test.cpp", "line": 4, "status": "RUN", "result": "COMPLETED", "classname": "Slug", "failures": [
{"failure": "/work/tree/tests/slug_test.cpp:4\nExpected equality of these values:\n  1\n  2", "type": ""}]},
{"name": "throws", "file": "/work/tree/tests/slug_test.cpp", "line": 5, "status": "RUN", "result": "COMPLETED", "classname": "Slug", "failures": [
{"failure": "unknown file\nC++ exception with description \"agentforge: skeleton of slugify\" thrown in the test body.", "type": ""}]},
{"name": "DISABLED_off", "file": "/work/tree/tests/slug_test.cpp", "line": 7, "status": "NOTRUN", "result": "SUPPRESSED", "classname": "Slug"}]},
{"name": "Odd\/P", "tests": 2, "testsuite": [
{"name": "is_odd\/0", "value_param": "1", "file": "/work/tree/tests/slug_test.cpp", "line": 9, "status": "RUN", "result": "SKIPPED", "classname": "Odd\/P"},
{"name": "is_odd\/1", "value_param": "2", "file": "/work/tree/tests/slug_test.cpp", "line": 9, "status": "RUN", "result": "COMPLETED", "classname": "Odd\/P",
"failures": [{"failure": "/work/tree/tests/slug_test.cpp:9\nfalse", "type": ""}]}]}]})";

TEST(GoogleTestJson, each_test_has_its_outcome_and_its_file) {
    const auto result = parse_googletest_json(with_file("t.json", std::string(googletest_report)));
    EXPECT_EQ(result.problem, "");
    EXPECT_THAT(told(result), ElementsAre("passed tests/slug_test.cpp Slug::passes", "failed_assertion tests/slug_test.cpp Slug::fails",
                                          "error tests/slug_test.cpp Slug::throws", "skipped tests/slug_test.cpp Slug::DISABLED_off",
                                          "skipped tests/slug_test.cpp P::is_odd[Odd/0]", "failed_assertion tests/slug_test.cpp P::is_odd[Odd/1]"));
    EXPECT_THAT(result.tests[2].message, HasSubstr("agentforge: skeleton of slugify"));
    EXPECT_EQ(result.tests[1].line, 4U);
}

TEST(GoogleTestJson, a_report_that_is_cut_off_is_not_complete) {
    const auto result = parse_googletest_json(with_file("t.json", std::string(googletest_report.substr(0, 900))));
    EXPECT_THAT(result.problem, HasSubstr("t.json"));
}

TEST(GoogleTestJson, counts_that_do_not_agree_are_a_problem) {
    auto text = std::string(googletest_report);
    text.replace(text.find("\"failures\": 3"), 13, "\"failures\": 0");
    EXPECT_THAT(parse_googletest_json(with_file("t.json", text)).problem, HasSubstr("counts"));
}

TEST(GoogleTestJson, a_typed_suite_is_told_by_its_type) {
    ReportedTest test;
    gtest_names("Slug/0", "works", test);
    EXPECT_EQ(test.suite + "::" + test.name, "Slug::works[0]");
    gtest_names("Inst/Slug", "works/two", test);
    EXPECT_EQ(test.suite + "::" + test.name, "Slug::works[Inst/two]");
}

TEST(Formats, a_path_is_written_as_the_tree_has_it) {
    EXPECT_EQ(path_in_tree("/work/tree/a/b.cpp", "/work/tree"), "a/b.cpp");
    EXPECT_EQ(path_in_tree("./a\\b.cpp", "/work/tree"), "a/b.cpp");
    EXPECT_EQ(path_in_tree("/work/tree2/b.cpp", "/work/tree"), "/work/tree2/b.cpp");
}

TEST(Formats, a_failure_has_no_colours) { EXPECT_EQ(failure_text("\x1b[1;31mno\x1b[0m way\xff"), "no way\xEF\xBF\xBD"); }

TEST(Formats, an_unknown_name_is_no_format) { EXPECT_EQ(find_format("junit"), nullptr); }

}  // namespace
}  // namespace agentforge::kernel::testing
