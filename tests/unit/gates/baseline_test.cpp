// SPDX-License-Identifier: Apache-2.0
// The suite before the task: earlier failures do not count, and what cannot be measured is not known.
#include "gates/engine/baseline.hpp"

#include "gates/engine/rules.hpp"
#include "unit/gates/slug_project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TestOutcome test_before(const std::string& id, TestStatus status) { return {id, id, "t.py", 1, status, "m"}; }

GateReport suite_run(std::vector<TestOutcome> tests, bool was_trusted = true) {
    GateReport report;
    report.gate = "tests";
    report.passed = was_trusted;
    report.facts = {{"tests_found", true}, {"believed", was_trusted}};
    if (!was_trusted) { report.blocking_issues = {"The test run is not trusted: it did not finish."}; }
    report.tests = std::move(tests);
    return report;
}

TEST(SuiteBeforeTheTask, only_a_test_whose_outcome_changes_is_flaky) {
    const auto report = baseline_report({suite_run({test_before("a", TestStatus::passed), test_before("b", TestStatus::error),
                                                    test_before("c", TestStatus::passed)}),
                                         suite_run({test_before("a", TestStatus::failed_assertion),
                                                    test_before("b", TestStatus::error), test_before("c", TestStatus::passed)})});
    EXPECT_TRUE(report.passed);
    EXPECT_THAT(fact_texts(report.facts, "flaky"), ElementsAre("a"));
    EXPECT_THAT(fact_texts(report.facts, "failed_before"), ElementsAre("b"));
    EXPECT_EQ(report.summary, "3 tests before the task, 1 of them failing (ignored), 1 flaky (results ignored)");
}

TEST(SuiteBeforeTheTask, a_test_present_in_one_run_only_is_flaky_if_it_passed) {
    EXPECT_THAT(differing_tests({test_before("a", TestStatus::passed)},
                                {test_before("b", TestStatus::passed), test_before("c", TestStatus::error)}),
                ElementsAre("a", "b"));
    EXPECT_THAT(differing_tests({test_before("a", TestStatus::skipped)}, {test_before("a", TestStatus::error)}), IsEmpty());
}

TEST(SuiteBeforeTheTask, an_untrusted_run_is_ignored_if_another_is_trusted) {
    const auto report = baseline_report(
        {suite_run({test_before("a", TestStatus::error)}, false), suite_run({test_before("a", TestStatus::passed)})});
    ASSERT_EQ(report.tests.size(), 1U);
    EXPECT_EQ(report.tests[0].status, TestStatus::passed);
    EXPECT_THAT(fact_texts(report.facts, "flaky"), IsEmpty());
    EXPECT_EQ(report.facts.at("runs_believed"), json::value(1));
}

TEST(SuiteBeforeTheTask, reports_that_no_run_is_trusted_and_continues) {
    const auto report = baseline_report({suite_run({test_before("a", TestStatus::error)}, false)});
    EXPECT_TRUE(report.passed);
    EXPECT_EQ(report.summary, "the suite could not be measured before the task: The test run is not trusted: it did not finish.");
}

GateReport unmeasurable_run() {
    GateReport report = suite_run({test_before("a", TestStatus::error)}, false);
    report.facts["unmeasurable"] = json::array{"the test command printed no plan"};
    return report;
}

TEST(SuiteBeforeTheTask, a_suite_that_no_run_can_measure_stops_the_task) {
    const auto stopped = check_suite_was_measured(baseline_report({unmeasurable_run(), unmeasurable_run()}));
    ASSERT_FALSE(stopped.ok());
    EXPECT_EQ(stopped.error().code, "AF-GATE-107");
    EXPECT_EQ(stopped.error().kind, ErrorKind::unavailable);
    EXPECT_THAT(stopped.error().message, HasSubstr("printed no plan"));
    EXPECT_THAT(stopped.error().remedy, HasSubstr("gates.command"));
}

TEST(SuiteBeforeTheTask, a_suite_that_one_run_measured_does_not_stop_the_task) {
    EXPECT_TRUE(check_suite_was_measured(
                    baseline_report({unmeasurable_run(), suite_run({test_before("a", TestStatus::failed_assertion)})}))
                    .ok());
}

TEST(SuiteBeforeTheTask, code_that_crashes_the_runner_does_not_stop_the_task) {
    EXPECT_TRUE(check_suite_was_measured(baseline_report({suite_run({test_before("a", TestStatus::error)}, false)})).ok());
}

TEST(SuiteBeforeTheTask, a_project_that_does_not_build_is_reported_without_stopping_the_task) {
    GateReport run = suite_run({{"t.cpp", "t.cpp", "t.cpp", 1, TestStatus::error, "does not build: shop.cpp:3: expected `;`"}});
    run.facts["not_built"] = true;
    const auto report = baseline_report({run});
    EXPECT_EQ(report.summary, "the project does not build before the task (ignored): does not build: shop.cpp:3: expected `;`");
    EXPECT_TRUE(check_suite_was_measured(report).ok());
}

TEST(SuiteBeforeTheTask, a_missing_suite_is_reported) {
    GateReport none;
    none.passed = true;
    none.facts = {{"tests_found", false}};
    const auto report = baseline_report({none});
    EXPECT_TRUE(report.passed);
    EXPECT_THAT(report.summary, HasSubstr("no tests before the task"));
}

TEST(SuiteBeforeTheTask, a_failure_declared_by_red_is_never_excused) {
    const json::object suite{
        {"test_files", json::array{json::object{{"path", "t.py"}, {"tests", json::array{json::object{{"name", "test_mine"}}}}}}}};
    const std::vector<TestOutcome> now{
        test_before("t.py::test_mine", TestStatus::error), test_before("t.py::test_old", TestStatus::error),
        test_before("t.py::test_moody", TestStatus::error), test_before("t.py::test_fine", TestStatus::error)};
    const auto excused =
        excused_failures({now[0], now[1], test_before("t.py::test_fine", TestStatus::passed)}, {"t.py::test_moody"}, suite, now);
    EXPECT_THAT(excused.failed_before, ElementsAre("t.py::test_old"));
    EXPECT_THAT(excused.flaky, ElementsAre("t.py::test_moody"));
}

TEST(SuiteBeforeTheTask, earlier_failures_do_not_block_the_tests_gate) {
    SlugProject project;
    project.tree("green")["old.py"] = "def old():\n    return 2\n";
    project.baseline.base_tests[0].status = TestStatus::failed_assertion;
    const auto report = project.gate("tests", "green");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_THAT(fact_texts(report.facts, "failed_before"), ElementsAre("tests/test_old.py::TestOld::test_old"));
    EXPECT_EQ(report.summary, "3 tests, none failed; 1 failure not counted (failed before the task, or flaky)");
    const auto status = verification_status({report});
    EXPECT_EQ(status.at("tests").at("status"), json::value("passing"));
    EXPECT_EQ(status.at("tests").at("failing_before_the_task"), json::value(1));
}

TEST(GreenGate, ignores_the_outcome_of_a_known_flaky_test) {
    SlugProject project;
    project.tree("green")["old.py"] = "def old():\n    return 2\n";
    project.baseline.flaky = {"tests/test_old.py::TestOld::test_old"};
    const auto report = project.gate("green", "green");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_THAT(fact_texts(report.facts, "flaky"), ElementsAre("tests/test_old.py::TestOld::test_old"));
}

/// A suite whose one old test passes (p) or fails (f), by the number of the run in one build folder.
struct Flips {
    const char* name;
    const char* pattern;
    bool excused;
};
class FlakyTest : public ::testing::TestWithParam<Flips> {
protected:
    static std::unique_ptr<Project> project() {
        json::object settings{{"command", json::array{"sh", "check.sh"}}};
        auto made = std::make_unique<Project>(std::move(settings), std::vector<std::string>{}, "generic");
        const std::string script =
            "echo run >> \"$AGENTFORGE_BUILD/runs\"\nnumber=$(wc -l < \"$AGENTFORGE_BUILD/runs\")\necho 1..1\n"
            "case $(printf " +
            std::string(GetParam().pattern) +
            " | cut -c \"$number\") in\np) echo 'ok 1 - old' ;;\n*) echo 'not ok 1 - old'; exit 1 ;;\nesac\n";
        made->tree("base") = {{"check.sh", script}, {"tests/a", "reads code\n"}};
        made->tree("red") = made->tree("base");
        made->tree("green") = made->tree("base");
        made->tree("green")["code"] = "changed\n";
        made->baseline.base_tests = {{"old", "old", "", 0, TestStatus::passed, ""}};
        made->baseline.test_suite = {{"test_files", json::array{}}};  // A stage wrote tests; otherwise code is not delivered.
        return made;
    }
};

TEST_P(FlakyTest, is_a_regression_if_it_fails_twice) {
    const auto project = FlakyTest::project();
    for (const auto* gate : {"tests", "deliver"}) {  // One runs in the kept folder, the other in a separate one.
        const auto report = project->gate(gate, "green");
        EXPECT_EQ(report.passed, GetParam().excused) << gate << ": " << report.summary;
        EXPECT_EQ(fact_texts(report.facts, "flaky_since").size(), GetParam().excused ? 1U : 0U) << gate;
        EXPECT_THAT(report.summary + joined(report.blocking_issues), HasSubstr(GetParam().excused ? "flaky" : "old")) << gate;
    }
}

TEST_P(FlakyTest, is_not_rerun_after_an_edit) {
    const auto project = FlakyTest::project();
    const auto report = project->gate("tests", "green", {}, json::object{{"scope", "affected"}});
    EXPECT_FALSE(report.passed) << report.summary;
    EXPECT_THAT(fact_texts(report.facts, "flaky_since"), ::testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Each, FlakyTest,
                         ::testing::Values(Flips{"passes_twice_more", "fpp", true}, Flips{"fails_again", "ffp", false},
                                           Flips{"fails_the_third_time", "fpf", false}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(FlakyTests, a_test_that_fails_only_together_with_others_is_a_regression) {
    SlugProject project;
    project.tree("green")["old.py"] = "import sys\ndef old():\n    return 2 if 'slug' in sys.modules else 1\n";
    const auto report = project.gate("deliver", "green");
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(report.summary, HasSubstr("test_old passed before the task and does not pass now"));
}

TEST(TestsGate, measures_each_run_separately) {
    SlugProject project;
    project.tree("base")["tests/test_dice.py"] =
        "import random, unittest\nclass TestDice(unittest.TestCase):\n"
        "    def test_dice(self):\n        self.fail(str(random.SystemRandom().random()))\n";
    const auto message = [&](int number) {
        return find_test(project.gate("tests", "base", {}, {{"run", number}}), "tests/test_dice.py::TestDice::test_dice")
            ->message;
    };
    const auto first = message(1);
    EXPECT_EQ(message(1), first);
    EXPECT_NE(message(2), first);
}

}  // namespace
}  // namespace agentforge::kernel::testing
