// SPDX-License-Identifier: Apache-2.0
// Measures recorded trees. rules.hpp turns the measurements into a verdict on a phase.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gates/conformance/conformance_gate.hpp"
#include "gates/conformance/source_findings.hpp"
#include "gates/engine/affected_tests.hpp"
#include "gates/engine/built_trees.hpp"
#include "gates/engine/current_call.hpp"
#include "gates/engine/locked_files.hpp"
#include "gates/engine/red_gate.hpp"
#include "gates/engine/red_runs.hpp"
#include "gates/engine/rules.hpp"
#include "gates/engine/source_checks.hpp"
#include "gates/engine/suite_runs.hpp"
#include "gates/engine/tests_gate.hpp"
#include "gates/engine/violation_fix.hpp"
#include "gates/gate_runner.hpp"
#include "gates/language/tree_languages.hpp"
#include "gates/run/language_commands.hpp"
#include "gates/stubs/declarable_interfaces.hpp"
#include "gates/stubs/declarations.hpp"
#include "gates/stubs/function_marks.hpp"
#include "gates/stubs/waiting.hpp"
#include "gates/test_quality/coverage_runs.hpp"
#include "gates/test_quality/mutants.hpp"
#include "gates/test_quality/test_quality.hpp"

namespace agentforge::kernel {

/// Settings for running mutants of a change.
struct MutationRequest {
    std::string red_tree;
    std::vector<std::string> files;           ///< Test files.
    std::vector<std::string> passing;         ///< Ids of tests that pass without a mutant.
    std::chrono::milliseconds suite_time{0};  ///< Time limit for mutants: this, or 30 s if that is longer.
    std::set<std::string> asserting = {};     ///< Ids of tests that have failed at an assertion. Failures on mutants are added.
    std::chrono::steady_clock::time_point mutants_until = {};  ///< No mutant starts later.
};

class GateEngine {
public:
    GateEngine(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, GateRunner::Options options);

    [[nodiscard]] Result<GateReport> gate(const GateCall& call, const Stop& stop);
    /// ConformanceReader::findings of one scope.
    [[nodiscard]] Result<std::vector<Finding>> findings(const std::string& tree, const std::vector<std::string>& paths,
                                                        const Stop& stop, std::vector<UnmeasuredFile>* not_measured = nullptr);
    [[nodiscard]] TreeCheckout& checkout() noexcept { return *checkout_; }
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop);

    /// Declares the interfaces and compiles or checks the result. Errors: AF-GATE-030, with the compiler's message; those of
    /// `skeleton` and the checks.
    [[nodiscard]] Result<void> try_skeleton(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                            const Stop& stop);

    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> scaffold(const std::string& tree);
    [[nodiscard]] Result<std::vector<SetupStep>> setup_steps(const std::string& tree);
    [[nodiscard]] Result<void> set_up(const std::string& tree, const Stop& stop);

private:
    class AfterRed;
    /// Judges GREEN, REFACTOR, a fix and the delivery.
    [[nodiscard]] Result<GateReport> after_red(const GateCall& call, const Stop& stop);
    /// Returns the changed lines of code that repeat values of these test files: `file:line repeats …`. Errors: git's own.
    [[nodiscard]] Result<std::vector<std::string>> repeats_of_tests(const std::string& red_tree, const std::string& tree,
                                                                    const std::vector<std::string>& tests);

    [[nodiscard]] Result<void> prepare();
    /// Returns the mutants, by file, of the lines that differ between the trees (of `whole_files`: of all lines), except those
    /// whose changes only use the request's names. Errors: git's own.
    [[nodiscard]] Result<std::vector<std::vector<Mutant>>> mutants(const Language& language, const std::string& before_tree,
                                                                   const std::string& tree, bool whole_files,
                                                                   const std::string& request);
    /// A function that the change touches, with all its results altered.
    struct ResultMutant {
        std::string file;
        bool declared = false;  ///< True if the specification declares it.
        AlteredResults altered;
    };
    /// Returns a few functions that the specification declares, then a few others.
    [[nodiscard]] Result<std::vector<ResultMutant>> result_mutants(const GateCall& call, const Language& language,
                                                                   const std::string& before_tree);
    /// Runs the new and the held-out tests with the results of each declared function altered. If no such mutant builds, tries
    /// other functions until a test notices one.
    [[nodiscard]] Result<void> try_results(const GateCall& call, const Language& language, MutationRequest& request,
                                           TestQualityEvidence& evidence, const Stop& stop);
    /// Runs these test files on one mutant. Returns nothing if the mutant does not build, if its file is a link, or if time is up
    /// (`evidence.cut_short`).
    [[nodiscard]] Result<std::optional<TestRun>> run_mutant(const Language& language, const std::string& tree,
                                                            const std::vector<std::string>& files, const Mutant& mutant,
                                                            MutationRequest& request, TestQualityEvidence& evidence,
                                                            const Stop& stop);
    /// Runs tests on mutants of the change, as many as settings and time allow. Errors: AF-GATE-005 cancelled; git's and the
    /// sandbox's own.
    [[nodiscard]] Result<void> try_mutants(const GateCall& call, MutationRequest& request, TestQualityEvidence& evidence,
                                           const Stop& stop);
    /// Returns a file that differs from the user's commit in more than tests, documentation and comments, or nothing.
    [[nodiscard]] Result<std::optional<std::string>> changed_code(const GateCall& call);
    /// True if the change adds no word to a file other than tests and documentation.
    [[nodiscard]] Result<bool> only_removes(const GateCall& call);
    /// Returns functions of the user's commit that no changed file contains any more, unless the request or the specification
    /// names them. Skips names that begin with `_`.
    [[nodiscard]] Result<std::vector<std::string>> removed_functions(const GateCall& call);
    [[nodiscard]] Result<std::vector<std::string>> unnamed_files(const GateCall& call);
    /// Runs RED's files as a user would, without the kernel's recorder. Errors: AF-GATE-005 cancelled; git's and the sandbox's
    /// own.
    [[nodiscard]] Result<void> run_plainly(const GateCall& call, const std::string& red_tree, const GreenEvidence& green,
                                           TestQualityEvidence& evidence, const Stop& stop);
    /// Runs RED's tests once with functions of lists of numbers that call themselves with other lists (varied_calls.hpp). Errors:
    /// AF-GATE-005 cancelled; git's and the sandbox's own.
    [[nodiscard]] Result<void> vary_calls(const GateCall& call, const GreenEvidence& green, TestQualityEvidence& evidence,
                                          const Stop& stop);
    /// Runs RED's tests once with altered expected values. Errors: AF-GATE-005 cancelled; git's and the sandbox's own.
    [[nodiscard]] Result<void> run_with_other_expectations(const GateCall& call, const GreenEvidence& green,
                                                           MutationRequest& request, TestQualityEvidence& evidence,
                                                           const Stop& stop);
    /// Returns the places of skeletons that are still in the tree, and of the project's own stubs that the specification declares
    /// and GREEN did not implement.
    [[nodiscard]] Result<std::vector<std::string>> skeletons_left(const GateCall& call, const Stop& stop);
    [[nodiscard]] Result<void> add_unwritten_stubs(const GateCall& call, const Language& language,
                                                   std::vector<std::string>& places, const Stop& stop);
    /// Returns data files that were added after RED and that RED's tests name: `test file names data file`.
    [[nodiscard]] Result<std::vector<std::string>> tests_naming_new_data(const GateCall& call, const std::string& red_tree,
                                                                         const std::vector<std::string>& tests);
    /// Returns the ids of outdated tests whose lines the task has changed or removed.
    [[nodiscard]] Result<std::set<std::string>> changed_as_outdated(const GateCall& call);
    /// Runs, on this tree's code, the former versions of tests that passed before the task and were removed or changed as
    /// outdated. Adds their outcomes to `removed` and `outdated` of the evidence.
    [[nodiscard]] Result<void> run_former_tests(const GateCall& call, const GreenEvidence& green, TestQualityEvidence& evidence,
                                                const Stop& stop);
    /// Runs RED's files on RED's tree again, with the change added as comments if the language has them.
    [[nodiscard]] Result<void> run_without_change(const Language& language, const std::string& red_tree, const std::string& tree,
                                                  GreenEvidence& evidence, TestQualityEvidence& meaning, const Stop& stop);
    /// For tests that do not load on RED's tree: runs RED's files on this tree with every function of the change altered to end
    /// any test that calls it. Returns an empty, trusted run if one of RED's files does not load here either.
    [[nodiscard]] Result<TestRun> run_without_bodies(const Language& language, const std::string& red_tree,
                                                     const std::string& tree, const GreenEvidence& evidence, const Stop& stop);
    /// Constants, fields and expressions outside functions have no body to remove. A test that passed without the bodies counts
    /// as failing if it fails at an assertion when one of these lines is altered.
    [[nodiscard]] Result<void> alter_outside_functions(const Language& language, const std::string& red_tree,
                                                       const std::string& tree, const GreenEvidence& evidence, TestRun& run,
                                                       const Stop& stop);
    /// Runs the tests again that `run` lost because a mark ended their program, with marks that end none.
    [[nodiscard]] Result<void> run_lost_tests(const Language& language, const std::string& tree, const ChangedSources& sources,
                                              const GreenEvidence& evidence, TestRun& run, const Stop& stop);
    /// Runs RED's files on the same code with an added statement that has no effect. A test that then fails depends on how the
    /// code is written, not on what it does.
    [[nodiscard]] Result<void> run_in_another_form(const GateCall& call, const GreenEvidence& green,
                                                   TestQualityEvidence& evidence, const Stop& stop);
    /// Returns RED's sources with the change added as comments.
    [[nodiscard]] Result<std::map<std::string, std::string>> change_as_comments(const Language& language,
                                                                                const std::string& red_tree,
                                                                                const std::string& tree);

    std::unique_ptr<TreeCheckout> checkout_;
    GateRunner::Options options_;
    ProcessRunner& processes_;
    TreeLanguages languages_;
    CurrentCall current_;
    BuiltTrees built_{current_};
    /// What measures, once the settings are known. In the order of their dependencies.
    struct Parts {
        Parts(GateEngine& engine, GateSettings settings);

        LanguageCommands commands;
        FunctionMarks marks;
        SuiteRuns suite;
        RedRuns red_runs;
        AffectedTests affected;
        SourceChecks checks;
        Declarations declarations;
        TestsGate tests;
        CoverageRuns coverage;
        SourceFindings findings;
        ConformanceGate conformance;
        LockedFiles locked;
        RedGate red;
        ViolationFix fix;
    };
    std::unique_ptr<Parts> parts_;      ///< Made by `prepare`.
    std::set<std::string> meaningful_;  ///< Trees on which the new tests proved meaningful.
};

}  // namespace agentforge::kernel
