// SPDX-License-Identifier: Apache-2.0
#include "task/gate_figures.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

using namespace std::chrono_literals;

records::Gate gate(const char* name, std::optional<std::uint64_t> tests, std::uint64_t passed, bool partial = false) {
    records::Gate record{};
    record.gate = name;
    record.partial = partial;
    record.tests = tests;
    record.tests_passed = passed;
    return record;
}

GateTime time_of(const std::vector<records::CommandRun>& runs) {
    GateTime time;
    for (const records::CommandRun& run : runs) { time.add(run); }
    return time;
}

TEST(GateTimes, separate_mutants_and_report_one_build_and_one_suite_of_the_last_tree) {
    const GateTime time = time_of({{"tests", "base", 9000U},
                                   {"build", "green", 4000U},
                                   {"tests", "green", 1000U},
                                   {"build", "green", 100U},
                                   {"build", "green", 2000U, "mutants"},
                                   {"tests", "green", 500U, "mutants"},
                                   {"tests", "red", 700U, "change-taken-back"},
                                   {"metrics", "", 200U}});
    EXPECT_EQ(time.total, 17500ms);
    EXPECT_EQ(time.mutants, 2500ms);
    EXPECT_EQ(time.without_mutants(), 15000ms);
    EXPECT_EQ(time.floor(), 5000ms);
    EXPECT_EQ(in_words(time), "15.0 s without mutants, 2.5 s for mutants; one clean build and one run of the suite: 5.0 s");
}

TEST(GateTimes, name_the_build_of_a_tree_that_is_tested_again) {
    EXPECT_EQ(time_of({{"build", "a", 400U}, {"tests", "a", 10U}, {"tests", "b", 5U}, {"tests", "a", 20U}}).floor(), 420ms);
}

TEST(GateTimes, keep_the_tested_tree_even_if_later_builds_fail) {
    GateTime time = time_of({{"build", "good", 7U}, {"tests", "good", 8U}});
    for (std::size_t n = 0; n < 3 * GateTime::kept_trees; ++n) { time.add({"build", "broken " + std::to_string(n), 1U}); }
    EXPECT_EQ(time.floor(), 15ms);
    EXPECT_EQ(time.trees.size(), GateTime::kept_trees);
}

TEST(GateTimes, are_none_in_a_journal_of_an_older_version) {
    GateFigures figures;
    figures.add(gate("green", 3, 3));
    EXPECT_EQ(in_words(figures.time), "");
    EXPECT_EQ(figures.time.floor(), 0ms);
}

TEST(GateFigures, count_the_tests_of_the_newest_baseline_and_full_run) {
    GateFigures figures;
    figures.add(gate("baseline", 10, 9));
    EXPECT_FALSE(figures.tests);
    figures.add(gate("green", 12, 11));
    figures.add(gate("tests", 2, 1, true));
    figures.add(gate("conformance", std::nullopt, 0));
    EXPECT_EQ(figures.tests_before, 10U);
    EXPECT_EQ(figures.tests, 12U);
    EXPECT_EQ(figures.tests_passed, 11U);
}

TEST(GateFigures, count_only_runs_of_a_gate_on_whole_trees) {
    GateFigures figures;
    records::Gate run = gate("green", 12, 11);
    figures.add(run);
    run.passed = true;
    figures.add(run);
    run.partial = true;
    figures.add(run);
    EXPECT_EQ(figures.runs.at("green"), (GateRuns{2, 1}));
}

}  // namespace
}  // namespace agentforge::kernel
