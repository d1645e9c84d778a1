// SPDX-License-Identifier: Apache-2.0
// Gates: the kernel's own measurements of a recorded tree, in a second worktree where no agent works.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/host.hpp>
#include <agentforge/stage.hpp>

#include "base/cancel_token.hpp"
#include "gates/run/command_log.hpp"
#include "gates/run/tree_checkout.hpp"
#include "git/repository.hpp"
#include "git/worktree.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {

/// RED's tests that the implementing stages do not see. The measured tree lacks them; the kernel runs them on one that has them.
struct HeldOut {
    std::vector<std::string> files;      ///< Empty: none are held out.
    std::string tree;                    ///< The measured tree with these files added.
    std::vector<TestOutcome> red_tests;  ///< All of RED's tests, as RED saw them.
    json::object test_suite;             ///< RED's artifact, including them.
};

/// What RED, GREEN, REFACTOR and DELIVER are measured against. Everything comes from the journal.
struct GateBaseline {
    std::string base_tree;                ///< Tree of the user's commit.
    std::vector<TestOutcome> base_tests;  ///< The suite before RED.
    std::vector<std::string> flaky;  ///< Ids from the suite before RED with varying outcomes: they count in neither direction.
    /// Ids from the suite before RED that the specification calls outdated, or that were handed back: RED may change or remove
    /// them.
    std::vector<std::string> outdated;
    std::string red_tree;                 ///< Tests and skeleton, no implementation. Empty: the gate compares with `base_tree`.
    std::vector<TestOutcome> red_tests;   ///< RED's new tests and guards, as RED saw them.
    std::vector<std::string> test_files;  ///< Locked from RED to the commit.
    json::object specification;           ///< Artifact of SPEC.
    json::object test_suite;              ///< Artifact (or the model's answer) of RED: tests mapped to requirements.
    std::string request;                  ///< The user's words.
    std::string intent;                   ///< intake's extracted_intent.action. refactor and delete need guards only.
    std::string verified_tree;            ///< For deliver: the tree that GREEN or REFACTOR was passed with. Empty: none.
    HeldOut held_out;                     ///< For green and refactor. Everything above then excludes these tests.

    /// Returns the tree that the measured one is compared with.
    [[nodiscard]] const std::string& compared_tree() const { return red_tree.empty() ? base_tree : red_tree; }
};

struct GateCall {
    GateRequest request;
    std::string tree;  ///< The tree to measure.
    const GateBaseline* baseline = nullptr;
};

/// External dependencies that the gates of a tree need: a rule of the language's file whose lockfile the tree has.
struct SetupStep {
    std::string name;  ///< Name of the rule: `npm`.
    /// Files of the tree. Their bytes and the command identify the dependencies, so each set is fetched once.
    std::vector<std::string> files;
    std::vector<std::string> argv;                ///< Runs with network, in a folder with only these files of the tree.
    std::map<std::string, std::string> programs;  ///< Programs that it provides in place of others.
    /// The folder with the dependencies. Gates can read it; it is no longer writable.
    std::string folder;
    bool ready = false;
    bool required = true;  ///< False: gates try without, and ask only when a tool reports something missing.
};

struct GateReadiness;

/// Runs gates. Commands from `config/languages/<name>.yaml` run the tests, confined: the tree is read-only, scratch is outside
/// it, no network.
///   syntax, types, conformance, tests
///              one measurement each; `paths` narrows it. With a baseline, tests that failed before or are flaky do not fail
///              `tests`, unless they are RED's (facts: failed_before, flaky).
///   red        every new test was collected, run, and failed at an assertion or the skeleton's marker; each requirement with
///              verification_method `test` has one; guards pass; only test files and skeleton changed.
///              facts: all_tests_fail, no_implementation_exists, tests_exist, tests_are_valid, requirement_coverage_percent.
///   green      exactly RED's ids from RED's bytes pass; each fails again without GREEN's change; nothing that passed before
///              fails; syntax, types and conformance pass; test files are unchanged.
///              facts: all_tests_pass, conformance_passing, no_regressions, type_check_passing, fails_without_change.
///   refactor   as green, plus quality metrics of conformance. facts: + complexity_acceptable, no_code_smells.
///   deliver    the whole suite, conformance and the lock on tests, on the very tree to commit. facts: deployment_ready.
class GateRunner {
public:
    struct Options {
        std::string languages_directory;  ///< config/languages of the product.
        /// The user's and the project's own. A later one replaces an earlier one of the same name.
        std::vector<std::string> more_languages;
        std::vector<std::string> conformance_directories;  ///< The product's, then the project's.
        std::string scratch_directory;                     ///< Outside every worktree. Created on demand.
        std::map<std::string, std::string> environment;
        json::object settings;  ///< `gates:` of the settings: command overrides, timeouts, thresholds.
        std::string language;   ///< Empty: detected from the tree.
        /// Where dependencies are kept, for all tasks. Empty: none are needed, whatever a tree has.
        std::string dependencies_directory;
        /// For missing dependencies: `ask` a person (AF-GATE-100), `always` fetch, or `never` need them.
        std::string setup = "ask";
        std::int64_t baseline_runs = 2;                 ///< How often the suite runs before the task. Not read here.
        bool held_out = true;                           ///< Whether tests may be held out. Not read here.
        std::shared_ptr<std::vector<GateCommand>> log;  ///< Log of commands. Null: the runner's own.
    };
    /// `verify`: the worktree that only gates use.
    GateRunner(const Repository& repository, Worktree& verify, ProcessRunner& processes, Options options);
    /// For trees from elsewhere (tests).
    GateRunner(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, Options options);
    ~GateRunner();

    /// Runs a gate. A failing gate is a report, not an error. Caches reports by (gate, tree, paths, parameters, baseline) within
    /// this object. Parameters: `conformance` takes {"enforcement": "every_edit" | "all"}; `tests` takes {"run": 2} for a second
    /// run of the same, and {"scope": "affected"} for the test files that the changes since the user's commit may affect, and
    /// RED's. The other gates take none.
    /// Errors: AF-GATE-001 unknown gate, AF-GATE-002 no language detected and none configured, AF-GATE-003 the runner could not
    /// be run (names a missing program), AF-GATE-004 red, green, refactor and deliver need a baseline, AF-GATE-005 cancelled,
    /// AF-GATE-006 unknown parameter.
    [[nodiscard]] Result<GateReport> run(const GateCall& call, const Stop& stop);

    /// Returns the commands run since the last call, in order.
    [[nodiscard]] std::vector<GateCommand> take_commands();

    /// Returns the contents of files with skeletons added: only what the interfaces declare, with the language's marker as each
    /// body. Omits files that need no change. Errors: `invalid` AF-GATE-030 naming each interface that cannot be declared.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop);

    /// Checks that a specification's declarations are possible: writes the skeleton of its interfaces beside the tree and, if the
    /// project's language allows, compiles or checks it. Errors: `invalid` AF-GATE-030 with the fault, including the compiler's
    /// message; those of gates.
    [[nodiscard]] Result<void> try_specification(const std::string& tree, const json::object& specification, const Stop& stop);

    /// Returns the identity of everything except the tree that decides gate results: the languages' files, the conformance
    /// checks, the settings, PATH. Measurements with other inputs are no longer valid. Errors: `io` AF-GATE-102 one of these
    /// files cannot be read.
    [[nodiscard]] Result<std::string> inputs();

    /// Returns the files to start a test suite with, complete (`scaffold` of the language's file). Nothing if the language needs
    /// none, or if the tree has tests.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> scaffold(const std::string& tree);

    /// Returns the dependencies of a tree. Errors: AF-GATE-002, git's own.
    [[nodiscard]] Result<std::vector<SetupStep>> setup_steps(const std::string& tree);
    /// Fetches the missing ones. The caller must have a person's approval. Errors: AF-GATE-101 a command failed (its last words);
    /// AF-GATE-003 its program is missing; AF-GATE-005 cancelled.
    [[nodiscard]] Result<void> set_up(const std::string& tree, const Stop& stop);

    /// Preflight: reads the settings and files that decide how gates measure, and looks for what they need. Errors that gates
    /// would otherwise hit later: AF-GATE-002 (a named language does not exist), AF-GATE-010, AF-GATE-012, AF-GATE-020,
    /// AF-GATE-021, AF-GATE-060, AF-GATE-080, AF-GATE-140…143. For a wrong setting, `where` is its key.
    [[nodiscard]] Result<GateReadiness> readiness(const std::string& tree);

    /// True if a path is a test file by the globs of the language that judges it.
    [[nodiscard]] Result<bool> is_test_file(const std::string& tree, std::string_view path);
    /// The meaning of `@tests` and `@sources` in a tree. If no language is found, that of all languages together.
    struct PathMeaning {
        /// Tests, their support files, and files that contain tests among other code.
        std::function<bool(std::string_view)> tests;
        std::function<bool(std::string_view)> only_tests;  ///< Without the last kind.
        std::function<bool(std::string_view)> sources;
        std::string tests_text;  ///< The globs, for messages.
        std::string sources_text;
    };
    /// Valid as long as this object.
    [[nodiscard]] Result<PathMeaning> path_meaning(const std::string& tree);

private:
    struct State;
    std::unique_ptr<State> state_;
};

[[nodiscard]] std::string_view to_string(TestStatus status) noexcept;
[[nodiscard]] json::object to_json(const GateReport& report);
[[nodiscard]] Result<GateReport> gate_report_from_json(const json::object& value);
/// Returns the field `verification_status`, from the latest report of each gate.
[[nodiscard]] json::object verification_status(const std::vector<GateReport>& newest);

}  // namespace agentforge::kernel
