// SPDX-License-Identifier: Apache-2.0
// When a native runner's report is trusted, and the names of its tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/run/report_trust.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A run of `tests/a_test.x` and `tests/sub/b_test.x` with one canary for all, which failed as it should.
class ReportTrust : public ::testing::Test {
protected:
    ReportTrust() {
        runner_.name = "r";
        context_.runner = &runner_;
        context_.unique = "c0ffee";
        context_.canaries = {{"", true, 1}};
        context_.marker = "agentforge: skeleton of";
        context_.root = "/some/tree";
        context_.test_files = {"tests/a_test.x", "tests/sub/b_test.x"};
        context_.files = context_.test_files;
        outcome_.exit_code = 1;
        add_result("canary_c0ffee", TestStatus::failed_assertion);
    }
    ReportedTest& add_result(const std::string& name, TestStatus status, const std::string& file = "tests/a_test.x",
                             const std::string& message = "") {
        ReportedTest test;
        test.name = name;
        test.status = status;
        test.file = file;
        test.message = message;
        report_.tests.push_back(test);
        return report_.tests.back();
    }
    TestRun judge() { return judge_report(report_, context_, outcome_); }

    TestRunner runner_;
    ReportContext context_;
    FormatResult report_;
    ProcessOutcome outcome_;
};

std::vector<std::string> ids_of(const TestRun& run) {
    std::vector<std::string> ids;
    for (const auto& test : run.tests) { ids.push_back(test.id); }
    return ids;
}

TEST_F(ReportTrust, a_complete_report_whose_canary_failed_is_trusted) {
    add_result("adds", TestStatus::passed).suite = "Sum";
    const auto run = judge();
    EXPECT_TRUE(run.trusted) << run.distrust;
    EXPECT_THAT(ids_of(run), ElementsAre("tests/a_test.x::Sum::adds"));
}

TEST_F(ReportTrust, the_invocation_of_a_test_does_not_depend_on_the_build_folder) {
    context_.build = "/scratch/build-1";
    auto& test = add_result("adds", TestStatus::passed, "");
    test.invocation = TestInvocation{true, false, "command: [\"/scratch/build-1/t\"]\n"};
    test.sources = {"/some/tree/src/a.x", "/some/tree/tests/a_test.x"};
    report_.reads = {"/scratch/build-1/x.cmake"};
    const auto run = judge();
    EXPECT_EQ(run.invocations.at("tests/a_test.x::adds"),
              (std::set{TestInvocation{true, false, "command: [\"{build}/t\"]\nbuilt from: tests/a_test.x\n"}}));
    EXPECT_THAT(run.reads, ElementsAre("{build}/x.cmake"));
}

TEST_F(ReportTrust, output_without_a_report_is_quoted_by_its_last_line) {
    report_.problem = "the test command printed no TAP";
    report_.no_report = true;
    outcome_.out = "starting\nno script `test`\n";
    EXPECT_EQ(judge().distrust, "the test command printed no TAP; it ended with: no script `test`");
}

TEST_F(ReportTrust, a_canary_that_passed_is_not_trusted) {
    report_.tests[0].status = TestStatus::passed;
    add_result("adds", TestStatus::passed);
    const auto run = judge();
    EXPECT_THAT(run.distrust, HasSubstr("canary"));
    EXPECT_EQ(run.tests[0].status, TestStatus::error);
}

TEST_F(ReportTrust, a_canary_that_was_not_run_is_not_trusted) {
    report_.tests.clear();
    add_result("adds", TestStatus::passed);
    outcome_.exit_code = 0;
    EXPECT_THAT(judge().distrust, HasSubstr("were not all run (0 of 1)"));
}

TEST_F(ReportTrust, a_canary_may_be_missing_if_nothing_passed) {
    report_.tests.clear();
    add_result("tests/a_test.x", TestStatus::error, "tests/a_test.x", "does not compile");
    const auto run = judge();
    EXPECT_TRUE(run.trusted) << run.distrust;
    EXPECT_THAT(ids_of(run), ElementsAre("tests/a_test.x"));
}

TEST_F(ReportTrust, each_folder_whose_tests_passed_needs_its_own_canary) {
    context_.canaries = {{"tests", false, 1}, {"tests/sub", false, 1}};
    report_.tests[0].file = "tests/canary_c0ffee.x";
    add_result("adds", TestStatus::passed);
    EXPECT_TRUE(judge().trusted);
    add_result("b", TestStatus::passed, "tests/sub/b_test.x");
    EXPECT_THAT(judge().distrust, HasSubstr("tests/sub"));
}

TEST_F(ReportTrust, a_mismatched_exit_code_is_not_trusted) {
    outcome_.exit_code = 0;
    add_result("adds", TestStatus::passed);
    EXPECT_THAT(judge().distrust, HasSubstr("exit code 0 does not agree"));
}

TEST_F(ReportTrust, without_a_canary_it_is_trusted_with_a_note) {
    context_.canaries.clear();
    report_.tests.clear();
    add_result("adds", TestStatus::passed);
    outcome_.exit_code = 0;
    const auto run = judge();
    EXPECT_TRUE(run.trusted);
    EXPECT_THAT(run.notes, ElementsAre(HasSubstr("no canary")));
}

TEST_F(ReportTrust, a_truncated_run_is_not_trusted) {
    add_result("adds", TestStatus::passed);
    outcome_.timed_out = true;
    context_.timeout = std::chrono::seconds(7);
    EXPECT_THAT(judge().distrust, HasSubstr("within 7 s"));
    outcome_.timed_out = false;
    report_.problem = "the report is cut off";
    EXPECT_THAT(judge().distrust, HasSubstr("the report is cut off"));
}

TEST_F(ReportTrust, a_collected_test_without_a_result_is_not_trusted) {
    add_result("adds", TestStatus::passed);
    FormatResult collected = report_;
    collected.tests.push_back(report_.tests.back());
    collected.tests.back().name = "subtracts";
    context_.collected = collected;
    const auto run = judge();
    EXPECT_THAT(run.distrust, HasSubstr("tests/a_test.x::subtracts"));
    EXPECT_THAT(ids_of(run), ElementsAre("tests/a_test.x::adds", "tests/a_test.x::subtracts"));
}

TEST_F(ReportTrust, a_test_reported_twice_counts_once_with_the_worse_outcome) {
    add_result("adds", TestStatus::error);
    add_result("adds", TestStatus::passed);
    const auto run = judge();
    ASSERT_EQ(run.tests.size(), 1U);
    EXPECT_EQ(run.tests[0].status, TestStatus::error);
}

TEST_F(ReportTrust, omits_tests_of_unrequested_files_but_keeps_those_of_unknown_files) {
    context_.files = {"tests/a_test.x"};
    add_result("adds", TestStatus::passed);
    add_result("b", TestStatus::failed_assertion, "tests/sub/b_test.x");
    add_result("script", TestStatus::passed, "");
    add_result("inline", TestStatus::passed, "src/a.x");
    EXPECT_THAT(ids_of(judge()), ElementsAre("tests/a_test.x::adds", "script", "src/a.x::inline"));
}

TEST_F(ReportTrust, a_file_is_found_by_path_suffix_declaration_or_class) {
    context_.declared = {{"adds", "tests/a_test.x"}};
    context_.test_files = {"src/test/com/example/FooTest.java", "tests/a_test.x", "tests/sub/b_test.x"};
    context_.files = context_.test_files;
    add_result("one", TestStatus::passed, "/some/tree/tests/a_test.x");
    add_result("two", TestStatus::passed, "sub/b_test.x");
    add_result("adds[1]", TestStatus::passed, "");
    add_result("three", TestStatus::passed, "").suite = "com.example.FooTest";
    add_result("four", TestStatus::passed, "").sources = {"/some/tree/src/four.x", "/some/tree/tests/a_test.x"};
    EXPECT_THAT(ids_of(judge()), ElementsAre("tests/a_test.x::one", "tests/sub/b_test.x::two", "tests/a_test.x::adds[1]",
                                             "src/test/com/example/FooTest.java::FooTest::three", "tests/a_test.x::four"));
}

TEST_F(ReportTrust, the_marker_identifies_a_skeleton_and_becomes_the_message) {
    add_result("adds", TestStatus::error, "tests/a_test.x", std::string(600, 'x') + "\npanic: agentforge: skeleton of sum");
    const auto run = judge();
    EXPECT_EQ(run.tests[0].status, TestStatus::failed_skeleton);
    EXPECT_EQ(run.tests[0].message, "panic: agentforge: skeleton of sum");
}

TEST_F(ReportTrust, messages_contain_paths_relative_to_the_tree) {
    add_result("adds", TestStatus::failed_assertion, "tests/a_test.x", "/some/tree/tests/a_test.x:3: no, see /some/tree/src/a.x");
    EXPECT_EQ(judge().tests[0].message, "tests/a_test.x:3: no, see src/a.x");
}

TEST_F(ReportTrust, patterns_distinguish_assertions_from_errors) {
    runner_.error_messages = {"^panic:"};
    runner_.assertion_messages = {"^assertion"};
    add_result("a", TestStatus::failed_assertion, "tests/a_test.x", "panic: index");
    add_result("b", TestStatus::error, "tests/a_test.x", "assertion `left == right` failed");
    const auto run = judge();
    EXPECT_EQ(run.tests[0].status, TestStatus::error);
    EXPECT_EQ(run.tests[1].status, TestStatus::failed_assertion);
}

TEST(Declarations, a_name_declared_in_two_files_belongs_to_none) {
    const auto found =
        declared_in(R"((?m)^func (?P<name>Test\w+)\()",
                    {{"a_test.go", "func TestA(t *T) {}\nfunc TestB(t *T) {}\n"}, {"b_test.go", "func TestB(t *T) {}\n"}});
    EXPECT_EQ(found.count("TestB"), 0U);
    ASSERT_EQ(found.count("TestA"), 1U);
    EXPECT_EQ(found.at("TestA"), "a_test.go");
}

TEST(ToolMessages, errors_are_found_line_by_line) {
    const auto found = find_messages(R"(^(?P<file>[^\s:]+):(?P<line>\d+):\d+: error: (?P<message>.*)$)",
                                     "make: x\n/some/tree/src/a.c:12:3: error: no\nsrc/b.c:1:1: warning: w\n", "/some/tree");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].file, "src/a.c");
    EXPECT_EQ(found[0].line, 12U);
    EXPECT_EQ(found[0].message, "no");
}

TEST(ToolMessages, a_message_that_ends_with_a_colon_continues_on_the_next_line) {
    const auto found = find_messages(
        R"(^CMake Error at (?P<file>[^:]+):(?P<line>\d+) (?P<message>.*)$)",
        "CMake Error at CMakeLists.txt:5 (add_library):\n  Cannot find source file:\n\n    src/x.cpp\n\n\n", "/some/tree");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].message, "(add_library): Cannot find source file: src/x.cpp");
}

}  // namespace
}  // namespace agentforge::kernel::testing
