// SPDX-License-Identifier: Apache-2.0
// Gates: what the kernel measures itself, on a recorded tree, in a second worktree where no agent works.
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

#include "base/cancel.hpp"
#include "gates/run/checkout.hpp"
#include "gates/run/command_log.hpp"
#include "git/repository.hpp"
#include "sandbox/process.hpp"

namespace agentforge::kernel {

/// RED's tests that the implementing stages do not see. The measured tree does not have them; the kernel runs them on one that
/// does.
struct HeldOut {
    std::vector<std::string> files;      ///< Empty: none are held out.
    std::string tree;                    ///< The measured tree with these files added.
    std::vector<TestOutcome> red_tests;  ///< All of RED's, as RED saw them.
    json::object test_suite;             ///< RED's artifact, with them.
};

/// What RED, GREEN, REFACTOR and DELIVER are measured against; all of it from the journal.
struct GateBaseline {
    std::string base_tree;                ///< The user's commit.
    std::vector<TestOutcome> base_tests;  ///< The suite before RED.
    std::vector<std::string>
        flaky;  ///< Ids of the suite before RED whose outcome was not the same each time: trusted neither way.
    std::vector<std::string> outdated;    ///< Ids of the suite before RED that the specification calls outdated, or that were
                                          ///< handed back: RED may change or remove them.
    std::string red_tree;                 ///< Tests and skeleton, no implementation.
    std::vector<TestOutcome> red_tests;   ///< RED's new tests and guards, as RED saw them.
    std::vector<std::string> test_files;  ///< Locked from RED to the commit.
    json::object specification;           ///< Artifact of SPEC.
    json::object test_suite;              ///< Artifact (or the model's answer) of RED: tests mapped to requirements.
    std::string request;                  ///< The user's words.
    std::string intent;                   ///< intake's extracted_intent.action: refactor and delete need guards only.
    HeldOut held_out;                     ///< For green and refactor. Everything above then excludes these tests.
};

struct GateCall {
    GateRequest request;
    std::string tree;  ///< What to measure.
    const GateBaseline* baseline = nullptr;
};

/// Dependencies that the gates of a tree need and that come from outside: a rule of the language's file whose lockfile the tree
/// has.
struct SetupStep {
    std::string name;                ///< Of the rule: `npm`.
    std::vector<std::string> files;  ///< Of the tree; their bytes and the command name the dependencies, so each is fetched once.
    std::vector<std::string> argv;   ///< Run with network, in a folder that has these files and nothing else of the tree.
    std::map<std::string, std::string> programs;  ///< What it brings to be run in place of others.
    std::string folder;                           ///< Where they are; gates can read it and nothing can write there any more.
    bool ready = false;
    bool required = true;  ///< False: gates try without, and ask once a tool says that something is missing.
};

/// Runs gates. Tests are run by commands that `config/languages/<name>.yaml` declares, confined: the tree is
/// read-only, scratch is outside, no network.
///   syntax, types, conformance, tests — one measurement each; `paths` narrows it. With a baseline, `tests` is not held up by
///   tests that
///              failed before or are flaky, unless they are RED's (facts: failed_before, flaky).
///   red      — every new test collected, run, and failing at an assertion or the skeleton's marker; each requirement
///              with verification_method `test` has one; guards pass; only test files and skeleton changed.
///              facts: all_tests_fail, no_implementation_exists, tests_exist, tests_are_valid, requirement_coverage_percent.
///   green    — exactly RED's ids from RED's bytes pass; each fails again with GREEN's change taken back; nothing that
///              passed before fails; syntax, types and conformance pass; test files unchanged.
///              facts: all_tests_pass, conformance_passing, no_regressions, type_check_passing, fails_without_change.
///   refactor — green's, plus quality metrics of conformance. facts: + complexity_acceptable, no_code_smells.
///   deliver  — the whole suite, conformance and the lock on tests on the very tree to be committed. facts: deployment_ready.
struct GateReadiness;

class GateRunner {
public:
    struct Options {
        std::string languages_directory;          ///< config/languages of the product.
        std::vector<std::string> more_languages;  ///< The user's and the project's own; a later one replaces one of its name.
        std::vector<std::string> conformance_directories;  ///< Product's, then project's.
        std::string scratch_directory;                     ///< Outside every worktree; made on demand.
        std::map<std::string, std::string> environment;
        json::object settings;  ///< `gates:` of the settings: command overrides, timeouts, thresholds.
        std::string language;   ///< Empty: detected from the tree.
        std::string
            dependencies_directory;  ///< Where dependencies are kept, for all tasks; empty: none are needed whatever a tree has.
        std::string setup = "ask";   ///< What is not there yet: `ask` a person (AF-GATE-100), fetch it `always`, `never` need it.
        std::int64_t baseline_runs = 2;                 ///< How often the suite is run before the task; not read here.
        bool held_out = true;                           ///< Whether tests may be held out; not read here.
        std::shared_ptr<std::vector<GateCommand>> log;  ///< Where commands are logged; null: the runner's own.
    };
    /// `verify` is the worktree that only gates use.
    GateRunner(const Repository& repository, Worktree& verify, ProcessRunner& processes, Options options);
    /// On trees from elsewhere (tests).
    GateRunner(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, Options options);
    ~GateRunner();

    /// Errors: AF-GATE-001 unknown gate, AF-GATE-002 no language detected and none configured, AF-GATE-003 the runner itself
    /// could not be run (missing program: named), AF-GATE-004 red, green, refactor and deliver need a baseline, AF-GATE-005
    /// cancelled, AF-GATE-006 an unknown parameter. A gate that does not pass is a report.
    /// Reports are cached by (gate, tree, paths, parameters, baseline) within this object. Parameters: `conformance` takes
    /// {"enforcement": "every_edit" | "all"}; `tests` takes {"run": 2} for a second run of what was run already, and
    /// {"scope": "affected"} for the test files that what changed since the user's commit may affect, and RED's; the other gates
    /// take none.
    [[nodiscard]] Result<GateReport> run(const GateCall& call, const Stop& stop);

    /// Returns the commands run since the last call, in order.
    [[nodiscard]] std::vector<GateCommand> take_commands();

    /// Contents of files with skeletons added: only what the interfaces declare, each body being the language's marker.
    /// Files that need no change are left out. Errors: `invalid` AF-GATE-030 naming each interface that cannot be declared.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop);

    /// Whether what a specification declares can be: writes the skeleton of its interfaces beside the tree, and has it compiled
    /// or checked where the project's language does. Errors: `invalid` AF-GATE-030 with what is wrong, the compiler's own words
    /// included; those of gates.
    [[nodiscard]] Result<void> try_specification(const std::string& tree, const json::object& specification, const Stop& stop);

    /// Names everything but the tree that decides what gates say: the languages' files, the conformance checks, the settings,
    /// PATH. What was measured with other inputs says nothing now. Errors: `io` AF-GATE-102 a file of these cannot be read.
    [[nodiscard]] Result<std::string> inputs();

    /// What somebody who finds no test suite is given to begin one (`scaffold` of the language's file): files to write, with
    /// their whole content. Nothing where the language needs none, or the tree has tests.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> scaffold(const std::string& tree);

    /// The dependencies of a tree. Errors: AF-GATE-002, git's own.
    [[nodiscard]] Result<std::vector<SetupStep>> setup_steps(const std::string& tree);
    /// Fetches those that are not ready. Whoever calls it has somebody's approval. Errors: AF-GATE-101 a command failed (its last
    /// words); AF-GATE-003 its program is missing; AF-GATE-005 cancelled.
    [[nodiscard]] Result<void> set_up(const std::string& tree, const Stop& stop);

    /// All that can be said before anything is measured: the settings and files that decide how gates measure are read, and what
    /// they need is looked for. Errors, where gates would come to them later: AF-GATE-002 (a language that is named and not
    /// there), AF-GATE-010, AF-GATE-012, AF-GATE-020, AF-GATE-021, AF-GATE-060, AF-GATE-080, AF-GATE-140…143. Where a setting is
    /// wrong, `where` is its key.
    [[nodiscard]] Result<GateReadiness> readiness(const std::string& tree);

    /// Whether a path is a test file by the globs of the language that judges it.
    [[nodiscard]] Result<bool> is_test_file(const std::string& tree, std::string_view path);
    /// What `@tests` and `@sources` mean in a tree. Where no language is found, what any language calls so.
    struct PathMeaning {
        std::function<bool(std::string_view)>
            tests;  ///< Tests, what stands beside them, and files that hold tests among other code.
        std::function<bool(std::string_view)> only_tests;  ///< Without the last.
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
/// `verification_status` of North Star 2.4.4, from the newest report of each gate.
[[nodiscard]] json::object verification_status(const std::vector<GateReport>& newest);

}  // namespace agentforge::kernel
