// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gates/engine/built_trees.hpp"
#include "gates/engine/rules.hpp"
#include "gates/language/tree_languages.hpp"
#include "gates/run/language_commands.hpp"

namespace agentforge::kernel {

/// Runs tests of a tree as they are. Keeps each trusted run for as long as the object lives, by tree, files and number; a run
/// that is not trusted may be due to the machine, so it is repeated. Errors of all runs: AF-GATE-002; AF-GATE-003 a program is
/// missing; AF-GATE-005 cancelled; git's and the sandbox's own.
class SuiteRuns {
public:
    /// All must outlive the object.
    SuiteRuns(TreeLanguages& languages, LanguageCommands& commands, const CurrentCall& current, BuiltTrees& built)
        : languages_(languages),
          commands_(commands),
          current_(current),
          built_(built),
          integration_(commands.settings().integration_tests) {}

    /// Another number is another run of the same files. While a phase is judged, only isolated builds count. `timeout`: the
    /// setting that limits it in place of `tests`, if set.
    [[nodiscard]] Result<TestRun> run_tests(const std::string& tree, const std::vector<std::string>& files, const Stop& stop,
                                            std::int64_t number = 1, const std::string& timeout = {});
    /// Runs single tests of these files, by the last part of their ids. Keeps no run.
    [[nodiscard]] Result<TestRun> run_single_tests(const std::string& tree, const std::vector<std::string>& files,
                                                   const std::set<std::string>& names, const Stop& stop);
    [[nodiscard]] bool is_integration_test(const std::string& path) const;
    /// Calls `run_tests` with a separate timeout for integration tests. Skips integration tests unless `integration` is set or
    /// `always` names them.
    [[nodiscard]] Result<TestRun> run_suite(const std::string& tree, const std::vector<std::string>& files, bool integration,
                                            const std::vector<std::string>& always, const Stop& stop, std::int64_t number = 1);
    /// Returns the flaky tests: they passed before the task, failed in this run, and passed in two more runs, alone and with the
    /// rest. Their failure is not a regression. Never includes RED's own tests. Empty if too many tests fail to be chance.
    [[nodiscard]] Result<std::vector<std::string>> flaky_tests(const GateBaseline& baseline, const std::string& tree,
                                                               const std::vector<std::string>& files, const TestRun& run,
                                                               const Stop& stop);
    /// For a project without tests: returns what prevents its runner from running the kernel's own canary tests, such as a
    /// missing package. Empty: nothing does, or the runner has to build something first.
    [[nodiscard]] Result<std::string> why_no_test_could_run(const std::string& tree, const Stop& stop);
    /// Runs the held-out tests of the call's baseline and judges them.
    [[nodiscard]] Result<Verdict> held_out(const GateCall& call, const Stop& stop);

private:
    TreeLanguages& languages_;
    LanguageCommands& commands_;
    const CurrentCall& current_;
    BuiltTrees& built_;
    Globs integration_;
    std::map<std::string, TestRun, std::less<>> runs_;  ///< By tree, files and number.
};

}  // namespace agentforge::kernel
