// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "gates/conformance/conformance_gate.hpp"
#include "gates/engine/locked_files.hpp"
#include "gates/engine/red_runs.hpp"
#include "gates/engine/source_checks.hpp"
#include "gates/engine/violation_fix.hpp"
#include "gates/test_quality/altered_runs.hpp"
#include "gates/test_quality/change_checks.hpp"
#include "gates/test_quality/coverage_runs.hpp"
#include "gates/test_quality/runs_without_change.hpp"

namespace agentforge::kernel {

/// The gates `green`, `refactor`, `fix` and `deliver`: gathers the evidence from recorded trees only, and judges it with
/// `judge_green` or `judge_deliver`, `judge_held_out` and `judge_test_quality`. Keeps the trees whose tests it has measured as
/// meaningful, and does not measure these again.
class AfterRedGate {
public:
    /// What measures for the gate. All must outlive it.
    struct Parts {
        TreeCheckout& checkout;
        TreeLanguages& languages;
        LanguageCommands& commands;
        SuiteRuns& suite;
        RedRuns& red_runs;
        SourceChecks& checks;
        ConformanceGate& conformance;
        ViolationFix& fix;
        LockedFiles& locked;
        CoverageRuns& coverage;
        ChangeChecks& change;
        RunsWithoutChange& without_change;
        AlteredRuns& altered;
        MutantRuns& mutants;
    };
    explicit AfterRedGate(const Parts& parts) : parts_(parts) {}

    /// The call needs a baseline. Errors: those of the parts.
    [[nodiscard]] Result<GateReport> judge(const GateCall& call, const Stop& stop);

private:
    class Judgment;

    Parts parts_;
    std::set<std::string> meaningful_;  ///< Trees on which the new tests proved meaningful.
};

}  // namespace agentforge::kernel
