// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gates/language/tree_languages.hpp"
#include "gates/run/language_commands.hpp"

namespace agentforge::kernel {

/// A changed line, and the tests that run it. If it compares with a literal of the tests: the tests that run the code after it.
struct CoveredLine {
    std::string file;
    std::uint64_t line = 0;
    std::string special;             ///< The literal. Empty if the line compares with none.
    std::vector<std::string> tests;  ///< The first five.
};

/// Which of a task's changed lines the tests run.
struct Coverage {
    bool measured = false;  ///< False without problem and reason: the language has no coverage command, or nothing changed.
    std::string problem;    ///< Why a required measurement failed.
    std::string reason;     ///< Why it was skipped without failing: a tool is missing, or the command was killed.
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

/// Finds which of a task's changed lines its tests run, with the language's `coverage` command or the runner's. Keeps what the
/// runner's command counted, by tree and files.
class CoverageRuns {
public:
    /// All must outlive the object.
    CoverageRuns(TreeCheckout& checkout, TreeLanguages& languages, LanguageCommands& commands)
        : checkout_(checkout), languages_(languages), commands_(commands) {}

    /// Measures the coverage, by these test files, of the sources that differ from `base_tree`. A failing command is a `problem`.
    /// Errors: cancelled, git's own. `special_only`: returns only lines that compare with the tests' values; runs nothing if the
    /// text has none.
    [[nodiscard]] Result<Coverage> measure(const std::string& base_tree, const std::string& tree,
                                           const std::vector<std::string>& tests, bool special_only, const Stop& stop);

private:
    /// The same with the runner's coverage command, which reports only lines. `changed`: path → line numbers.
    [[nodiscard]] Result<Coverage> coverage_by_lines(const Language& language, const std::string& tree,
                                                     const json::object& changed, const std::vector<std::string>& tests,
                                                     bool special_only, const Stop& stop);

    TreeCheckout& checkout_;
    TreeLanguages& languages_;
    LanguageCommands& commands_;
    std::map<std::string, LanguageCommands::LinesRun> lines_;  ///< By tree, and by files if the command takes any.
};

}  // namespace agentforge::kernel
