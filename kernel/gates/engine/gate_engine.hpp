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

#include "gates/conformance/conformance_search.hpp"
#include "gates/conformance/named_violations.hpp"
#include "gates/engine/affected_tests.hpp"
#include "gates/engine/built_trees.hpp"
#include "gates/engine/current_call.hpp"
#include "gates/engine/red_runs.hpp"
#include "gates/engine/rules.hpp"
#include "gates/engine/source_checks.hpp"
#include "gates/engine/suite_runs.hpp"
#include "gates/engine/tests_gate.hpp"
#include "gates/gate_runner.hpp"
#include "gates/language/tree_languages.hpp"
#include "gates/run/language_commands.hpp"
#include "gates/stubs/declarable_interfaces.hpp"
#include "gates/stubs/declarations.hpp"
#include "gates/stubs/function_marks.hpp"
#include "gates/stubs/waiting.hpp"
#include "gates/test_quality/mutants.hpp"
#include "gates/test_quality/test_quality.hpp"

namespace agentforge::kernel {

/// A changed line, and the tests that run it. If it compares with a literal of the tests: the tests that run the code after it.
struct CoveredLine {
    std::string file;
    std::uint64_t line = 0;
    std::string special;             ///< The literal. Empty if the line compares with none.
    std::vector<std::string> tests;  ///< The first five.
};

/// Settings for running mutants of a change.
struct MutationRequest {
    std::string red_tree;
    std::vector<std::string> files;           ///< Test files.
    std::vector<std::string> passing;         ///< Ids of tests that pass without a mutant.
    std::chrono::milliseconds suite_time{0};  ///< Time limit for mutants: this, or 30 s if that is longer.
    std::set<std::string> asserting = {};     ///< Ids of tests that have failed at an assertion. Failures on mutants are added.
    std::chrono::steady_clock::time_point mutants_until = {};  ///< No mutant starts later.
};

/// Which of a task's changed lines the tests run.
struct Coverage {
    bool measured = false;  ///< False without problem and reason: the language has no coverage command, or nothing changed.
    std::string problem;    ///< Why a required measurement failed.
    std::string reason;     ///< Why it was skipped without failing: a tool is missing.
    std::size_t lines = 0;  ///< Changed lines that can be run.
    std::vector<CoveredLine> missing;  ///< Those that no test runs.
    /// Lines that may be written for the tests' values only; a person should check them. Without `tests`, it was not measured
    /// which tests run the line.
    std::vector<CoveredLine> special;
    [[nodiscard]] std::string summary() const {
        if (measured) { return "measured"; }
        if (!problem.empty()) { return "failed: " + problem; }
        return reason.empty() ? "not measured" : "not measured: " + reason;
    }
    [[nodiscard]] std::int64_t percent_missing() const {
        return lines == 0 ? 0 : static_cast<std::int64_t>((missing.size() * 100 + lines - 1) / lines);
    }
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
    class ConformanceGate;
    [[nodiscard]] Result<GateReport> conformance(const GateCall& call, Enforcement enforcement, const Stop& stop);
    class ViolationFix;
    /// Writes into `report` whether the violation is gone, and which violations are new.
    [[nodiscard]] Result<void> judge_violation(const GateCall& call, GateReport& report, const Stop& stop);
    [[nodiscard]] Result<std::optional<LineRange>> current_part(const GateCall& call, const NamedViolation& before);
    struct FileVersion;
    /// Reads the checks once, and returns those enforced up to this point. Errors: AF-GATE-020, AF-GATE-021.
    [[nodiscard]] Result<std::vector<ConformanceCheck>> checks(Enforcement enforcement);
    /// Measures the sources among these files, with the language's command or from their text. Errors: AF-GATE-003, AF-GATE-005.
    [[nodiscard]] Result<void> measure_files(const Language& language, const std::vector<ConformanceCheck>& checks,
                                             const std::vector<std::vector<FileVersion>*>& files, const Stop& stop);
    [[nodiscard]] Result<void> measure_by_command(const Language& language, const std::vector<FileVersion*>& files,
                                                  const Stop& stop);
    class RedGate;
    [[nodiscard]] Result<GateReport> red(const GateCall& call, const Stop& stop);
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
    /// Measures the coverage, by these test files, of the sources that differ from `base_tree`. A failing command is a `problem`.
    /// Errors: cancelled, git's own. `special_only`: returns only lines that compare with the tests' values; runs nothing if the
    /// text has none.
    [[nodiscard]] Result<Coverage> coverage(const std::string& base_tree, const std::string& tree,
                                            const std::vector<std::string>& tests, bool special_only, const Stop& stop);
    /// The same with the runner's coverage command, which reports only lines. `changed`: path → line numbers.
    [[nodiscard]] Result<Coverage> coverage_by_lines(const Language& language, const std::string& tree,
                                                     const json::object& changed, const std::vector<std::string>& tests,
                                                     bool special_only, const Stop& stop);
    /// Returns the files and folders of a tree that its tests reach through links, each with its link. They count as tests.
    [[nodiscard]] Result<std::map<std::string, std::string>> behind_links(const Language& language, const std::string& tree);
    [[nodiscard]] Result<std::vector<std::string>> changed_runner_configuration(const Language& language,
                                                                                const std::string& old_tree,
                                                                                const std::vector<TreeChange>& changes,
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
    };
    std::unique_ptr<Parts> parts_;                             ///< Made by `prepare`.
    std::map<std::string, LanguageCommands::LinesRun> lines_;  ///< By tree, and by files if the command takes any.
    std::optional<std::vector<ConformanceCheck>> checks_;
    std::map<std::string, std::map<std::string, std::string>> behind_;  ///< Cache of behind_links, by tree.
    std::set<std::string> meaningful_;                                  ///< Trees on which the new tests proved meaningful.
};

}  // namespace agentforge::kernel
