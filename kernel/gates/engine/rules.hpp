// SPDX-License-Identifier: Apache-2.0
// Turns measurements into verdicts on RED, GREEN, REFACTOR and DELIVER. Pure functions.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/host.hpp>

#include "gates/engine/test_run.hpp"
#include "gates/test_quality/outdated_tests.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

/// A new test fails before the implementation and passes after it. A guard passes before and after.
enum class TestKind : unsigned char { fresh = 1, guard };

struct DeclaredTest {
    std::string file;
    std::string name;  ///< As written by RED: `test_a`, `TestX::test_a`, `TestX.test_a` or the whole id.
    std::string requirement;
    TestKind kind = TestKind::fresh;
};

/// Parses `test_files` of a test_suite. Adds malformed entries to `problems`.
[[nodiscard]] std::vector<DeclaredTest> declared_tests(const json::object& test_suite, std::vector<std::string>& problems);
/// Returns the ids of `requirements` whose verification_method is `test`, in order.
[[nodiscard]] std::vector<std::string> testable_requirements(const json::object& specification);
/// Returns those of them that say that something stays as it is.
[[nodiscard]] std::vector<std::string> staying_requirements(const json::object& specification);
/// Returns the outcomes of a declared test: one, or one for each of its parameters (`test_a[1]`).
[[nodiscard]] std::vector<const TestOutcome*> outcomes_of(const DeclaredTest& test, const std::vector<TestOutcome>& outcomes);

/// The decision on one phase.
struct Verdict {
    std::vector<std::string> blocking;
    std::vector<TestOutcome> tests;  ///< The run's tests, and a `not_collected` for each declared test that was not in it.
    json::object facts;
    [[nodiscard]] bool passed() const noexcept { return blocking.empty(); }
};

struct RedEvidence {
    std::string intent;            ///< `refactor` and `delete` need guards only.
    bool without_new_test = true;  ///< The request asks for work without new behaviour. If false, no test may be removed.
    std::vector<std::string> deleted_paths;  ///< Files of the user's commit that are gone.
    std::vector<DeclaredTest> declared;
    std::vector<std::string> problems;        ///< Problems in the declaration.
    std::vector<std::string> requirements;    ///< Testable ones.
    std::vector<std::string> staying;         ///< Those of them that say that something stays: guards suffice.
    std::vector<std::string> test_paths;      ///< Changed files that belong to the tests.
    std::vector<std::string> skeleton_paths;  ///< Changed files that equal what the skeleton generator makes.
    std::vector<std::string> foreign_paths;   ///< All other changed files.
    TestRun run;                              ///< RED's files on RED's tree.
    std::set<std::string> declared_names;     ///< Names of the specification's interfaces that have a skeleton.
    /// Ids of tests that pass on RED's tree, because the skeleton has a declared signature, and fail at an assertion with the
    /// signature of the user's commit.
    std::set<std::string> failed_before_signature;
    std::set<std::string> waiting_files;  ///< Files that do not load or build only because what they test does not exist yet.
    std::vector<TestOutcome> base_tests;
    std::set<std::string> outdated;    ///< Ids of base_tests that may be changed or removed.
    std::vector<ChangedTest> changed;  ///< Those of base_tests with changed or removed lines.
};
/// facts: all_tests_fail, tests_exist, tests_are_valid, waiting_tests, changed_tests and others. A waiting test counts as
/// failing, because GREEN measures it.
[[nodiscard]] Verdict judge_red(const RedEvidence& evidence);

/// The ids of RED's run, split by kind. An undeclared test that failed is new.
struct RedIds {
    std::vector<std::string> fresh;
    std::vector<std::string> guards;
};
[[nodiscard]] RedIds red_ids(const std::vector<DeclaredTest>& declared, const std::vector<TestOutcome>& red_tests,
                             const std::vector<TestOutcome>& base_tests);

struct GreenEvidence {
    std::vector<std::string> changed_tests;          ///< Test files that differ from RED's.
    std::vector<std::string> changed_configuration;  ///< Files that decide how tests run and that differ from RED's.
    std::vector<DeclaredTest> declared;
    std::vector<std::string> passed_in_red;  ///< Ids that passed when RED handed in. They are guards, however they were declared.
    std::vector<std::string> red_files;      ///< Test files of RED's run.
    TestRun red_run;                         ///< Run on RED's tree: without GREEN's change.
    TestRun run;                             ///< The whole suite on this tree.
    std::vector<TestOutcome> base_tests;
    std::vector<std::string> flaky;  ///< Those of base_tests whose result means nothing.
    std::set<std::string> outdated;  ///< Ids of base_tests that RED may have removed.
    bool change_exists = true;       ///< True if the tree differs from RED's.
};
/// facts: all_tests_pass, no_regressions, fails_without_change, tests_unchanged, test_results, passing_tests, new_tests.
[[nodiscard]] Verdict judge_green(const GreenEvidence& evidence);
/// Checks only the lock: returns facts and issues for tests or their configuration that changed since RED.
[[nodiscard]] Verdict judge_lock(const GreenEvidence& evidence);
/// Judges the whole suite on the tree to commit: RED's ids pass, and nothing that passed before fails.
[[nodiscard]] Verdict judge_deliver(const GreenEvidence& evidence);

}  // namespace agentforge::kernel
