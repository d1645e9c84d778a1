// SPDX-License-Identifier: Apache-2.0
// Measurements on recorded trees; what they mean for a phase is decided by rules.hpp.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gates/conformance/conformance.hpp"
#include "gates/engine/affected.hpp"
#include "gates/engine/rules.hpp"
#include "gates/gates.hpp"
#include "gates/run/commands.hpp"
#include "gates/test_quality/mutants.hpp"
#include "gates/test_quality/test_quality.hpp"

namespace agentforge::kernel {

/// Names one measurement: gate, tree, paths, parameters and baseline.
[[nodiscard]] Result<std::string> cache_key(const GateCall& call);

/// The interfaces of a specification that can be declared: those with a file and a signature.
[[nodiscard]] std::vector<SkeletonInterface> declarable_interfaces(const json::object& specification);
/// A changed line: by which tests it is run, or what depends on its comparison with a literal of theirs.
struct CoveredLine {
    std::string file;
    std::uint64_t line = 0;
    std::string special;             ///< The literal; empty: not such a line.
    std::vector<std::string> tests;  ///< The first five.
};

/// Whether a message is only about missing names that appear in the specification's interfaces, components or files.
[[nodiscard]] bool misses_what_is_specified(const Language& language, const json::object& specification,
                                            std::string_view message);

/// Files of a run that do not load or build only because what they test does not exist yet: each message is about a missing name
/// that appears in the specification's interfaces, components or files, or names nothing. Empty if any message says something
/// else.
[[nodiscard]] std::set<std::string> waiting_files(const Language& language, const json::object& specification,
                                                  const TestRun& run);

/// What mutants of a change are run by.
struct MeaningRequest {
    std::string red_tree;
    std::vector<std::string> files;           ///< Of tests.
    std::vector<std::string> passing;         ///< Ids that pass without a mutant.
    std::chrono::milliseconds suite_time{0};  ///< So long, or 30 s, mutants may take.
    std::set<std::string> asserting = {};     ///< Ids that were seen to fail at an assertion; those on mutants are added.
    std::chrono::steady_clock::time_point mutants_until = {};  ///< No mutant begins later.
};

/// What tests run of the lines that a task changed.
struct Coverage {
    bool measured = false;  ///< False without problem and reason: the language has no coverage command, or nothing changed.
    std::string problem;    ///< Why it could not be measured, though it should have been.
    std::string reason;     ///< Why it was not, which is held against nobody: a tool that is not there.
    std::size_t lines = 0;  ///< Changed ones that can be run.
    std::vector<CoveredLine> missing;  ///< Those that nothing runs.
    std::vector<CoveredLine> special;  ///< Those made for what the tests give, perhaps: a person should look. Without tests: it
                                       ///< is not known whether any runs it.
    [[nodiscard]] std::string told() const {
        return measured           ? "measured"
               : !problem.empty() ? "failed: " + problem
               : reason.empty()   ? "not measured"
                                  : "not measured: " + reason;
    }
    [[nodiscard]] std::int64_t percent_missing() const {
        return lines == 0 ? 0 : static_cast<std::int64_t>((missing.size() * 100 + lines - 1) / lines);
    }
};

class Measure {
public:
    Measure(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, GateRunner::Options options);

    [[nodiscard]] Result<GateReport> gate(const GateCall& call, const Stop& stop);
    /// ConformanceReader::findings of the one scope.
    [[nodiscard]] Result<std::vector<Finding>> findings(const std::string& tree, const std::vector<std::string>& paths,
                                                        const Stop& stop);
    [[nodiscard]] TreeCheckout& checkout() noexcept { return *checkout_; }
    /// Detected once a tree, or the configured one. Errors: AF-GATE-002.
    [[nodiscard]] Result<const Language*> language(const std::string& tree);
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop);

    /// Declares the interfaces and has the result compiled or checked. Errors: AF-GATE-030, with what the compiler says; of
    /// `skeleton` and the checks.
    [[nodiscard]] Result<void> try_skeleton(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                            const Stop& stop);

    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> scaffold(const std::string& tree);
    [[nodiscard]] Result<std::vector<SetupStep>> setup_steps(const std::string& tree);
    [[nodiscard]] Result<void> set_up(const std::string& tree, const Stop& stop);

private:
    [[nodiscard]] Result<GateReport> tests(const GateCall& call, const Stop& stop);
    [[nodiscard]] Result<GateReport> syntax(const GateCall& call, const Stop& stop);
    [[nodiscard]] Result<GateReport> types(const GateCall& call, const Stop& stop);
    [[nodiscard]] Result<GateReport> conformance(const GateCall& call, Enforcement upto, const Stop& stop);
    /// Whether the violation that is to be gone is, and what appeared in its place; into `report`.
    [[nodiscard]] Result<void> judge_violation(const GateCall& call, GateReport& report, const Stop& stop);
    /// A file as it is in one tree.
    struct FileVersion {
        std::string path;
        std::string content;
        std::vector<Metric> metrics;
    };
    /// Reads the checks once, and returns those that are enforced by then. Errors: AF-GATE-020, AF-GATE-021.
    [[nodiscard]] Result<std::vector<ConformanceCheck>> checks(Enforcement upto);
    /// Measures the sources among these files, by the language's command or by what is known of its text. Errors: AF-GATE-003,
    /// AF-GATE-005.
    [[nodiscard]] Result<void> measure_files(const Language& language, const std::vector<ConformanceCheck>& checks,
                                             const std::vector<std::vector<FileVersion>*>& files, const Stop& stop);
    [[nodiscard]] Result<GateReport> red(const GateCall& call, const Stop& stop);
    [[nodiscard]] Result<GateReport> after_red(const GateCall& call, const Stop& stop);
    /// Changed lines of code that repeat the values of these test files: `file:line repeats …`. Errors: git's own.
    [[nodiscard]] Result<std::vector<std::string>> repeats_of_tests(const std::string& red_tree, const std::string& tree,
                                                                    const std::vector<std::string>& tests);
    /// Runs the held-out tests. Errors: AF-GATE-005 cancelled; git's and the sandbox's own.
    [[nodiscard]] Result<Verdict> held_out(const GateCall& call, const Stop& stop);

    /// Path → content.
    using DeclaredFiles = std::map<std::string, std::string>;
    /// The declarations of a specification, added to a tree.
    struct Declared {
        DeclaredFiles files;            ///< Callers of what it changes are stubs where it would not compile otherwise.
        std::vector<Violation> errors;  ///< New compiler errors that no stub removes.
    };
    /// Tried once per tree and interfaces. Errors: of `skeleton` and the checks.
    [[nodiscard]] Result<const Declared*> declared(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                                   const Stop& stop);
    /// Only the files of the declarations; compiles nothing. Errors: AF-GATE-030.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> declarations(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop);
    /// Whether what is declared replaces lines of the project's files: a changed signature, below which the body may no longer
    /// fit.
    [[nodiscard]] Result<bool> replaces_lines(const std::string& tree, const DeclaredFiles& files);
    /// Makes functions that the declarations break stubs, and keeps the errors that remain where they keep tests from running.
    [[nodiscard]] Result<void> fit_callers(const TypeChecker& checker, const std::string& tree, Declared& result,
                                           const Stop& stop);
    /// Makes the project's functions that contain these errors stubs in `files`. Returns whether there were any.
    [[nodiscard]] Result<bool> stub_callers(const Language& language, const std::string& tree,
                                            const std::vector<Violation>& errors, DeclaredFiles& files);
    [[nodiscard]] Result<std::vector<Violation>> errors_beside(const Language& language, const TypeChecker& checker,
                                                               const std::string& tree, const DeclaredFiles& files,
                                                               const Stop& stop);
    /// The first type checker that the project declares; null if there is none.
    [[nodiscard]] Result<const TypeChecker*> declared_checker(const std::string& tree);

    [[nodiscard]] Result<void> prepare();
    /// Mutants by file, of what differs between the trees (of `whole_files`, all lines of these files), without what only has the
    /// names that the request gives. Errors: git's own.
    [[nodiscard]] Result<std::vector<std::vector<Mutant>>> mutants(const Language& language, const std::string& before_tree,
                                                                   const std::string& tree, bool whole_files,
                                                                   const std::string& request);
    /// A function that the change touches, with all of its results altered.
    struct ResultMutant {
        std::string file;
        bool declared = false;  ///< By the specification.
        AlteredResults altered;
    };
    /// A few functions that the specification declares, followed by a few others.
    [[nodiscard]] Result<std::vector<ResultMutant>> result_mutants(const GateCall& call, const Language& language,
                                                                   const std::string& before_tree);
    /// Runs the new and the held-out tests with the results of each declared function altered. If none of these builds, it tries
    /// other functions until a test notices one.
    [[nodiscard]] Result<void> try_results(const GateCall& call, const Language& language, MeaningRequest& request,
                                           TestQualityEvidence& evidence, const Stop& stop);
    /// Runs these test files on one mutant. Returns nothing if the mutant does not build or its file is a link, or if time is up
    /// (`evidence.cut_short`).
    [[nodiscard]] Result<std::optional<TestRun>> run_mutant(const Language& language, const std::string& tree,
                                                            const std::vector<std::string>& files, const Mutant& mutant,
                                                            MeaningRequest& request, TestQualityEvidence& evidence,
                                                            const Stop& stop);
    /// Runs tests on mutants of the change, as many as settings and time allow. Errors: AF-GATE-005 cancelled; git's and the
    /// sandbox's own.
    [[nodiscard]] Result<void> try_mutants(const GateCall& call, MeaningRequest& request, TestQualityEvidence& evidence,
                                           const Stop& stop);
    /// A file of anything but tests, documentation and comments that differs from the user's commit; nothing: there is none.
    [[nodiscard]] Result<std::optional<std::string>> changed_code(const GateCall& call);
    /// Functions of the user's commit that are in none of the changed files any more, and that neither the request nor the
    /// specification names; without those whose names begin with `_`.
    [[nodiscard]] Result<std::vector<std::string>> removed_functions(const GateCall& call);
    /// Runs RED's files as their user would. Errors: AF-GATE-005 cancelled; git's and the sandbox's own.
    [[nodiscard]] Result<void> run_plainly(const GateCall& call, const std::string& red_tree, const GreenEvidence& green,
                                           TestQualityEvidence& evidence, const Stop& stop);
    /// Runs RED's tests once with functions of lists of numbers that call themselves with other lists (varied_calls.hpp). Errors:
    /// AF-GATE-005 cancelled; git's and the sandbox's own.
    [[nodiscard]] Result<void> vary_calls(const GateCall& call, const GreenEvidence& green, TestQualityEvidence& evidence,
                                          const Stop& stop);
    /// Runs RED's tests once with other values where they expect some. Errors: AF-GATE-005 cancelled; git's and the sandbox's
    /// own.
    [[nodiscard]] Result<void> expect_otherwise(const GateCall& call, const GreenEvidence& green, MeaningRequest& request,
                                                TestQualityEvidence& evidence, const Stop& stop);
    /// Places of skeletons that were not replaced, and of the project's own stubs that the specification declares and GREEN did
    /// not implement.
    [[nodiscard]] Result<std::vector<std::string>> skeletons_left(const GateCall& call, const Stop& stop);
    [[nodiscard]] Result<void> add_unwritten_stubs(const GateCall& call, const Language& language,
                                                   std::vector<std::string>& places, const Stop& stop);
    /// Data files that came after RED and that RED's tests name: `test file names data file`.
    [[nodiscard]] Result<std::vector<std::string>> read_answers(const GateCall& call, const std::string& red_tree,
                                                                const std::vector<std::string>& tests);
    /// Ids of outdated tests whose lines the task has changed or removed.
    [[nodiscard]] Result<std::set<std::string>> changed_as_outdated(const GateCall& call);
    /// Runs tests that passed before the task and are gone, or were changed as outdated, as they were then, beside this tree's
    /// code. Their outcomes go into `removed` and `outdated` of the evidence.
    [[nodiscard]] Result<void> run_former_tests(const GateCall& call, const GreenEvidence& green, TestQualityEvidence& evidence,
                                                const Stop& stop);
    /// Runs RED's files on RED's tree again, the change standing there as comments where the language has them.
    [[nodiscard]] Result<void> take_back(const Language& language, const std::string& red_tree, const std::string& tree,
                                         GreenEvidence& evidence, TestQualityEvidence& meaning, const Stop& stop);
    /// For tests that do not load on RED's tree: runs RED's files on this tree with every function that the change touches
    /// altered to end any test that calls it. An empty, believed run if one of RED's files does not load here either.
    [[nodiscard]] Result<TestRun> run_without_bodies(const Language& language, const std::string& red_tree,
                                                     const std::string& tree, const GreenEvidence& evidence, const Stop& stop);
    /// Constants, fields and expressions outside functions have no body to take out. A test that passed without the bodies counts
    /// as failing if it fails at an assertion when one of these lines is altered.
    [[nodiscard]] Result<void> alter_outside_functions(const Language& language, const std::string& red_tree,
                                                       const std::string& tree, const GreenEvidence& evidence, TestRun& run,
                                                       const Stop& stop);
    /// The contents of the changed sources and the numbers of their changed lines.
    struct ChangedSources {
        std::map<std::string, std::string> contents;
        std::map<std::string, std::set<std::uint64_t>> lines;
    };
    [[nodiscard]] Result<ChangedSources> changed_sources(const Language& language, const std::string& red_tree,
                                                         const std::string& tree);
    /// Marks the changed functions, so that each ends any test that calls it. With `idle` it inserts a statement without effect
    /// instead, which only the language's command `stubs` can do. Returns the files that it altered.
    [[nodiscard]] Result<std::map<std::string, std::string>> marked_changes(const Language& language,
                                                                            const ChangedSources& sources, bool idle,
                                                                            const Stop& stop);
    /// Runs RED's files on the same code with a statement added that has no effect. A test that fails then depends on how the
    /// code is written, not on what it does.
    [[nodiscard]] Result<void> run_in_another_form(const GateCall& call, const GreenEvidence& green,
                                                   TestQualityEvidence& evidence, const Stop& stop);
    /// RED's sources with the change beside them as comments.
    [[nodiscard]] Result<std::map<std::string, std::string>> change_as_comments(const Language& language,
                                                                                const std::string& red_tree,
                                                                                const std::string& tree);
    /// Of the sources that differ from `base_tree`, by these test files. A command that fails is a `problem`. Errors: cancelled,
    /// git's own. `special_only`: only lines that compare with what the tests give are wanted; where the text shows none, nothing
    /// is run.
    [[nodiscard]] Result<Coverage> coverage(const std::string& base_tree, const std::string& tree,
                                            const std::vector<std::string>& tests, bool special_only, const Stop& stop);
    /// The same by the runner's coverage command, which tells lines only; `changed` is path → numbers of lines.
    [[nodiscard]] Result<Coverage> coverage_by_lines(const Language& language, const std::string& tree,
                                                     const json::object& changed, const std::vector<std::string>& tests,
                                                     bool special_only, const Stop& stop);
    /// Files and folders of a tree that its tests reach through links, each with the link: they are tests as well.
    [[nodiscard]] Result<std::map<std::string, std::string>> behind_links(const Language& language, const std::string& tree);
    /// Whether a file of the tree that is checked out is a link.
    [[nodiscard]] bool is_link(const std::string& path) const;
    /// Whether one of the kernel's runners runs the tests straight from the sources.
    [[nodiscard]] Result<bool> needs_no_build(const std::string& tree);
    /// For a project without tests: what prevents its runner from running the kernel's own canary tests, such as a missing
    /// package. Empty: nothing does, or the runner has to build something first.
    [[nodiscard]] Result<std::string> why_no_test_could_run(const std::string& tree, const Stop& stop);
    /// Remembered by tree, files and number when it was believed: another number is another run of the same. While a phase is
    /// judged, only what was built apart counts.
    [[nodiscard]] Result<TestRun> run_tests(const std::string& tree, const std::vector<std::string>& files, const Stop& stop,
                                            std::int64_t number = 1, const std::string& timeout = {});
    /// RED's files on RED's tree, with `tell_stubs`. `again`: run even if a result is remembered.
    [[nodiscard]] Result<TestRun> run_red_tests(const std::string& tree, const std::vector<std::string>& files, bool again,
                                                const Stop& stop);
    /// A test fails as at a skeleton if it ran into an error caused by what the code returned (`result_errors` of the language),
    /// if it misses a name that the specification has (`undeclared`), or if it ended with an error and reaches one of the
    /// project's own stubs (`stubs` of the language) or a function there that the specification declares anew. A second run of
    /// these files on the tree, once, in which each of them ends the test that reaches it, measures the latter.
    [[nodiscard]] Result<void> tell_stubs(const Language& language, const std::string& tree,
                                          const std::vector<std::string>& files, TestRun& run, const Stop& stop);
    /// Sources with stubs, as they are for such a run: path and content.
    [[nodiscard]] Result<std::map<std::string, std::string>> marked_stubs(const Language& language, const std::string& tree,
                                                                          const Stop& stop);
    /// The same for these contents; functions that are `named` for their file count whatever they do.
    [[nodiscard]] Result<std::map<std::string, std::string>> marked_in(const Language& language,
                                                                       const std::map<std::string, std::string>& contents,
                                                                       const std::map<std::string, std::set<std::string>>& named,
                                                                       const Stop& stop);
    /// The same by the language's command `stubs`. `input` is what it reads beside the marker.
    [[nodiscard]] Result<std::map<std::string, std::string>> marked_by_command(const Language& language, json::object input,
                                                                               const Stop& stop);
    /// `run_tests` with a timeout of its own for tests of integration, which are left out unless `integration`; `always` are run
    /// whatever they are.
    [[nodiscard]] Result<TestRun> run_suite(const std::string& tree, const std::vector<std::string>& files, bool integration,
                                            const std::vector<std::string>& always, const Stop& stop, std::int64_t number = 1);
    /// Tests that passed before the task, fail in this run of these files, and pass twice more, alone and with the rest: they
    /// flip, and their failure is no regression. One that fails a second time is. RED's own tests are never among them, nor is
    /// anything where too many fail to be chance.
    [[nodiscard]] Result<std::vector<std::string>> flipping(const GateBaseline& baseline, const std::string& tree,
                                                            const std::vector<std::string>& files, const TestRun& run,
                                                            const Stop& stop);
    [[nodiscard]] bool is_integration_test(const std::string& path) const;
    /// Test files that what the task has changed may affect, and RED's; not those of integration.
    [[nodiscard]] Result<std::vector<std::string>> affected_files(const GateCall& call, const std::vector<std::string>& suite,
                                                                  const Stop& stop);
    [[nodiscard]] Result<std::vector<std::string>> test_files(const std::string& tree);
    /// Files that the call is about: its paths, or what changed since the user's commit, or all; deleted ones left out.
    [[nodiscard]] Result<std::vector<TreeChange>> scope(const GateCall& call);
    [[nodiscard]] Result<std::vector<Violation>> type_errors(const Language& language, const TypeChecker& checker,
                                                             const std::string& tree, const Stop& stop, bool& installed);
    [[nodiscard]] Result<std::vector<Violation>> build_errors(const Language& language, const TypeChecker& checker,
                                                              const std::string& tree, const Stop& stop);
    /// What the language's syntax command says of these files, by its `error` pattern.
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
    std::map<std::string, Language> languages_;              ///< By tree.
    std::map<std::string, TestRun, std::less<>> runs_;       ///< By tree and files.
    std::map<std::string, Declared> declared_;               ///< By tree and interfaces.
    std::map<std::string, std::set<std::string>> at_stubs_;  ///< By tree and files: ids of tests that come to a stub.
    json::object specification_;                             ///< Of the call.
    std::map<std::string, std::set<std::string>>
        to_be_changed_;  ///< By file, functions that the specification of the call declares.
    std::map<std::string, LanguageCommands::LinesRun> lines_;  ///< By tree, and files where the command takes some.
    std::map<std::string, std::vector<std::string>> files_;    ///< By tree.
    std::optional<std::vector<ConformanceCheck>> checks_;
    Globs integration_;
    MentionIndex mentions_;
    std::string mentions_tree_;                                         ///< What `mentions_` is of; empty: of nothing.
    std::map<std::string, std::map<std::string, std::string>> behind_;  ///< behind_links, by tree.
    std::set<std::string> meant_;                                       ///< Trees on which new tests proved meaningful.
    std::set<std::string> built_;  ///< Trees that build, with the folder: `judged <tree>`, `kept <tree>`.
    bool judging_ = false;         ///< The gate that is running is a phase's.
};

}  // namespace agentforge::kernel
