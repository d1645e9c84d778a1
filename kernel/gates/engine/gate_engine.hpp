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
#include "gates/engine/mention_index.hpp"
#include "gates/engine/rules.hpp"
#include "gates/gate_runner.hpp"
#include "gates/run/language_commands.hpp"
#include "gates/test_quality/mutants.hpp"
#include "gates/test_quality/test_quality.hpp"

namespace agentforge::kernel {

/// Returns the identity of one measurement: gate, tree, paths, parameters and baseline.
[[nodiscard]] Result<std::string> cache_key(const GateCall& call);

/// Returns the interfaces of a specification that can be declared: those with a file and a signature.
[[nodiscard]] std::vector<SkeletonInterface> declarable_interfaces(const json::object& specification);
/// A changed line, and the tests that run it. If it compares with a literal of the tests: the tests that run the code after it.
struct CoveredLine {
    std::string file;
    std::uint64_t line = 0;
    std::string special;             ///< The literal. Empty if the line compares with none.
    std::vector<std::string> tests;  ///< The first five.
};

/// True if a message is only about missing names that appear in the specification's interfaces, components or files. A name in
/// `declared` is not missing: the test looks for it in the wrong place. `test_file`: the file that does not load, if known.
[[nodiscard]] bool lacks_specified_name(const Language& language, const json::object& specification, std::string_view message,
                                        const std::set<std::string>& declared = {}, const std::string& test_file = {});

/// Returns the files of a run that do not load or build only because what they test does not exist yet: each message is about a
/// missing name that appears in the specification's interfaces, components or files, or names nothing. Empty if any message says
/// something else.
[[nodiscard]] std::set<std::string> waiting_files(const Language& language, const json::object& specification, const TestRun& run,
                                                  const std::set<std::string>& declared = {});

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
    /// Returns the configured language, or the one detected once for each tree. Errors: AF-GATE-002.
    [[nodiscard]] Result<const Language*> language(const std::string& tree);
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
    class TestsGate;
    [[nodiscard]] Result<GateReport> tests(const GateCall& call, const Stop& stop);
    [[nodiscard]] Result<GateReport> syntax(const GateCall& call, const Stop& stop);
    [[nodiscard]] Result<GateReport> types(const GateCall& call, const Stop& stop);
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
    /// Runs the held-out tests. Errors: AF-GATE-005 cancelled; git's and the sandbox's own.
    [[nodiscard]] Result<Verdict> held_out(const GateCall& call, const Stop& stop);

    /// Path → content.
    using DeclaredFiles = std::map<std::string, std::string>;
    /// A specification's declarations, added to a tree.
    struct Declared {
        /// Turns callers of changed functions into stubs if the tree would not compile otherwise.
        DeclaredFiles files;
        std::vector<Violation> errors;  ///< New compiler errors that no stub removes.
    };
    /// Computed once for each tree and interfaces. Errors: those of `skeleton` and the checks.
    [[nodiscard]] Result<const Declared*> declared(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                                   const Stop& stop);
    /// Returns only the files of the declarations; compiles nothing. Errors: AF-GATE-030.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> declarations(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop);
    /// True if a declaration replaces lines of the project's files: after a changed signature, the body may no longer fit.
    [[nodiscard]] Result<bool> replaces_lines(const std::string& tree, const DeclaredFiles& files);
    /// Turns functions that the declarations break into stubs. Keeps remaining errors if they prevent tests from running.
    [[nodiscard]] Result<void> stub_broken_callers(const TypeChecker& checker, const std::string& tree, Declared& result,
                                                   const Stop& stop);
    /// Turns the project's functions that contain these errors into stubs in `files`. Returns whether there were any.
    [[nodiscard]] Result<bool> stub_callers(const Language& language, const std::string& tree,
                                            const std::vector<Violation>& errors, DeclaredFiles& files);
    [[nodiscard]] Result<std::vector<Violation>> errors_with_declarations(const Language& language, const TypeChecker& checker,
                                                                          const std::string& tree, const DeclaredFiles& files,
                                                                          const Stop& stop);
    /// Returns the first type checker that the project declares, or null.
    [[nodiscard]] Result<const TypeChecker*> type_checker_of_project(const std::string& tree);

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
    /// Returns the names of the specification's interfaces whose skeletons are in this tree.
    [[nodiscard]] Result<std::set<std::string>> declared_names(const Language& language, const json::object& specification,
                                                               const std::string& tree);
    /// The changed sources: their contents and the numbers of their changed lines.
    struct ChangedSources {
        std::map<std::string, std::string> contents;
        std::map<std::string, std::set<std::uint64_t>> lines;
    };
    [[nodiscard]] Result<ChangedSources> changed_sources(const Language& language, const std::string& red_tree,
                                                         const std::string& tree);
    /// What a changed function does first when it is called.
    enum class Mark : unsigned char {
        end_test = 1,  ///< Ends the calling test.
        fail_test,     ///< Fails the calling test and goes on: for languages that have StubRules::failed.
        idle,          ///< Something without effect: for languages with a command `stubs`.
    };
    /// Marks the changed functions. Returns the altered files.
    [[nodiscard]] Result<std::map<std::string, std::string>> marked_changes(const Language& language,
                                                                            const ChangedSources& sources, Mark mark,
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
    /// True if a file of the checked-out tree is a link.
    [[nodiscard]] bool is_link(const std::string& path) const;
    /// True if one of the kernel's runners runs the tests directly from the sources.
    [[nodiscard]] Result<bool> needs_no_build(const std::string& tree);
    /// For a project without tests: returns what prevents its runner from running the kernel's own canary tests, such as a
    /// missing package. Empty: nothing does, or the runner has to build something first.
    [[nodiscard]] Result<std::string> why_no_test_could_run(const std::string& tree, const Stop& stop);
    /// Caches trusted runs by tree, files and number; another number is another run of the same. While a phase is judged, only
    /// isolated builds count.
    [[nodiscard]] Result<TestRun> run_tests(const std::string& tree, const std::vector<std::string>& files, const Stop& stop,
                                            std::int64_t number = 1, const std::string& timeout = {});
    /// Runs RED's files on RED's tree, with `mark_stub_failures`. `again`: runs even if there is a cached result.
    [[nodiscard]] Result<TestRun> run_red_tests(const std::string& tree, const std::vector<std::string>& files, bool again,
                                                const Stop& stop);
    /// Marks tests that fail because code is not implemented yet. Such a test hits an error in the code's result (`result_errors`
    /// of the language), or misses a name that the specification has (`undeclared`), or ends with an error and reaches a stub of
    /// the project (`stubs` of the language) or a new function that the specification declares. The last case needs another run
    /// of these files, in which each such function ends any test that reaches it.
    [[nodiscard]] Result<void> mark_stub_failures(const Language& language, const std::string& tree,
                                                  const std::vector<std::string>& files, TestRun& run, const Stop& stop);
    /// Returns the sources with stubs, marked for such a run: path and content.
    [[nodiscard]] Result<std::map<std::string, std::string>> marked_stubs(const Language& language, const std::string& tree,
                                                                          const Stop& stop);
    /// The same for these contents. Functions in `named` for their file count as stubs, whatever they do.
    [[nodiscard]] Result<std::map<std::string, std::string>> marked_in(const Language& language,
                                                                       const std::map<std::string, std::string>& contents,
                                                                       const std::map<std::string, std::set<std::string>>& named,
                                                                       const Stop& stop);
    /// The same with the language's command `stubs`. `input`: what it reads besides the marker.
    [[nodiscard]] Result<std::map<std::string, std::string>> marked_by_command(const Language& language, json::object input,
                                                                               const Stop& stop);
    /// Calls `run_tests` with a separate timeout for integration tests. Skips integration tests unless `integration` is set or
    /// `always` names them.
    [[nodiscard]] Result<TestRun> run_suite(const std::string& tree, const std::vector<std::string>& files, bool integration,
                                            const std::vector<std::string>& always, const Stop& stop, std::int64_t number = 1);
    /// Returns the flaky tests: they passed before the task, failed in this run, and passed in two more runs, alone and with the
    /// rest. Their failure is not a regression. Never includes RED's own tests. Empty if too many tests fail to be chance.
    [[nodiscard]] Result<std::vector<std::string>> flaky_tests(const GateBaseline& baseline, const std::string& tree,
                                                               const std::vector<std::string>& files, const TestRun& run,
                                                               const Stop& stop);
    [[nodiscard]] bool is_integration_test(const std::string& path) const;
    /// Returns the test files that the task's changes may affect, and RED's, without integration tests.
    [[nodiscard]] Result<std::vector<std::string>> affected_files(const GateCall& call, const std::vector<std::string>& suite,
                                                                  const Stop& stop);
    [[nodiscard]] Result<std::vector<std::string>> test_files(const std::string& tree);
    /// Returns the files that the call is about: its paths, or what changed since the user's commit, or all; without deleted
    /// ones.
    [[nodiscard]] Result<std::vector<TreeChange>> scope(const GateCall& call);
    [[nodiscard]] Result<std::vector<Violation>> type_errors(const Language& language, const TypeChecker& checker,
                                                             const std::string& tree, const Stop& stop, bool& installed);
    [[nodiscard]] Result<std::vector<Violation>> build_errors(const Language& language, const TypeChecker& checker,
                                                              const std::string& tree, const Stop& stop);
    /// Runs the language's syntax command on these files and returns its messages by its `error` pattern.
    [[nodiscard]] Result<std::vector<Violation>> syntax_errors(const Language& language, const LanguageCommand& command,
                                                               const std::string& tree, const std::vector<std::string>& files,
                                                               const Stop& stop);
    [[nodiscard]] Result<std::vector<std::string>> changed_runner_configuration(const Language& language,
                                                                                const std::string& old_tree,
                                                                                const std::vector<TreeChange>& changes,
                                                                                const std::string& tree);

    std::unique_ptr<TreeCheckout> checkout_;
    GateRunner::Options options_;
    std::unique_ptr<LanguageCommands> commands_;
    ProcessRunner& processes_;
    std::map<std::string, Language> languages_;                   ///< By tree.
    std::map<std::string, TestRun, std::less<>> runs_;            ///< By tree and files.
    std::map<std::string, Declared> declared_;                    ///< By tree and interfaces.
    std::map<std::string, std::set<std::string>> at_stubs_;       ///< By tree and files: ids of tests that reach a stub.
    json::object specification_;                                  ///< Specification of the current call.
    std::map<std::string, std::set<std::string>> to_be_changed_;  ///< By file: functions that the call's specification declares.
    std::map<std::string, LanguageCommands::LinesRun> lines_;     ///< By tree, and by files if the command takes any.
    std::map<std::string, std::vector<std::string>> files_;       ///< By tree.
    std::optional<std::vector<ConformanceCheck>> checks_;
    Globs integration_;
    MentionIndex mentions_;
    std::string mentions_tree_;                                         ///< The tree that `mentions_` describes. Empty: none.
    std::map<std::string, std::map<std::string, std::string>> behind_;  ///< Cache of behind_links, by tree.
    std::set<std::string> meaningful_;                                  ///< Trees on which the new tests proved meaningful.
    std::set<std::string> built_;  ///< Trees that build, with the folder: `judged <tree>`, `kept <tree>`.
    bool judging_ = false;         ///< The running gate judges a phase.
};

}  // namespace agentforge::kernel
