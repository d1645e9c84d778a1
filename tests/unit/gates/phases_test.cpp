// SPDX-License-Identifier: Apache-2.0
// Whole phases on recorded trees, with honest models: RED, GREEN, REFACTOR, DELIVER.
#include "unit/gates/slug_project.hpp"

namespace agentforge::kernel::testing {
namespace {

TEST(RedGate, tests_that_fail_at_the_skeleton_pass_the_gate) {
    SlugProject project;
    const auto report = project.gate("red", "red");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("all_tests_fail"), json::value(true));
    EXPECT_EQ(report.facts.at("no_implementation_exists"), json::value(true));
    EXPECT_EQ(report.facts.at("tests_exist"), json::value(true));
    EXPECT_EQ(report.facts.at("tests_are_valid"), json::value(true));
    EXPECT_EQ(report.facts.at("requirement_coverage_percent"), json::value(100));
    EXPECT_EQ(report.facts.at("skeleton_files"), (json::value{"slug.py"}));
    EXPECT_EQ(report.facts.at("failing_tests").as_array().size(), 2U);
}

TEST(RedGate, an_implementation_in_red_is_refused) {
    SlugProject project;
    project.tree("red")["slug.py"] = good_implementation;
    const auto report = project.gate("red", "red");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("slug.py was changed"));
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("passed before anything was implemented"));
    EXPECT_EQ(report.facts.at("no_implementation_exists"), json::value(false));
}

TEST(RedGate, a_test_that_does_not_load_is_refused_with_the_reason) {
    SlugProject project;
    project.tree("red")["tests/test_slug.py"] += "    def test_open(self:\n";
    const auto report = project.gate("red", "red");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("SyntaxError"));
    EXPECT_EQ(report.facts.at("tests_are_valid"), json::value(false));
}

TEST(RedGate, tests_that_import_a_missing_module_wait_for_green) {
    SlugProject project;
    project.tree("red").erase("slug.py");
    const auto report = project.gate("red", "red");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("waiting_tests").as_array().size(), 2U);
    EXPECT_EQ(report.facts.at("failing_tests"), report.facts.at("waiting_tests"));
}

TEST(RedGate, a_guard_does_not_wait) {
    SlugProject project;
    project.tree("red").erase("slug.py");
    project.declare({{"TestSlug::test_lower", "REQ-001", "new"}, {"TestSlug::test_spaces", "REQ-002", "guard"}});
    const auto report = project.gate("red", "red");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("is a guard, and its file does not load yet"));
}

TEST(GreenGate, waiting_tests_must_fail_without_the_implementation) {
    SlugProject project;
    project.tree("red").erase("slug.py");
    const auto report = project.gate("green", "green");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("fails_without_change"), json::value(true));
    EXPECT_EQ(report.facts.at("new_tests").as_array().size(), 2U);
}

TEST(GreenGate, the_cases_of_a_waiting_test_belong_to_it) {
    SlugProject project;
    project.declare({{"test_lower", "REQ-001", "new"}, {"test_spaces[A b-a-b]", "REQ-002", "new"}});
    for (const auto* tree : {"red", "green"}) {
        project.tree(tree)["tests/test_slug.py"] =
            "import pytest\nfrom slug import slugify\n\n\n@pytest.mark.parametrize(\"text\", [\"A\", \"AB\"])\ndef test_lower(text):\n"
            "    assert slugify(text) == text.lower()\n\n\n@pytest.mark.parametrize(\"text, slug\", [(\"A b\", \"a-b\"), (\"B c\", \"b-c\")])\n"
            "def test_spaces(text, slug):\n    assert slugify(text) == slug\n";
    }
    project.tree("red").erase("slug.py");
    const auto red = project.gate("red", "red");
    EXPECT_TRUE(red.passed) << joined(red.blocking_issues);
    const auto report = project.gate("green", "green");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("new_tests").as_array().size(), 4U);
}

TEST(GreenGate, waiting_tests_count_as_failing_if_loading_calls_a_changed_function) {
    SlugProject project;
    project.tree("red").erase("slug.py");
    project.tree("green")["slug.py"] =
        "def registered(function):\n    \"\"\"Keeps it as it is.\"\"\"\n    return function\n\n\n@registered\n" +
        std::string(good_implementation);
    const auto report = project.gate("green", "green");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("new_tests").as_array().size(), 2U);
}

TEST(GreenGate, a_waiting_test_that_passes_without_the_implementation_is_refused) {
    SlugProject project;
    for (const auto* tree : {"red", "green"}) {
        project.tree(tree)["tests/test_slug.py"] =
            "import unittest\nimport slug\nclass TestSlug(unittest.TestCase):\n    def test_lower(self):\n        self.assertTrue(hasattr(slug, \"slugify\"))\n"
            "    def test_spaces(self):\n        self.assertEqual(slug.slugify(\"A b\"), \"a-b\")\n";
    }
    project.tree("red").erase("slug.py");
    const auto report = project.gate("green", "green");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("TestSlug::test_lower does not fail without the change"));
}

TEST(RedGate, a_guard_passes_before_the_change) {
    SlugProject project;
    project.declare(
        {{"TestSlug::test_lower", "REQ-001", "new"}, {"TestSlug::test_spaces", "REQ-002", "new"}, {"test_guard", "", "guard"}});
    project.tree("red")["tests/test_slug.py"] += "    def test_guard(self):\n        self.assertTrue(callable(slugify))\n";
    const auto report = project.gate("red", "red");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("guard_tests").as_array().size(), 1U);
}

/// A function that exists before the task and raises the exception that the change fixes.
void raise_before(SlugProject& project) {
    for (const auto* tree : {"base", "red"}) {
        project.tree(tree)["slug.py"] =
            "def slugify(text):\n    if len(text) != 3:\n        raise RuntimeError(text)\n    return text\n\n\ndef other(text):\n    raise RuntimeError(text)\n";
    }
}

TEST(RedGate, an_error_in_specified_code_counts_as_the_expected_failure) {
    SlugProject project;
    raise_before(project);
    const auto report = project.gate("red", "red");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("failing_tests").as_array().size(), 2U);
    EXPECT_TRUE(project.gate("green", "green").passed);
}

TEST(RedGate, an_error_outside_specified_code_is_still_refused) {
    SlugProject project;
    raise_before(project);
    project.tree("red")["tests/test_slug.py"] =
        "import unittest\nfrom slug import slugify, other\n\nclass TestSlug(unittest.TestCase):\n"
        "    def test_lower(self):\n        self.assertEqual(slugfy(\"A\"), \"a\")\n"
        "    def test_spaces(self):\n        self.assertEqual(other(\"a b\"), \"a-b\")\n";
    const auto report = project.gate("red", "red");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(joined(report.blocking_issues),
                HasSubstr("test_lower (line 6) did not fail at an assertion but with an error: NameError"));
    EXPECT_THAT(joined(report.blocking_issues),
                HasSubstr("test_spaces (line 8) did not fail at an assertion but with an error: RuntimeError"));
}

TEST(GreenGate, the_implementation_passes_and_fails_when_reverted) {
    SlugProject project;
    const auto report = project.gate("green", "green");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    for (const auto* fact :
         {"all_tests_pass", "conformance_passing", "no_regressions", "type_check_passing", "fails_without_change"}) {
        EXPECT_EQ(report.facts.at(fact), json::value(true)) << fact;
    }
    EXPECT_EQ(report.facts.at("passing_tests").as_array().size(), 3U);
    EXPECT_EQ(report.facts.at("type_check"), json::value("not configured"));
}

TEST(GreenGate, does_not_pass_without_a_change) {
    SlugProject project;
    const auto report = project.gate("green", "red");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("Nothing was changed since the tests were written"));
    EXPECT_EQ(report.facts.at("all_tests_pass"), json::value(false));
}

TEST(GreenGate, a_regression_is_named) {
    SlugProject project;
    project.tree("green")["old.py"] = "def old():\n    return 2\n";
    const auto report = project.gate("green", "green");
    EXPECT_FALSE(report.passed);
    EXPECT_EQ(report.facts.at("no_regressions"), json::value(false));
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("tests/test_old.py::TestOld::test_old passed before"));
}

TEST(GreenGate, a_test_that_failed_before_the_task_does_not_block) {
    SlugProject project;
    for (const auto* tree : {"base", "red", "green"}) { project.tree(tree)["old.py"] = "def old():\n    return 2\n"; }
    project.measure_base();
    const auto report = project.gate("green", "green");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("failed_before").as_array().size(), 1U);
}

TEST(GreenGate, a_syntax_error_ends_it_at_once) {
    SlugProject project;
    project.tree("green")["slug.py"] = "def slugify(text:\n";
    const auto report = project.gate("green", "green");
    EXPECT_FALSE(report.passed);
    EXPECT_TRUE(report.tests.empty());
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("slug.py:1"));
}

TEST(GreenGate, a_secret_in_the_code_blocks) {
    SlugProject project;
    project.tree("green")["slug.py"] +=
        "KEY = \"AKIA"
        "ABCDEFGHIJKLMNOP\"\n";
    const auto report = project.gate("green", "green");
    EXPECT_FALSE(report.passed);
    EXPECT_EQ(report.facts.at("conformance_passing"), json::value(false));
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("no-secrets-in-code"));
}

TEST(RefactorGate, quality_is_measured_too) {
    SlugProject project;
    const auto report = project.gate("refactor", "green");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("complexity_acceptable"), json::value(true));
    EXPECT_EQ(report.facts.at("no_code_smells"), json::value(true));
}

TEST(RefactorGate, a_function_that_is_too_complex_blocks_refactor_and_not_green) {
    SlugProject project;
    std::string complex = "def tangle(x):\n    \"\"\"Too many ways.\"\"\"\n";
    for (int i = 0; i < 12; ++i) { complex += "    if x == " + std::to_string(i) + ":\n        return 1\n"; }
    project.tree("green")["slug.py"] += complex + "    return 0\n";
    EXPECT_TRUE(project.gate("green", "green").passed);
    const auto report = project.gate("refactor", "green");
    EXPECT_FALSE(report.passed);
    EXPECT_EQ(report.facts.at("complexity_acceptable"), json::value(false));
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("'tangle' has a cyclomatic complexity of 13"));
}

TEST(RefactorGate, measures_coverage_if_a_test_unsets_the_tracer) {
    SlugProject project;
    const std::string unsets =
        "import sys\nimport unittest\nimport slug\n\nclass TestAlone(unittest.TestCase):\n"
        "    def test_alone(self):\n        sys.settrace(None)\n        self.assertTrue(callable(slug.slugify))\n";
    for (const auto* tree : {"base", "red", "green"}) { project.tree(tree)["tests/test_alone.py"] = unsets; }
    project.tree("base")["slug.py"] = slug_skeleton;
    const auto seen = project.gate("refactor", "green");
    EXPECT_TRUE(seen.passed) << joined(seen.blocking_issues);
    EXPECT_EQ(seen.facts.at("coverage"), json::value("measured"));
    EXPECT_EQ(seen.facts.at("coverage_percent"), json::value(100));

    std::string runs = unsets;
    runs += "        self.assertEqual(slug.alone(1), 3)\n";
    for (const auto* tree : {"base", "red", "dark"}) { project.tree(tree)["tests/test_alone.py"] = runs; }
    project.tree("dark") = project.tree("green");
    project.tree("dark")["tests/test_alone.py"] = runs;
    project.tree("dark")["slug.py"] += "\n\ndef alone(value):\n    value = value + 1\n    value = value + 1\n    return value\n";
    const auto dark = project.gate("conformance", "dark", {}, {{"enforcement", "all"}});
    EXPECT_TRUE(dark.passed) << joined(dark.blocking_issues);
    EXPECT_EQ(dark.facts.at("coverage"),
              json::value("not measured: tests/test_alone.py::TestAlone::test_alone set another tracer (sys.settrace), "
                          "so lines may have been run unseen"));
}

TEST(RefactorGate, coverage_is_unknown_if_its_command_was_killed) {
    SlugProject project;
    const std::string kills =
        "import os\nimport signal\nimport sys\nimport unittest\nimport slug\n\nclass TestAlone(unittest.TestCase):\n"
        "    def test_alone(self):\n        if sys.gettrace():\n            os.kill(os.getpid(), signal.SIGTERM)\n"
        "        self.assertTrue(callable(slug.slugify))\n";
    for (const auto* tree : {"base", "red", "green"}) { project.tree(tree)["tests/test_alone.py"] = kills; }
    const auto report = project.gate("conformance", "green", {}, {{"enforcement", "all"}});
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_THAT(std::string(report.facts.at("coverage").as_string()),
                ::testing::AllOf(::testing::StartsWith("not measured: "), HasSubstr("was killed (exit code 143)")));
    EXPECT_FALSE(report.facts.contains("coverage_percent"));
}

TEST(RefactorGate, a_finding_in_a_locked_test_is_reported_and_does_not_block) {
    SlugProject project;
    const std::string twisted = "\n# fmt: " + std::string(200, 'x') + "\n";
    for (const auto* tree : {"red", "green"}) { project.tree(tree)["tests/test_slug.py"] = std::string(slug_tests) + twisted; }
    std::filesystem::create_directories(project.folder() / "conformance");
    std::ofstream(project.folder() / "conformance/strict.yaml")
        << "agentforge_conformance: 1\nchecks:\n  - {id: short-lines, category: style, severity: major, enforcement: every_edit, applies_to: [\"@sources\"], "
           "metric: line-length, threshold: 150, message: \"{value} characters\"}\n"
           "  - {id: no-x, category: quality, severity: major, enforcement: phase_end, applies_to: [\"@sources\"], pattern: \"fmt: x+\", message: \"x\"}\n";
    const auto report = project.gate("refactor", "green");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    std::size_t reported = 0;
    for (const auto& violation : report.violations) {
        if (violation.file != "tests/test_slug.py") { continue; }
        ++reported;
        EXPECT_EQ(violation.severity, "minor");
        EXPECT_THAT(violation.message, HasSubstr("locked"));
    }
    EXPECT_GE(reported, 2U);
}

TEST(RedGate, conformance_rules_apply_to_tests_before_they_are_locked) {
    SlugProject project;
    project.tree("red")["tests/test_slug.py"] += "\n# fmt: " + std::string(200, 'x') + "\n";
    std::filesystem::create_directories(project.folder() / "conformance");
    std::ofstream(project.folder() / "conformance/strict.yaml")
        << "agentforge_conformance: 1\nchecks:\n"
           "  - {id: no-x, category: quality, severity: major, enforcement: phase_end, applies_to: [\"@tests\"], pattern: \"fmt: x+\", message: \"x\"}\n";
    const auto report = project.gate("red", "red");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("tests/test_slug.py:10: x (no-x)"));
}

TEST(RefactorGate, does_not_check_the_complexity_of_tests) {
    SlugProject project;
    std::string tangle = "\n\ndef tangle(x):\n";
    for (int i = 0; i < 12; ++i) { tangle += "    if x == " + std::to_string(i) + ":\n        return 1\n"; }
    for (const auto* tree : {"red", "green"}) {
        project.tree(tree)["tests/test_slug.py"] = slug_tests + tangle + "    return 0\n";
    }
    const auto report = project.gate("refactor", "green");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    for (const auto& violation : report.violations) { EXPECT_NE(violation.check_id, "max-complexity"); }
}

TEST(DeliverGate, the_tree_that_passed_is_ready) {
    SlugProject project;
    const auto report = project.gate("deliver", "green");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("deployment_ready"), json::value(true));
    EXPECT_EQ(report.tree, "green");
}

TEST(DeliverGate, only_documents_may_change_if_no_stage_wrote_tests) {
    SlugProject project;
    project.baseline.test_suite = {};
    project.baseline.test_files = {};
    project.tree("red") = project.tree("base");
    project.tree("green") = project.tree("base");
    project.tree("green")["docs/slugs.md"] = "# Slugs\n";
    EXPECT_TRUE(project.gate("deliver", "green").passed) << joined(project.gate("deliver", "green").blocking_issues);
    project.tree("code") = project.tree("green");
    project.tree("code")["deploy/run.py"] = "x = 1\n";
    EXPECT_THAT(joined(project.gate("deliver", "code").blocking_issues),
                HasSubstr("deploy/run.py was changed, but no stage of this pipeline tests code"));
}

TEST(DeliverGate, a_failing_test_is_not_delivered) {
    SlugProject project;
    project.tree("green")["slug.py"] = "def slugify(text: str) -> str:\n    return text.lower()\n";
    const auto report = project.gate("deliver", "green");
    EXPECT_FALSE(report.passed);
    EXPECT_EQ(report.facts.at("deployment_ready"), json::value(false));
}

}  // namespace
}  // namespace agentforge::kernel::testing
