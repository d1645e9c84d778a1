// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include "gates/language/tree_languages.hpp"
#include "gates/run/language_commands.hpp"
#include "gates/stubs/function_marks.hpp"
#include "gates/test_quality/mutant_runs.hpp"
#include "gates/test_quality/other_expectations.hpp"

namespace agentforge::kernel {

/// Runs tests of a change in altered surroundings: with other expected values, code in another form, former versions of tests,
/// or as a user would. Each function adds what it saw to the evidence, and runs nothing if there is nothing to alter. Keeps no
/// state. The calls need a baseline. Errors of all functions: AF-GATE-005 cancelled; git's and the sandbox's own.
class AlteredRuns {
public:
    /// All must outlive the object.
    AlteredRuns(TreeCheckout& checkout, TreeLanguages& languages, LanguageCommands& commands, FunctionMarks& marks)
        : checkout_(checkout), languages_(languages), commands_(commands), marks_(marks) {}

    /// Runs RED's files as a user would, without the kernel's recorder.
    [[nodiscard]] Result<void> run_plainly(const GateCall& call, const std::string& red_tree, const GreenEvidence& green,
                                           TestQualityEvidence& evidence, const Stop& stop);
    /// Runs, on this tree's code, the former versions of tests that passed before the task and were removed or changed as
    /// outdated. Adds their outcomes to `removed` and `outdated` of the evidence.
    [[nodiscard]] Result<void> run_former_tests(const GateCall& call, const GreenEvidence& green, TestQualityEvidence& evidence,
                                                const Stop& stop);
    /// Runs RED's tests once with altered expected values.
    [[nodiscard]] Result<void> run_with_other_expectations(const GateCall& call, const GreenEvidence& green,
                                                           MutationRequest& request, TestQualityEvidence& evidence,
                                                           const Stop& stop);
    /// Runs RED's files on the same code with an added statement that has no effect. A test that then fails depends on how the
    /// code is written, not on what it does.
    [[nodiscard]] Result<void> run_in_another_form(const GateCall& call, const GreenEvidence& green,
                                                   TestQualityEvidence& evidence, const Stop& stop);
    /// Runs RED's tests once with functions of lists of numbers that call themselves with other lists (varied_calls.hpp).
    [[nodiscard]] Result<void> vary_calls(const GateCall& call, const GreenEvidence& green, TestQualityEvidence& evidence,
                                          const Stop& stop);

private:
    /// Returns the former texts of changed test files, without those in `besides`: their fixtures and helpers.
    [[nodiscard]] Result<std::map<std::string, std::string>> former_support(const Language& language, const GateCall& call,
                                                                            const std::map<std::string, std::string>& besides);
    /// Returns the ids of outdated tests whose lines the task has changed or removed.
    [[nodiscard]] Result<std::set<std::string>> changed_as_outdated(const Language& language, const GateCall& call);
    /// Returns the test files in which a test that is not outdated has more cases in one of its lines.
    [[nodiscard]] Result<std::set<std::string>> files_with_more_cases(const Language& language, const GateCall& call);

    TreeCheckout& checkout_;
    TreeLanguages& languages_;
    LanguageCommands& commands_;
    FunctionMarks& marks_;
};

}  // namespace agentforge::kernel
