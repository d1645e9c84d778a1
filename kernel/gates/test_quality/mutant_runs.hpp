// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gates/engine/current_call.hpp"
#include "gates/language/tree_languages.hpp"
#include "gates/run/language_commands.hpp"
#include "gates/test_quality/altered_results.hpp"
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

/// Makes mutants of a change and runs tests on them. The evidence gets what the tests noticed. Keeps no state.
class MutantRuns {
public:
    /// All must outlive the object.
    MutantRuns(TreeCheckout& checkout, TreeLanguages& languages, LanguageCommands& commands, const CurrentCall& current)
        : checkout_(checkout), languages_(languages), commands_(commands), current_(current) {}

    /// Returns the mutants, by file, of the lines that differ between the trees (of `whole_files`: of all lines), except those
    /// whose changes only use the request's names. Errors: git's own.
    [[nodiscard]] Result<std::vector<std::vector<Mutant>>> mutants(const Language& language, const std::string& before_tree,
                                                                   const std::string& tree, bool whole_files,
                                                                   const std::string& request);
    /// Runs these test files on one mutant. Returns nothing if the mutant does not build, if its file is a link, or if time is up
    /// (`evidence.cut_short`).
    [[nodiscard]] Result<std::optional<TestRun>> run_mutant(const Language& language, const std::string& tree,
                                                            const std::vector<std::string>& files, const Mutant& mutant,
                                                            MutationRequest& request, TestQualityEvidence& evidence,
                                                            const Stop& stop);
    /// Runs tests on mutants of the change, as many as settings and time allow. If the request also removes something and a
    /// requirement is unproven, puts the removed lines back: no other mutant can be made of them. Errors: AF-GATE-005 cancelled;
    /// git's and the sandbox's own.
    [[nodiscard]] Result<void> try_mutants(const GateCall& call, MutationRequest& request, TestQualityEvidence& evidence,
                                           const Stop& stop);

private:
    /// A function that the change touches, with all its results altered.
    struct ResultMutant {
        std::string file;
        bool declared = false;  ///< True if the specification declares it.
        AlteredResults altered;
    };
    /// Runs these test files with other texts of files of the tree: see `run_mutant`.
    [[nodiscard]] Result<std::optional<TestRun>> run_instead(const Language& language, const std::string& tree,
                                                             const std::vector<std::string>& files,
                                                             std::map<std::string, std::string> instead, MutationRequest& request,
                                                             TestQualityEvidence& evidence, const Stop& stop);
    /// Puts removed lines back, all together and then place by place, until each requirement has a test that notices. They prove
    /// requirements only, and are no mutants of the code that is new.
    [[nodiscard]] Result<void> put_lines_back(const GateCall& call, const Language& language, MutationRequest& request,
                                              TestQualityEvidence& evidence, const Stop& stop);
    /// Returns a few functions that the specification declares, then a few others.
    [[nodiscard]] Result<std::vector<ResultMutant>> result_mutants(const GateCall& call, const Language& language,
                                                                   const std::string& before_tree);
    /// Runs the new and the held-out tests with the results of each declared function altered. If no such mutant builds, tries
    /// other functions until a test notices one.
    [[nodiscard]] Result<void> try_results(const GateCall& call, const Language& language, MutationRequest& request,
                                           TestQualityEvidence& evidence, const Stop& stop);

    TreeCheckout& checkout_;
    TreeLanguages& languages_;
    LanguageCommands& commands_;
    const CurrentCall& current_;
};

}  // namespace agentforge::kernel
