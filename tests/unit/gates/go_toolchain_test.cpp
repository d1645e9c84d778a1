// SPDX-License-Identifier: Apache-2.0
// Go projects, measured by the real toolchain in the real sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;

/// If its toolchain is not installed, a case is reported as not run, never as passed.
#define AGENTFORGE_NEEDS_GO() \
    if (!std::filesystem::exists("/usr/bin/go")) { GTEST_SKIP() << "not run: Go is not installed"; }

const Files go_module{
    {"go.mod", "module example.com/slug\n\ngo 1.16\n"},
    {"slug.go", "package slug\n\nfunc Slugify(text string) string {\n\tpanic(\"agentforge: skeleton of Slugify\")\n}\n"},
    {"slug_test.go", R"(package slug

import "testing"

func TestSkeleton(t *testing.T) {
	if Slugify("A") != "a" {
		t.Error("no")
	}
}
func TestAssertion(t *testing.T) { t.Errorf("one is not %d", 2) }
func TestSkipped(t *testing.T)   { t.Skip("later") }
func TestParts(t *testing.T) {
	t.Run("good", func(t *testing.T) {})
	t.Run("bad", func(t *testing.T) { t.Fatal("a part failed") })
}
func TestNil(t *testing.T) {
	var number *int
	*number = 1
}
func TestPasses(t *testing.T) {}
)"},
    {"words/words_test.go", "package words\n\nimport \"testing\"\n\nfunc TestPasses(t *testing.T) {}\n"},
    {"broken/broken_test.go", "package broken\n\nimport \"testing\"\n\nfunc TestLater(t *testing.T) { missing() }\n"},
};

TEST(GoTests, a_single_test_runs_alone_with_the_canary) {
    AGENTFORGE_NEEDS_GO()
    Project project;
    project.use_baseline = false;
    project.tree("t") = go_module;
    const auto report = project.gate("tests", "t", {"slug_test.go::TestPasses"});
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.tests.size(), 1U);
    const auto missing = project.gate("tests", "t", {"slug_test.go::TestNowhere"});
    EXPECT_THAT(joined(missing.blocking_issues), HasSubstr("no test TestNowhere"));
}

TEST(GoTests, the_packages_that_import_a_changed_one_are_affected_by_it_and_no_others) {
    AGENTFORGE_NEEDS_GO()
    Project project;
    const auto test_of = [](const std::string& package, const std::string& more) {
        return "package " + package + "\n\nimport (\n\t\"testing\"\n" + more + ")\n\nfunc TestIt(t *testing.T) {}\n";
    };
    project.tree("base") = {
        {"go.mod", "module example.com/m\n\ngo 1.16\n"},
        {"low/low.go", "package low\n\nfunc One() int { return 1 }\n"},
        {"low/low_test.go", test_of("low", "")},
        {"high/high.go", "package high\n\nimport \"example.com/m/low\"\n\nfunc Two() int { return 2 * low.One() }\n"},
        {"high/high_test.go", test_of("high", "")},
        {"beside/beside_test.go", test_of("beside_test", "\t_ \"example.com/m/high\"\n")},
        {"apart/apart.go", "package apart\n"},
        {"apart/apart_test.go", test_of("apart", "")}};
    project.tree("t") = project.tree("base");
    project.tree("t")["low/low.go"] += "\nfunc Three() int { return 3 }\n";
    const auto report = project.gate("tests", "t", {}, {{"scope", "affected"}});
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    std::vector<std::string> files;
    for (const auto& test : report.tests) { files.push_back(test.file); }
    EXPECT_THAT(files, ::testing::UnorderedElementsAre("low/low_test.go", "high/high_test.go", "beside/beside_test.go"));
}

TEST(GoTests, distinguishes_outcomes_although_a_panic_ends_the_program) {
    AGENTFORGE_NEEDS_GO()
    Project project;
    project.tree("t") = go_module;
    const auto report = project.gate("tests", "t");
    EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
    EXPECT_EQ(status_of(report, "slug_test.go::TestSkeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status_of(report, "slug_test.go::TestAssertion"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, "slug_test.go::TestSkipped"), TestStatus::skipped);
    EXPECT_EQ(status_of(report, "slug_test.go::TestParts"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, "slug_test.go::TestNil"), TestStatus::error);
    EXPECT_EQ(status_of(report, "slug_test.go::TestPasses"), TestStatus::passed);
    EXPECT_EQ(status_of(report, "words/words_test.go::TestPasses"), TestStatus::passed);
    EXPECT_EQ(status_of(report, "broken/broken_test.go"), TestStatus::error);
    EXPECT_EQ(report.tests.size(), 8U) << joined(report.blocking_issues);
    EXPECT_THAT(find_test(report, "slug_test.go::TestAssertion")->message, HasSubstr("one is not 2"));
    EXPECT_THAT(find_test(report, "broken/broken_test.go")->message, HasSubstr("undefined: missing"));
}

TEST(GoTests, a_program_that_exits_with_success_is_not_trusted) {
    AGENTFORGE_NEEDS_GO()
    Project project;
    project.tree("t") = {
        {"go.mod", go_module.at("go.mod")},
        {"slug_test.go",
         "package slug\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"syscall\"\n\t\"testing\"\n)\n\n"
         "func TestMain(m *testing.M) {\n\tfmt.Println(\"=== RUN   TestWanted\\n--- PASS: TestWanted (0.00s)\\nPASS\")\n"
         "\tos.Stdout.Sync()\n\tsyscall.Exit(0)\n}\nfunc TestWanted(t *testing.T) { t.Fatal(\"no\") }\n"}};
    const auto report = project.gate("tests", "t");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(report.summary, HasSubstr("canary"));
}

json::object specification_of(const char* signature) {
    return {{"interfaces", json::array{json::object{{"name", "Load"}, {"file", "a/a.go"}, {"signature", signature}}}}};
}

TEST(GoSkeleton, stubs_callers_of_a_changed_signature_and_keeps_their_text) {
    AGENTFORGE_NEEDS_GO()
    Project project;
    project.tree("t") = {
        {"go.mod", "module example.com/m\n\ngo 1.16\n"},
        {"a/a.go", "package a\n\nfunc Load(path string) int { return len(path) }\n"},
        {"a/a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestLoad(t *testing.T) {}\n"},
        {"b/b.go",
         "package b\n\nimport \"example.com/m/a\"\n\nfunc Two() int {\n\treturn 2 * a.Load(\"x\")\n}\n\nfunc Three() int { return 3 }\n"}};
    const std::vector<SkeletonInterface> interfaces{{"Load", "a/a.go", "func Load(lines []string) int"}};
    const auto tried = project.runner().try_specification("t", specification_of("func Load(lines []string) int"), Stop{});
    EXPECT_TRUE(tried.ok()) << tried.error().to_string();
    const auto files = project.runner().skeleton("t", interfaces, Stop{});
    ASSERT_TRUE(files.ok()) << files.error().to_string();
    const std::map<std::string, std::string> contents(files->begin(), files->end());
    EXPECT_EQ(
        contents.at("b/b.go"),
        "package b\n\nimport _ \"example.com/m/a\"\n\nfunc Two() int { panic(\"agentforge: skeleton of Two\"); \n\t// return 2 * a.Load(\"x\")\n}\n\nfunc Three() int { return 3 }\n");
}

TEST(GoSkeleton, a_signature_with_an_unknown_type_is_refused_with_the_compiler_error) {
    AGENTFORGE_NEEDS_GO()
    Project project;
    project.tree("t") = {{"go.mod", "module example.com/m\n\ngo 1.16\n"},
                         {"a/a.go", "package a\n\nfunc Load(path string) int { return len(path) }\n"},
                         {"a/a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestLoad(t *testing.T) {}\n"}};
    const auto tried = project.runner().try_specification("t", specification_of("func Load(lines Lines) int"), Stop{});
    ASSERT_FALSE(tried.ok());
    EXPECT_EQ(tried.error().code, "AF-GATE-030");
    EXPECT_THAT(tried.error().message, HasSubstr("Lines"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
