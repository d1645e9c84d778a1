// SPDX-License-Identifier: Apache-2.0
// Which language measures which path of a monorepo, and how the reports of its parts are merged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/engine/merged_report.hpp"
#include "gates/engine/rules.hpp"
#include "gates/engine/scope_parts.hpp"
#include "gates/engine/scoped_gates.hpp"
#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LanguageFiles shipped_languages() { return LanguageFiles({std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages"}); }

/// Returns `folder=language`, one for each scope; `(language)` if only globs are used.
std::vector<std::string> found_scopes(const std::vector<std::string>& files, const ScopeSettings& settings = {}) {
    auto languages = shipped_languages();
    const auto scopes = Scopes::find(languages, files, settings);
    if (!scopes.ok()) { return {scopes.error().code}; }
    std::vector<std::string> lines;
    for (const auto& scope : scopes->all()) {
        lines.push_back(scope.directory + "=" + (scope.has_project ? scope.language : "(" + scope.language + ")"));
    }
    return lines;
}

Scopes api_and_tool() {
    auto languages = shipped_languages();
    return *Scopes::find(languages, {"README.md", "api/go.mod", "api/a.go", "tool/pyproject.toml", "tool/t.py"}, {});
}

TEST(ScopesFound, one_language_is_one_scope) {
    EXPECT_THAT(found_scopes({"go.mod", "a.go", "pkg/b.go"}), ElementsAre("=go"));
    EXPECT_THAT(found_scopes({"slug.py", "tests/test_slug.py"}), ElementsAre("=python"));
}

TEST(ScopesFound, each_project_folder_has_its_language) {
    EXPECT_THAT(found_scopes({"README.md", "services/api/go.mod", "services/api/main.go", "tool/pyproject.toml", "tool/t.py"}),
                ElementsAre("=(go)", "services/api=go", "tool=python"));
    EXPECT_THAT(found_scopes({"setup.py", "a.py", "b.py", "services/api/go.mod", "services/api/main.go"}),
                ElementsAre("=python", "services/api=go"));
}

TEST(ScopesFound, only_a_go_module_is_a_separate_project_inside_another) {
    EXPECT_THAT(found_scopes({"pyproject.toml", "a.py", "libs/x/pyproject.toml", "libs/x/x.py"}), ElementsAre("=python"));
    EXPECT_THAT(found_scopes({"go.mod", "a.go", "tools/go.mod", "tools/t.go"}), ElementsAre("=go", "tools=go"));
}

TEST(ScopesFound, projects_in_tests_examples_and_vendored_code_are_ignored) {
    EXPECT_THAT(found_scopes({"pyproject.toml", "a.py", "tests/data/go.mod", "tests/data/a.go", "vendor/x/go.mod",
                              "vendor/x/x.go", "examples/e/go.mod", "examples/e/e.go", ".hidden/go.mod", ".hidden/h.go"}),
                ElementsAre("=python"));
}

TEST(ScopesFound, a_project_file_without_sources_is_not_a_scope) {
    EXPECT_THAT(found_scopes({"a.py", "deploy/go.mod"}), ElementsAre("=python"));
}

TEST(ScopesFound, settings_override_detection) {
    const std::vector<std::string> files{"a.py", "b.py", "api/go.mod", "api/a.go", "old/b.go"};
    EXPECT_THAT(found_scopes(files, {"", {{"old/", "go"}}}), ElementsAre("=python", "old=go"));
    EXPECT_THAT(found_scopes(files, {"python", {}}), ElementsAre("=python"));
    EXPECT_THAT(found_scopes(files, {"", {{"olf", "go"}}}), ElementsAre("AF-GATE-080"));
    EXPECT_THAT(found_scopes(files, {"", {{"../x", "go"}}}), ElementsAre("AF-GATE-080"));
    EXPECT_THAT(found_scopes(files, {"", {{"old", "goo"}}}), ElementsAre("AF-GATE-002"));
    EXPECT_THAT(found_scopes({"README.md"}), ElementsAre("AF-GATE-002"));
    EXPECT_THAT(found_scopes({"README.md", "examples/a.py"}), ElementsAre("=python"));
}

TEST(ScopesFound, the_deepest_scope_owns_a_path) {
    const auto scopes = api_and_tool();
    EXPECT_EQ(scopes.of("api/pkg/a.go").directory, "api");
    EXPECT_EQ(scopes.of("apis/a.go").directory, "");
    EXPECT_EQ(Scopes::inside(scopes.of("api/a.go"), "api/a.go"), "a.go");
    EXPECT_EQ(Scopes::outside(scopes.of("api/a.go"), "a.go"), "api/a.go");
}

TEST(ScopeParts, paths_are_relative_to_the_scope) {
    const auto scopes = api_and_tool();
    const auto& api = scopes.of("api/a.go");
    EXPECT_THAT(part_of_paths({"api/a_test.go::TestA", "tool/t.py"}, scopes, api), ElementsAre("a_test.go::TestA"));
    EXPECT_THAT(part_of_paths({"api/"}, scopes, api), ElementsAre("."));
    EXPECT_THAT(part_of_paths({"."}, scopes, api), ElementsAre("."));
    EXPECT_THAT(part_of_paths({"tool"}, scopes, api), IsEmpty());
}

TEST(ScopeParts, a_requirement_belongs_to_the_scope_that_tests_it_or_else_to_the_first) {
    const auto scopes = api_and_tool();
    GateBaseline whole;
    whole.specification =
        json::parse(R"({"requirements": [{"id": "R1", "verification_method": "test"}, {"id": "R2", "verification_method": "test"},
        {"id": "R3", "verification_method": "test"}], "interfaces": [{"name": "A", "file": "api/a.go", "signature": "func A"}]})")
            .as_object();
    whole.test_suite =
        json::parse(R"({"test_files": [{"path": "tool/test_t.py", "tests": [{"name": "test_t", "requirement_ref": "R1"}]},
        {"path": "api/a_test.go", "tests": [{"name": "TestA", "requirement_ref": "R2"}, {"name": "TestB", "requirement_ref": "R1", "kind": "guard"}]}]})")
            .as_object();
    whole.base_tests = {{"api/a_test.go::TestOld", "TestOld", "api/a_test.go", 0, TestStatus::passed, ""}};
    const auto api = part_of_baseline(whole, scopes, scopes.of("api/a.go"));
    const auto tool = part_of_baseline(whole, scopes, scopes.of("tool/t.py"));
    EXPECT_THAT(testable_requirements(api.specification), ElementsAre("R2"));
    EXPECT_THAT(testable_requirements(tool.specification), ElementsAre("R1", "R3"));
    EXPECT_EQ(api.base_tests.front().id, "a_test.go::TestOld");
    EXPECT_THAT(tool.base_tests, IsEmpty());
    EXPECT_EQ(api.specification.at("interfaces").at(0).at("file"), json::value("a.go"));
    EXPECT_EQ(tool.specification.at("interfaces").as_array().size(), 0U);
    EXPECT_EQ(api.test_suite.at("test_files").at(0).at("path"), json::value("a_test.go"));
}

TEST(ScopeParts, reports_are_merged_with_paths_of_the_repository) {
    const auto scopes = api_and_tool();
    GateReport good;
    good.passed = true;
    good.summary = "1 test, none failed";
    good.tests = {{"a_test.go::TestA", "TestA", "a_test.go", 1, TestStatus::passed, ""}};
    good.facts = {{"tests_found", true},
                  {"believed", true},
                  {"passing_tests", {"a_test.go::TestA"}},
                  {"test_results", {{"total", 1}, {"failed", 0}}}};
    auto bad = good;
    bad.passed = false;
    bad.summary = "1 of 1 test failed";
    bad.blocking_issues = {"test_t.py::test_t failed: no"};
    bad.tests = {{"test_t.py::test_t", "test_t", "test_t.py", 1, TestStatus::failed_assertion, "no"}};
    bad.facts = {{"tests_found", true},
                 {"believed", false},
                 {"passing_tests", json::array{}},
                 {"test_results", {{"total", 1}, {"failed", 1}}}};
    GateReport none;
    none.passed = true;
    none.facts = {{"tests_found", false}};
    const auto report =
        merge_reports({{&scopes.of("x"), none}, {&scopes.of("api/a.go"), good}, {&scopes.of("tool/t.py"), bad}}, nullptr);
    EXPECT_FALSE(report.passed);
    EXPECT_EQ(report.summary, "In tool: 1 of 1 test failed");
    EXPECT_THAT(report.blocking_issues, ElementsAre("In tool: test_t.py::test_t failed: no"));
    EXPECT_EQ(report.tests[1].id, "tool/test_t.py::test_t");
    EXPECT_EQ(report.facts.at("believed"), json::value(false));
    EXPECT_EQ(report.facts.at("passing_tests"), (json::value{"api/a_test.go::TestA"}));
    EXPECT_EQ(report.facts.at("test_results").at("failed"), json::value(1));
    EXPECT_EQ(report.facts.at("test_results").at("total"), json::value(2));
    EXPECT_EQ(report.facts.at("scopes").as_array().size(), 2U);
}

/// Two Python projects, measured for real without a second toolchain.
TEST(ScopedMeasures, each_scope_is_measured_like_a_repository) {
    Project project;
    const std::string test = "from part import value\n\ndef test_value():\n    assert value() == 1\n";
    project.tree("base") = {
        {"README.md", "two projects\n"},  {"one/setup.py", ""}, {"one/part.py", "def value():\n    return 1\n"},
        {"one/tests/test_part.py", test}, {"two/setup.py", ""}, {"two/part.py", "def value():\n    return 2\n"},
        {"two/tests/test_part.py", test}};
    const auto report = project.gate("tests", "base");
    EXPECT_EQ(status_of(report, "one/tests/test_part.py::test_value"), TestStatus::passed);
    EXPECT_EQ(status_of(report, "two/tests/test_part.py::test_value"), TestStatus::failed_assertion);
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("In two: tests/test_part.py::test_value failed"));
}

TEST(ScopedMeasures, red_names_a_file_outside_every_project) {
    Project project;
    project.tree("base") = {
        {"one/setup.py", ""}, {"one/part.py", "def value():\n    return 1\n"}, {"two/setup.py", ""}, {"two/part.py", ""}};
    auto& red = project.tree("red") = project.tree("base");
    red["notes.md"] = "x\n";
    red["one/tests/test_part.py"] = "from part import value\n\ndef test_value():\n    assert value() == 2\n";
    project.baseline.specification =
        json::parse(R"({"requirements": [{"id": "R1", "verification_method": "test"}]})").as_object();
    project.baseline.test_suite =
        json::parse(
            R"({"test_files": [{"path": "one/tests/test_part.py", "tests": [{"name": "test_value", "requirement_ref": "R1"}]}]})")
            .as_object();
    auto report = project.gate("red", "red");
    EXPECT_THAT(report.blocking_issues, ElementsAre(HasSubstr("notes.md was changed")));
    project.tree("red2") = project.tree("red");
    project.tree("red2").erase("notes.md");
    report = project.gate("red", "red2");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("failing_tests"), (json::value{"one/tests/test_part.py::test_value"}));
    EXPECT_EQ(report.facts.at("requirement_coverage_percent"), json::value(100));
}

}  // namespace
}  // namespace agentforge::kernel::testing
