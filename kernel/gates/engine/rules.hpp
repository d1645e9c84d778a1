// SPDX-License-Identifier: Apache-2.0
// What measurements mean: red, green, refactor and deliver as pure functions (North Star 2.4.5, spec README 7).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/host.hpp>

#include "gates/engine/results.hpp"
#include "gates/test_quality/outdated_tests.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

/// A new test fails before the implementation and passes after it; a guard passes before and after.
enum class TestKind : unsigned char { fresh = 1, guard };

struct DeclaredTest {
    std::string file;
    std::string name;  ///< As RED wrote it: `test_a`, `TestX::test_a`, `TestX.test_a` or the whole id.
    std::string requirement;
    TestKind kind = TestKind::fresh;
};

/// `test_files` of a test_suite. What is malformed is said in `problems`.
[[nodiscard]] std::vector<DeclaredTest> declared_tests(const json::object& test_suite, std::vector<std::string>& problems);
/// Ids of `requirements` whose verification_method is `test`, in order.
[[nodiscard]] std::vector<std::string> testable_requirements(const json::object& specification);
/// Outcomes that a declared name means: exactly it, or each of its parameters (`test_a[1]`).
[[nodiscard]] std::vector<const TestOutcome*> outcomes_of(const DeclaredTest& test, const std::vector<TestOutcome>& outcomes);

/// The decision on one phase.
struct Verdict {
    std::vector<std::string> blocking;
    std::vector<TestOutcome> tests;  ///< The run, and `not_collected` for each declared test that was not in it.
    json::object facts;
    [[nodiscard]] bool passed() const noexcept { return blocking.empty(); }
};

struct RedEvidence {
    std::string intent;         ///< `refactor` and `delete` need guards only.
    bool asked_without = true;  ///< The request's words ask for work without new behaviour: without it, no test may be removed.
    std::vector<std::string> deleted_paths;  ///< Files of the user's commit that are gone.
    std::vector<DeclaredTest> declared;
    std::vector<std::string> problems;        ///< Of the declaration.
    std::vector<std::string> requirements;    ///< Testable ones.
    std::vector<std::string> test_paths;      ///< Changed files that belong to the tests.
    std::vector<std::string> skeleton_paths;  ///< Changed files that are what the skeleton generator makes.
    std::vector<std::string> foreign_paths;   ///< All other changed files.
    TestRun run;                              ///< RED's files on RED's tree.
    std::set<std::string> waiting_files;      ///< Files that do not load or build only because what they test does not exist yet.
    std::vector<TestOutcome> base_tests;
    std::set<std::string> outdated;    ///< Ids of base_tests that may be changed or removed.
    std::vector<ChangedTest> changed;  ///< Of base_tests, with lines that were changed or removed.
};
/// facts: all_tests_fail, tests_exist, tests_are_valid, waiting_tests, changed_tests and others. A waiting test counts as
/// failing: GREEN measures it.
[[nodiscard]] Verdict judge_red(const RedEvidence& evidence);

/// The ids that RED's run stands for, split by kind; what is not declared and failed is new.
struct RedIds {
    std::vector<std::string> fresh;
    std::vector<std::string> guards;
};
[[nodiscard]] RedIds red_ids(const std::vector<DeclaredTest>& declared, const std::vector<TestOutcome>& red_tests,
                             const std::vector<TestOutcome>& base_tests);

struct GreenEvidence {
    std::vector<std::string> changed_tests;          ///< Files of the tests that differ from RED's.
    std::vector<std::string> changed_configuration;  ///< Files that decide how tests run and differ from RED's.
    std::vector<DeclaredTest> declared;
    std::vector<std::string> passed_in_red;  ///< Ids that passed when RED handed in: guards, whatever they were named as.
    std::vector<std::string> red_files;      ///< Test files that RED's run was made of.
    TestRun red_run;                         ///< Measured on RED's tree: GREEN's change taken back.
    TestRun run;                             ///< The whole suite on this tree.
    std::vector<TestOutcome> base_tests;
    std::vector<std::string> flaky;  ///< Of base_tests: whether they pass says nothing.
    std::set<std::string> outdated;  ///< Ids of base_tests that RED may have removed.
    bool change_exists = true;       ///< The tree differs from RED's.
};
/// facts: all_tests_pass, no_regressions, fails_without_change, tests_unchanged, test_results, passing_tests, new_tests.
[[nodiscard]] Verdict judge_green(const GreenEvidence& evidence);
/// The lock alone: facts and issues for tests or their configuration that changed since RED.
[[nodiscard]] Verdict judge_lock(const GreenEvidence& evidence);
/// The whole suite on the tree that is committed: RED's ids pass, nothing that passed before fails.
[[nodiscard]] Verdict judge_deliver(const GreenEvidence& evidence);

}  // namespace agentforge::kernel
