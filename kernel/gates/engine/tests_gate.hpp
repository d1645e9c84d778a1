// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gates/engine/affected_tests.hpp"
#include "gates/engine/suite_runs.hpp"

namespace agentforge::kernel {

/// The gate `tests`: runs the tests that a call asks for, and counts their failures. With a baseline, failures from before the
/// task and flaky tests do not count. Keeps no state; SuiteRuns keeps the runs.
class TestsGate {
public:
    /// All must outlive the object.
    TestsGate(TreeCheckout& checkout, TreeLanguages& languages, LanguageCommands& commands, SuiteRuns& suite,
              AffectedTests& affected)
        : checkout_(checkout), languages_(languages), commands_(commands), suite_(suite), affected_(affected) {}

    /// Errors: of SuiteRuns and AffectedTests.
    [[nodiscard]] Result<GateReport> measure(const GateCall& call, const Stop& stop);

private:
    class Measurement;

    TreeCheckout& checkout_;
    TreeLanguages& languages_;
    LanguageCommands& commands_;
    SuiteRuns& suite_;
    AffectedTests& affected_;
};

}  // namespace agentforge::kernel
