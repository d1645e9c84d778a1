// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gates/engine/suite_runs.hpp"
#include "gates/stubs/function_marks.hpp"

namespace agentforge::kernel {

/// Runs RED's files on RED's tree, where the code that they test is missing. Errors: of SuiteRuns and FunctionMarks.
class RedRuns {
public:
    /// All must outlive the object.
    RedRuns(TreeLanguages& languages, LanguageCommands& commands, SuiteRuns& suite, FunctionMarks& marks,
            const CurrentCall& current)
        : languages_(languages), commands_(commands), suite_(suite), marks_(marks), current_(current) {}

    /// Runs the files, with `mark_stub_failures`. `again`: runs even if there is a cached result.
    [[nodiscard]] Result<TestRun> run(const std::string& tree, const std::vector<std::string>& files, bool again,
                                      const Stop& stop);
    /// Marks tests that fail because code is not implemented yet. Such a test hits an error in the code's result (`result_errors`
    /// of the language), or misses a name that the specification has (`undeclared`), or ends with an error and reaches a stub of
    /// the project (`stubs` of the language) or a new function that the specification declares, or ends with an
    /// error and reaches a function of a file that the specification names, unless the error is one of a wrong test, such as a
    /// misspelled name. The last two cases need another run of these files each, in
    /// which each such function ends any test that reaches it. Their results are kept for the same tree, files and functions.
    [[nodiscard]] Result<void> mark_stub_failures(const Language& language, const std::string& tree,
                                                  const std::vector<std::string>& files, TestRun& run, const Stop& stop);

private:
    /// Returns the tests that end at a marked function.
    [[nodiscard]] Result<std::set<std::string>> tests_ending_at(std::map<std::string, std::string> marked,
                                                                const Language& language, const std::string& tree,
                                                                const std::vector<std::string>& files, const Stop& stop);
    /// Returns those of the run's tests whose error comes from code that has yet to be written or changed.
    [[nodiscard]] Result<std::set<std::string>> waiting_tests(const Language& language, const std::string& tree,
                                                              const std::vector<std::string>& files, const TestRun& run,
                                                              const Stop& stop);

    TreeLanguages& languages_;
    LanguageCommands& commands_;
    SuiteRuns& suite_;
    FunctionMarks& marks_;
    const CurrentCall& current_;
    std::map<std::string, std::set<std::string>> at_stubs_;  ///< By tree and files: ids of tests that reach a stub.
};

}  // namespace agentforge::kernel
