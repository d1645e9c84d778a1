// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/held_out.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Suite {
    json::object artifact{{"test_files", json::array()}};
    std::vector<TestOutcome> tests;
    std::vector<std::string> files;

    Suite& file(const std::string& path, std::initializer_list<std::pair<const char*, const char*>> named,
                TestStatus status = TestStatus::failed_assertion) {
        json::array list;
        for (const auto& [name, requirement] : named) {
            list.push_back(
                json::object{{"name", name}, {"requirement_ref", requirement}, {"acceptance_criterion", "'x' becomes 'ocelot'"}});
            tests.push_back({path + "::" + name, name, path, 1, status, "ocelot"});
        }
        artifact["test_files"].as_array().push_back(json::object{{"path", path}, {"tests", std::move(list)}});
        files.push_back(path);
        return *this;
    }
    [[nodiscard]] std::vector<std::string> chosen() const { return choose_held_out(artifact, tests, files); }
    [[nodiscard]] HeldOut held(const std::string& path) const { return {{path}, "tree", tests, artifact}; }
};

const json::object specification{
    {"requirements",
     json::array{
         json::object{
             {"id", "REQ-001"}, {"description", "Lower case"}, {"acceptance_criteria", json::array{"'Hello' becomes 'hello'"}}},
         json::object{
             {"id", "REQ-002"}, {"description", "Hyphens"}, {"acceptance_criteria", json::array{"'x' becomes 'ocelot'"}}}}}};

TestRun run_of(std::vector<TestOutcome> tests, TestStatus status) {
    TestRun run;
    run.trusted = true;
    for (auto& test : tests) { test.status = status; }
    run.tests = std::move(tests);
    return run;
}

TEST(HeldOutTests, hold_out_the_file_with_fewer_tests) {
    EXPECT_THAT(Suite().file("a.py", {{"one", "REQ-001"}}).file("b.py", {{"two", "REQ-001"}, {"three", "REQ-001"}}).chosen(),
                ElementsAre("a.py"));
}

TEST(HeldOutTests, leave_each_requirement_a_visible_new_test) {
    EXPECT_THAT(Suite().file("a.py", {{"one", "REQ-001"}}).file("b.py", {{"two", "REQ-002"}}).chosen(), IsEmpty());
    EXPECT_THAT(Suite()
                    .file("a.py", {{"one", "REQ-001"}, {"two", "REQ-002"}})
                    .file("b.py", {{"three", "REQ-001"}, {"four", "REQ-001"}, {"five", "REQ-001"}})
                    .chosen(),
                ElementsAre("b.py"))
        << "REQ-002 has no other test than in a.py";
}

TEST(HeldOutTests, hold_out_one_file_per_requirement_with_several) {
    const auto chosen = Suite()
                            .file("a.py", {{"one", "REQ-001"}})
                            .file("b.py", {{"two", "REQ-001"}, {"x", "REQ-001"}})
                            .file("c.py", {{"three", "REQ-001"}, {"four", "REQ-002"}, {"y", "REQ-002"}})
                            .file("d.py", {{"five", "REQ-002"}})
                            .chosen();
    EXPECT_THAT(chosen, ElementsAre("a.py", "d.py"));
}

TEST(HeldOutTests, do_not_hold_out_guards_and_existing_files) {
    EXPECT_THAT(Suite().file("a.py", {{"one", "REQ-001"}}, TestStatus::passed).file("b.py", {{"two", "REQ-001"}}).chosen(),
                IsEmpty());
    auto suite = Suite().file("a.py", {{"one", "REQ-001"}}).file("b.py", {{"two", "REQ-001"}, {"three", "REQ-001"}});
    suite.files = {"b.py"};
    EXPECT_THAT(suite.chosen(), ElementsAre("b.py"));
}

TEST(HeldOutTests, are_removed_from_the_artifact_shown) {
    auto artifact = Suite().file("a.py", {{"one", "REQ-001"}}).file("b.py", {{"two", "REQ-001"}}).artifact;
    artifact["failing_tests"] = json::array{"a.py::one", "b.py::two"};
    artifact["coverage_mapping"] = {{"REQ-001", json::array{"a.py::one", "b.py::two"}}};
    artifact["file_notes"] = {{"b.py", "more"}};
    const auto shown = json::serialize(without_files(artifact, {"b.py"}));
    EXPECT_THAT(shown, AllOf(HasSubstr("a.py::one"), Not(HasSubstr("b.py")), Not(HasSubstr("two"))));
}

TEST(HeldOutTests, report_a_failure_by_its_requirement_only) {
    const auto suite = Suite().file("a.py", {{"secret", "REQ-001"}, {"hidden", "REQ-002"}});
    const auto verdict = judge_held_out(suite.held("a.py"), specification, run_of(suite.tests, TestStatus::failed_assertion));
    ASSERT_EQ(verdict.blocking.size(), 2U);
    EXPECT_THAT(verdict.blocking[0], AllOf(HasSubstr("REQ-001: Lower case"), Not(HasSubstr("ocelot")), Not(HasSubstr("secret")),
                                           Not(HasSubstr("a.py"))))
        << "what RED wrote as the criterion is not in the specification";
    EXPECT_THAT(verdict.blocking[1], HasSubstr("REQ-002: 'x' becomes 'ocelot'"))
        << "the specification says so, which everybody reads";
    EXPECT_EQ(verdict.facts.at("held_out_failing"), json::value(json::array{"a.py"}));
    EXPECT_EQ(verdict.facts.at("held_out_pass"), json::value(false));
}

TEST(HeldOutTests, count_those_that_pass) {
    const auto suite = Suite().file("a.py", {{"one", "REQ-001"}}).file("b.py", {{"two", "REQ-001"}});
    const auto verdict = judge_held_out(suite.held("a.py"), specification, run_of(suite.tests, TestStatus::passed));
    EXPECT_TRUE(verdict.passed());
    EXPECT_EQ(verdict.facts.at("held_out_tests"), json::value(1));
    EXPECT_EQ(verdict.facts.at("passing_tests"), json::value(json::array{"a.py::one"}));
}

TEST(HeldOutTests, do_not_pass_if_one_was_not_run) {
    const auto suite = Suite().file("a.py", {{"one", "REQ-001"}});
    EXPECT_FALSE(judge_held_out(suite.held("a.py"), specification, run_of({}, TestStatus::passed)).passed());
    auto not_trusted = run_of(suite.tests, TestStatus::passed);
    not_trusted.trusted = false;
    EXPECT_THAT(judge_held_out(suite.held("a.py"), specification, not_trusted).blocking,
                ElementsAre(HasSubstr("cannot run with this code")));
}

}  // namespace
}  // namespace agentforge::kernel
