// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gates/conformance/source_findings.hpp"
#include "gates/gate_runner.hpp"
#include "gates/test_quality/coverage_runs.hpp"

namespace agentforge::kernel {

/// The gate `conformance`: fails if a call's files have violations that the user's commit lacks. Keeps no state.
class ConformanceGate {
public:
    /// All must outlive the object.
    ConformanceGate(TreeCheckout& checkout, TreeLanguages& languages, LanguageCommands& commands, SourceFindings& findings,
                    CoverageRuns& coverage)
        : checkout_(checkout), languages_(languages), commands_(commands), findings_(findings), coverage_(coverage) {}

    /// Measures coverage only for a call with a baseline and without paths, if a check enforced here needs it. Errors: of
    /// SourceFindings and CoverageRuns.
    [[nodiscard]] Result<GateReport> measure(const GateCall& call, Enforcement enforcement, const Stop& stop);

private:
    class Measurement;

    TreeCheckout& checkout_;
    TreeLanguages& languages_;
    LanguageCommands& commands_;
    SourceFindings& findings_;
    CoverageRuns& coverage_;
};

}  // namespace agentforge::kernel
