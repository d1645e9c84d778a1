// SPDX-License-Identifier: Apache-2.0
// Go projects, measured by the real toolchain in the real sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;

/// A case whose toolchain is absent is reported as not run, never as passed.
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

TEST(GoTests, outcomes_are_told_apart_although_a_panic_ends_the_program) {
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

TEST(GoTests, a_program_that_ends_itself_with_success_is_not_believed) {
    AGENTFORGE_NEEDS_GO()
    Project project;
    project.tree("t") = {{"go.mod", go_module.at("go.mod")},
                         {"slug_test.go",
                          "package slug\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"syscall\"\n\t\"testing\"\n)\n\n"
                          "func TestMain(m *testing.M) {\n\tfmt.Println(\"=== RUN   TestWanted\\n--- PASS: TestWanted (0.00s)\\nPASS\")\n"
                          "\tos.Stdout.Sync()\n\tsyscall.Exit(0)\n}\nfunc TestWanted(t *testing.T) { t.Fatal(\"no\") }\n"}};
    const auto report = project.gate("tests", "t");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(report.summary, HasSubstr("canary"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
