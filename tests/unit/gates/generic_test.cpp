// SPDX-License-Identifier: Apache-2.0
// The language `generic`: any command that prints TAP or writes JUnit XML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;

json::object running(std::vector<std::string> command) {
    json::array words;
    for (auto& word : command) { words.emplace_back(std::move(word)); }
    return {{"command", std::move(words)}};
}

TEST(GenericLanguage, reads_the_tests_of_a_command_that_prints_tap) {
    Project project(running({"sh", "{root}/check.sh"}), {}, "generic");
    project.tree("t") = {{"check.sh", "echo compiling\necho 1..2\necho 'ok 1 - adds'\necho 'not ok 2 - subtracts'\nexit 1\n"},
                         {"tests/a.sh", ""}};
    const auto report = project.gate("tests", "t");
    EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
    EXPECT_EQ(status_of(report, "adds"), TestStatus::passed);
    EXPECT_EQ(status_of(report, "subtracts"), TestStatus::failed_assertion);
    EXPECT_THAT(json::serialize(report.facts.at("notes")), HasSubstr("no canary"));
}

TEST(GenericLanguage, reads_the_tests_of_a_command_that_writes_junit_xml) {
    Project project(running({"sh", "check.sh", "{results}"}), {}, "generic");
    project.tree("t") = {
        {"check.sh",
         "test \"$1\" = \"$AGENTFORGE_RESULTS\" || exit 9\nprintf '<testsuite tests=\"1\"><testcase name=\"adds\" file=\"tests/a.sh\"/></testsuite>' > \"$1/a.xml\"\n"},
        {"tests/a.sh", ""}};
    const auto report = project.gate("tests", "t");
    EXPECT_TRUE(report.passed) << report.summary;
    EXPECT_EQ(status_of(report, "tests/a.sh::adds"), TestStatus::passed);
}

struct Untrue {
    const char* name;
    const char* script;
    const char* says;
};
class GenericLanguageDishonest : public ::testing::TestWithParam<Untrue> {};

TEST_P(GenericLanguageDishonest, are_not_trusted) {
    Project project(running({"sh", "check.sh"}), {}, "generic");
    project.tree("t") = {{"check.sh", GetParam().script}, {"tests/a.sh", ""}};
    const auto report = project.gate("tests", "t");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(report.summary, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(Each, GenericLanguageDishonest,
                         ::testing::Values(Untrue{"exit_code_forced", "echo 1..1\necho 'not ok 1 - a'\nexit 0\n",
                                                  "does not agree"},
                                           Untrue{"stopped_early", "echo 1..2\necho 'ok 1 - a'\nexit 0\n", "announces 2"},
                                           Untrue{"no_report", "echo all fine\nexit 0\n", "printed no TAP"},
                                           Untrue{"failure_hidden", "echo 1..1\necho 'ok 1 - a'\nexit 1\n", "does not agree"}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(GenericLanguage, names_the_missing_command_setting) {
    Project project({}, {}, "generic");
    project.tree("t") = {{"tests/a.sh", ""}};
    const auto report = project.try_gate("tests", "t");
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code, "AF-GATE-060");
    EXPECT_EQ(report.error().where, "gates.command");
}

}  // namespace
}  // namespace agentforge::kernel::testing
