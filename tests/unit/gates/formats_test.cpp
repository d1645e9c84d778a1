// SPDX-License-Identifier: Apache-2.0
// Reports as real runners wrote them, and their parsed results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/formats/format.hpp"
#include "gates/formats/xml.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Returns `status file suite::name`, one line for each test.
std::vector<std::string> described(const FormatResult& result) {
    std::vector<std::string> lines;
    for (const auto& test : result.tests) {
        lines.push_back(std::string(to_string(test.status)) + " " + test.file + " " +
                        (test.suite.empty() ? "" : test.suite + "::") + test.name);
    }
    return lines;
}

RunOutput with_file(std::string name, std::string content) {
    RunOutput output;
    output.files.emplace_back(std::move(name), std::move(content));
    output.root = "/some/tree";
    return output;
}

// GoogleTest 1.12.1.
constexpr std::string_view googletest_report =
    R"({"tests": 6, "failures": 3, "disabled": 1, "errors": 0, "name": "AllTests", "testsuites": [
{"name": "Slug", "tests": 4, "testsuite": [
{"name": "passes", "file": "/some/tree/tests/slug_test.cpp", "line": 3, "status": "RUN", "result": "COMPLETED", "classname": "Slug"},
{"name": "fails", "file": "/some/tree/tests/slug_test.cpp", "line": 4, "status": "RUN", "result": "COMPLETED", "classname": "Slug", "failures": [
{"failure": "/some/tree/tests/slug_test.cpp:4\nExpected equality of these values:\n  1\n  2", "type": ""}]},
{"name": "throws", "file": "/some/tree/tests/slug_test.cpp", "line": 5, "status": "RUN", "result": "COMPLETED", "classname": "Slug", "failures": [
{"failure": "unknown file\nC++ exception with description \"agentforge: skeleton of slugify\" thrown in the test body.", "type": ""}]},
{"name": "DISABLED_off", "file": "/some/tree/tests/slug_test.cpp", "line": 7, "status": "NOTRUN", "result": "SUPPRESSED", "classname": "Slug"}]},
{"name": "Odd\/P", "tests": 2, "testsuite": [
{"name": "is_odd\/0", "value_param": "1", "file": "/some/tree/tests/slug_test.cpp", "line": 9, "status": "RUN", "result": "SKIPPED", "classname": "Odd\/P"},
{"name": "is_odd\/1", "value_param": "2", "file": "/some/tree/tests/slug_test.cpp", "line": 9, "status": "RUN", "result": "COMPLETED", "classname": "Odd\/P",
"failures": [{"failure": "/some/tree/tests/slug_test.cpp:9\nfalse", "type": ""}]}]}]})";

TEST(GoogleTestJson, each_test_has_its_outcome_and_its_file) {
    const auto result = parse_googletest_json(with_file("t.json", std::string(googletest_report)));
    EXPECT_EQ(result.problem, "");
    EXPECT_THAT(
        described(result),
        ElementsAre("passed tests/slug_test.cpp Slug::passes", "failed_assertion tests/slug_test.cpp Slug::fails",
                    "error tests/slug_test.cpp Slug::throws", "skipped tests/slug_test.cpp Slug::DISABLED_off",
                    "skipped tests/slug_test.cpp P::is_odd[Odd/0]", "failed_assertion tests/slug_test.cpp P::is_odd[Odd/1]"));
    EXPECT_THAT(result.tests[2].message, HasSubstr("agentforge: skeleton of slugify"));
    EXPECT_EQ(result.tests[1].line, 4U);
}

TEST(GoogleTestJson, a_truncated_report_is_incomplete) {
    const auto result = parse_googletest_json(with_file("t.json", std::string(googletest_report.substr(0, 900))));
    EXPECT_THAT(result.problem, HasSubstr("t.json"));
}

TEST(GoogleTestJson, mismatched_counts_are_a_problem) {
    auto text = std::string(googletest_report);
    text.replace(text.find("\"failures\": 3"), 13, "\"failures\": 0");
    EXPECT_THAT(parse_googletest_json(with_file("t.json", text)).problem, HasSubstr("counts"));
}

TEST(GoogleTestJson, names_a_typed_suite_by_its_type) {
    ReportedTest test;
    gtest_names("Slug/0", "works", test);
    EXPECT_EQ(test.suite + "::" + test.name, "Slug::works[0]");
    gtest_names("Inst/Slug", "works/two", test);
    EXPECT_EQ(test.suite + "::" + test.name, "Slug::works[Inst/two]");
    gtest_names("Inst/Slug/0", "works", test);
    EXPECT_EQ(test.suite + "::" + test.name, "Slug::works[Inst/0]");
}

/// The output of CTest 3.25.1 and the recorders for one program with one test. Each argument is one way in which a project can
/// affect it.
class CTestRun {
public:
    std::string kind = "googletest";
    std::string status = "fail";  ///< Of the test: its process has a canary, so its exit code is never 0.
    std::string canary_status = "fail";
    std::string output;
    std::string properties = "[]";
    std::string inputs = R"({"inputs":[{"path":"CMakeLists.txt"}]})";
    std::string scripts;
    std::vector<std::string> events{
        R"("plan","suite":"Slug","name":"lowers","file":"/some/tree/tests/t.cpp","line":3)",
        R"("start","suite":"Slug","name":"lowers")",
        R"("result","suite":"Slug","name":"lowers","file":"/some/tree/tests/t.cpp","line":3,"status":"passed","failures":0,"message":"")",
        canary_result(3),
        R"("tests")",
        R"("main","code":1)"};
    std::string secret = "s";
    bool recorded = true;

    static std::string canary_result(int failures) {
        return R"("result","suite":"AgentForgeCanary","name":"fails","file":"","line":1,"status":"failed_assertion","failures":)" +
               std::to_string(failures) + R"(,"message":"")";
    }
    [[nodiscard]] FormatResult parse() const {
        RunOutput output_of;
        output_of.root = "/some/tree";
        output_of.secret = "s";
        const std::string filter = kind == "googletest" ? R"(,"--gtest_filter=Slug.lowers")" : "";
        const std::string canary_filter = kind == "googletest" ? R"(,"--gtest_filter=AgentForgeCanary.*")" : "";
        output_of.files.emplace_back("1.record", record(filter, recorded ? events : std::vector<std::string>{}, recorded, false));
        output_of.files.emplace_back(
            "2.record",
            record(canary_filter,
                   kind == "plain" ? std::vector<std::string>{} : std::vector<std::string>{canary_result(3), R"("tests")"}, true,
                   kind == "plain"));
        output_of.files.emplace_back("ctest.xml", "<testsuite><testcase name=\"t\" status=\"" + status + "\"><system-out>" +
                                                      output +
                                                      "</system-out></testcase><testcase name=\"agentforge-canary-t\" status=\"" +
                                                      canary_status + "\"/></testsuite>");
        output_of.files.emplace_back("programs.txt", "/b/t\n");
        output_of.files.emplace_back("scripts.txt", scripts);
        if (!inputs.empty()) { output_of.files.emplace_back("inputs.json", inputs); }
        output_of.files.emplace_back("tests.json", R"({"tests":[{"name":"t","command":["/b/t")" + filter + R"(],"properties":)" +
                                                       properties + R"(},{"name":"agentforge-canary-t","command":["/b/t")" +
                                                       canary_filter + "]}]}");
        return parse_ctest(output_of);
    }

private:
    [[nodiscard]] std::string record(const std::string& filter, const std::vector<std::string>& lines, bool present,
                                     bool canary) const {
        if (!present) { return {}; }
        std::string text = R"({"s":"s","i":0,"type":"process","kind":")" + kind + R"(","canary":)" + (canary ? "true" : "false") +
                           R"(,"argv":["/b/t")" + filter + R"(],"sources":["/some/tree/tests/t.cpp"]})" + "\n";
        int number = 1;
        for (const auto& line : lines) {
            text += R"({"s":")" + secret + R"(","i":)" + std::to_string(number++) + R"(,"type":)" + line + "}\n";
        }
        return text;
    }
};

std::string only_status(const FormatResult& result) {
    EXPECT_EQ(result.problem, "");
    for (const auto& test : result.tests) {
        if (!test.canary) { return std::string(to_string(test.status)) + " " + test.message; }
    }
    return "none";
}

TEST(CTestFormat, a_test_passes_when_recorder_and_ctest_agree) {
    const auto result = CTestRun{}.parse();
    EXPECT_EQ(only_status(result), "passed ");
    EXPECT_THAT(described(result), ::testing::Contains("passed /some/tree/tests/t.cpp Slug::lowers"));
}

// The recorder's output for doctest 2.4.9 and Boost.Test 1.81.
TEST(CTestFormat, reads_doctest_and_boost_test_suites_from_recorded_output) {
    CTestRun run;
    for (const auto* kind : {"doctest", "boost"}) {
        run.kind = kind;
        run.events = {
            R"("plan","suite":"sums","name":"fails","file":"/some/tree/tests/t.cpp","line":6)",
            R"("start","suite":"sums","name":"fails")",
            R"("result","suite":"sums","name":"fails","file":"/some/tree/tests/t.cpp","line":6,"status":"failed_assertion","failures":1,"message":"1 + 1 == 3: 2 == 3")",
            R"("result","suite":"","name":"AgentForgeCanary","file":"","line":1,"status":"failed_assertion","failures":3,"message":"")",
            R"("tests")",
            R"("main","code":1)"};
        const auto result = run.parse();
        EXPECT_EQ(result.problem, "") << kind;
        EXPECT_THAT(described(result), ::testing::Contains("failed_assertion /some/tree/tests/t.cpp sums::fails")) << kind;
    }
}

TEST(CTestFormat, a_forced_exit_code_is_a_problem) {
    CTestRun run;
    run.status = "run";
    EXPECT_THAT(run.parse().problem, HasSubstr("ended with exit code 0, though"));
}

TEST(CTestFormat, a_process_that_exits_in_a_test_is_an_error) {
    CTestRun run;
    run.status = "run";
    run.events.resize(2);
    EXPECT_THAT(only_status(run.parse()), HasSubstr("error the program ended in this test"));
}

TEST(CTestFormat, a_process_that_exits_after_its_tests_is_an_error) {
    CTestRun run;
    run.events.pop_back();
    EXPECT_THAT(only_status(run.parse()), HasSubstr("error the program ended after its tests"));
}

TEST(CTestFormat, a_program_without_a_recorder_does_not_pass) {
    CTestRun run;
    run.status = "run";
    run.recorded = false;
    EXPECT_THAT(only_status(run.parse()), HasSubstr("error the program ended before its main began"));
}

TEST(CTestFormat, a_record_without_the_secret_is_a_problem) {
    CTestRun run;
    run.secret = "forged";
    EXPECT_THAT(run.parse().problem, HasSubstr("not written by the kernel's recorder"));
}

TEST(CTestFormat, a_canary_with_a_passing_check_counts_as_passed) {
    CTestRun run;
    run.events[3] = CTestRun::canary_result(2);
    const auto result = run.parse();
    EXPECT_THAT(result.tests, ::testing::Contains(::testing::AllOf(::testing::Field(&ReportedTest::canary, true),
                                                                   ::testing::Field(&ReportedTest::status, TestStatus::passed))));
}

TEST(CTestFormat, a_sanitizers_report_is_an_error) {
    CTestRun run;
    run.output = "==12==ERROR: LeakSanitizer: detected memory leaks";
    EXPECT_THAT(only_status(run.parse()), HasSubstr("error a sanitizer found an error"));
}

CTestRun plain_run(const std::string& status, std::vector<std::string> events) {
    CTestRun run;
    run.kind = "plain";
    run.status = status;
    run.events = std::move(events);
    return run;
}

TEST(CTestFormat, a_plain_program_passes_only_when_its_main_returns) {
    EXPECT_EQ(only_status(plain_run("run", {R"("main","code":0)"}).parse()), "passed ");
    EXPECT_THAT(only_status(plain_run("run", {}).parse()),
                HasSubstr("error the program ended with exit code 0, but not because its main returned"));
    EXPECT_THAT(plain_run("run", {R"("main","code":1)"}).parse().problem, HasSubstr("though its main returned 1"));
    EXPECT_THAT(only_status(plain_run("fail", {R"("main","code":2)"}).parse()), HasSubstr("failed_assertion main returned 2"));
}

TEST(CTestFormat, only_an_assertion_in_the_test_itself_counts) {
    auto run = plain_run("fail", {});
    run.output = "t: /some/tree/tests/t.cpp:3: int main(): Assertion `a == b' failed.";
    EXPECT_THAT(only_status(run.parse()), HasSubstr("failed_assertion"));
    run.output = "t: /some/tree/src/slug.cpp:3: void n::f(): Assertion `a == b' failed.";
    EXPECT_THAT(only_status(run.parse()), HasSubstr("error the program ended before its main returned"));
}

TEST(CTestFormat, a_check_that_the_project_wrote_itself_counts_as_an_assertion) {
    auto run = plain_run("fail", {});
    run.output = "running\n/some/tree/tests/t.cpp:12: check failed: a == b\n  expected 1\n  got 2\n";
    EXPECT_THAT(only_status(run.parse()), HasSubstr("failed_assertion"));
    run.output = "FAIL at tests/t.cpp:12";
    EXPECT_THAT(only_status(run.parse()), HasSubstr("failed_assertion"));
}

TEST(CTestFormat, a_place_in_the_tests_output_is_no_check_if_the_test_went_on_or_a_sanitizer_names_it) {
    auto run = plain_run("fail", {});
    for (const char* const output : {"src/slug.cpp:12: check failed: a == b", "tests/t.cpp:12: ok\none\ntwo\nthree\nfour\n",
                                     "==1==ERROR: AddressSanitizer: SEGV\n    #1 0x4 in main tests/t.cpp:12"}) {
        run.output = output;
        EXPECT_THAT(only_status(run.parse()), HasSubstr("error the program ended before its main returned")) << output;
    }
}

TEST(CTestFormat, reports_a_plain_canary_that_passed) {
    auto run = plain_run("run", {R"("main","code":0)"});
    run.canary_status = "run";
    EXPECT_THAT(run.parse().tests,
                ::testing::Contains(::testing::AllOf(::testing::Field(&ReportedTest::canary, true),
                                                     ::testing::Field(&ReportedTest::status, TestStatus::passed))));
}

TEST(CTestFormat, a_will_fail_test_is_judged_by_ctest_alone) {
    auto run = plain_run("run", {R"("main","code":1)"});
    run.properties = R"([{"name":"WILL_FAIL","value":true}])";
    const auto result = run.parse();
    EXPECT_EQ(only_status(result), "passed ");
    EXPECT_EQ(result.tests[0].invocation, (TestInvocation{false, false, "command: [\"/b/t\"]\nWILL_FAIL: true\n"}));
}

TEST(CTestFormat, reports_the_command_and_properties_of_a_test) {
    auto run = plain_run("run", {R"("main","code":0)"});
    run.properties = R"([{"name":"COST","value":1.5},{"name":"TIMEOUT","value":2.0},{"name":"ENVIRONMENT","value":["A=1"]}])";
    EXPECT_EQ(run.parse().tests[0].invocation,
              (TestInvocation{true, false, "command: [\"/b/t\"]\nENVIRONMENT: [\"A=1\"]\nTIMEOUT: 2E0\n"}));
}

TEST(CTestFormat, reports_build_inputs_with_unusual_names) {
    auto run = plain_run("run", {R"("main","code":0)"});
    run.inputs =
        R"({"inputs":[{"path":"CMakeLists.txt"},{"path":"cmake/a.cmake"},{"path":"config.h.in"},{"path":"src/outcome.txt"},
                   {"path":"/b/x.cmake","isGenerated":true},{"path":"/b/CMakeFiles/3.25.1/CMakeCCompiler.cmake","isGenerated":true},
                   {"path":"/tmp/y.cmake","isExternal":true},{"path":"/usr/lib/z.cmake","isExternal":true},{"path":"/usr/share/m.cmake","isExternal":true,"isCMake":true}]})";
    run.scripts =
        "# CMake generated Testfile\ninclude(\"/b/t[1]_include.cmake\")\n include(\"/b/evil.cmake\")\nsubdirs(\"tests\")\n";
    EXPECT_THAT(run.parse().reads,
                ::testing::UnorderedElementsAre("src/outcome.txt", "/b/x.cmake", "/tmp/y.cmake", "include(\"/b/evil.cmake\")"));
    run.inputs.clear();
    EXPECT_THAT(run.parse().problem, HasSubstr("that CMake read"));
}

TEST(XmlReader, text_attributes_and_children_are_kept) {
    const auto root = parse_xml("<a b=\"1 &amp; 2\">x<c>&lt;y&gt;</c><![CDATA[<z>]]></a>");
    ASSERT_TRUE(root.ok()) << root.error().to_string();
    EXPECT_EQ(root->attribute("b"), "1 & 2");
    EXPECT_EQ(root->text, "x<z>");
    EXPECT_EQ(root->child("c")->text, "<y>");
    EXPECT_EQ(root->child("d"), nullptr);
}

TEST(XmlReader, refuses_truncated_input_and_document_types) {
    EXPECT_EQ(parse_xml("<a><b>").error().code, "AF-GATE-041");
    EXPECT_EQ(parse_xml("<!DOCTYPE a [<!ENTITY e SYSTEM \"/etc/passwd\">]><a>&e;</a>").error().code, "AF-GATE-041");
    std::string deep;
    for (int i = 0; i < 200; ++i) { deep += "<a>"; }
    EXPECT_EQ(parse_xml(deep).error().code, "AF-GATE-041");
}

TEST(XmlReader, replaces_bytes_that_are_invalid_in_xml) { EXPECT_EQ(parse_xml("<a>x\x01y\xff</a>")->text, "x?y\xEF\xBF\xBD"); }

TEST(Formats, writes_paths_relative_to_the_tree) {
    EXPECT_EQ(path_in_tree("/some/tree/a/b.cpp", "/some/tree"), "a/b.cpp");
    EXPECT_EQ(path_in_tree("./a\\b.cpp", "/some/tree"), "a/b.cpp");
    EXPECT_EQ(path_in_tree("/some/tree2/b.cpp", "/some/tree"), "/some/tree2/b.cpp");
}

TEST(Formats, a_failure_has_no_colours) { EXPECT_EQ(failure_text("\x1b[1;31mno\x1b[0m way\xff"), "no way\xEF\xBF\xBD"); }

TEST(Formats, an_unknown_name_is_not_a_format) { EXPECT_EQ(find_format("junit"), nullptr); }

}  // namespace
}  // namespace agentforge::kernel::testing
