// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "gates/engine/mention_index.hpp"
#include "gates/engine/suite_runs.hpp"

namespace agentforge::kernel {

/// Chooses the test files to run after an edit. Keeps the index of the tree that it saw last, and updates it for the next.
class AffectedTests {
public:
    /// All must outlive the object. `suite` says which tests are integration tests.
    AffectedTests(TreeCheckout& checkout, TreeLanguages& languages, LanguageCommands& commands, const SuiteRuns& suite)
        : checkout_(checkout), languages_(languages), commands_(commands), suite_(suite) {}

    /// Returns the test files of `suite` that the task's changes may affect, and RED's, without integration tests. All of them if
    /// it cannot tell. Errors: AF-GATE-005 cancelled; git's and the sandbox's own.
    [[nodiscard]] Result<std::vector<std::string>> files(const GateCall& call, const std::vector<std::string>& suite,
                                                         const Stop& stop);

private:
    TreeCheckout& checkout_;
    TreeLanguages& languages_;
    LanguageCommands& commands_;
    const SuiteRuns& suite_;
    MentionIndex mentions_;
    std::string mentions_tree_;  ///< The tree that `mentions_` describes. Empty: none.
};

}  // namespace agentforge::kernel
