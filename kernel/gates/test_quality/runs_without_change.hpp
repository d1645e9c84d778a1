// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "gates/engine/red_runs.hpp"
#include "gates/stubs/function_marks.hpp"
#include "gates/test_quality/mutant_runs.hpp"

namespace agentforge::kernel {

/// Runs RED's tests once more without the change, when it exists, to see that they fail without it. Keeps no state. Errors of all
/// functions: AF-GATE-005 cancelled; git's and the sandbox's own.
class RunsWithoutChange {
public:
    /// All must outlive the object.
    RunsWithoutChange(TreeCheckout& checkout, LanguageCommands& commands, RedRuns& red_runs, FunctionMarks& marks,
                      MutantRuns& mutants)
        : checkout_(checkout), commands_(commands), red_runs_(red_runs), marks_(marks), mutants_(mutants) {}

    /// Runs RED's files on RED's tree again, with the change added as comments if the language has them. The run
    /// replaces `red_run` of the evidence; `meaning` gets the tests that pass only with the comments.
    [[nodiscard]] Result<void> run_without_change(const Language& language, const std::string& red_tree, const std::string& tree,
                                                  GreenEvidence& evidence, TestQualityEvidence& meaning, const Stop& stop);
    /// For tests that do not load on RED's tree: runs RED's files on this tree with every function of the change altered to end
    /// any test that calls it. Returns an empty, trusted run if one of RED's files does not load here either.
    [[nodiscard]] Result<TestRun> run_without_bodies(const Language& language, const std::string& red_tree,
                                                     const std::string& tree, const GreenEvidence& evidence, const Stop& stop);

private:
    /// Returns RED's sources with the change added as comments.
    [[nodiscard]] Result<std::map<std::string, std::string>> change_as_comments(const Language& language,
                                                                                const std::string& red_tree,
                                                                                const std::string& tree);
    /// Runs the tests again that `run` lost because a mark ended their program, with marks that end none.
    [[nodiscard]] Result<void> run_lost_tests(const Language& language, const std::string& tree, const ChangedSources& sources,
                                              const GreenEvidence& evidence, TestRun& run, const Stop& stop);
    /// Constants, fields and expressions outside functions have no body to remove. A test that passed without the bodies counts
    /// as failing if it fails at an assertion when one of these lines is altered.
    [[nodiscard]] Result<void> alter_outside_functions(const Language& language, const std::string& red_tree,
                                                       const std::string& tree, const GreenEvidence& evidence, TestRun& run,
                                                       const Stop& stop);

    TreeCheckout& checkout_;
    LanguageCommands& commands_;
    RedRuns& red_runs_;
    FunctionMarks& marks_;
    MutantRuns& mutants_;
};

}  // namespace agentforge::kernel
