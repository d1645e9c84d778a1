// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gates/conformance/conformance_gate.hpp"
#include "gates/engine/red_runs.hpp"
#include "gates/stubs/declarations.hpp"

namespace agentforge::kernel {

/// The gate `red`: gathers the evidence for judging RED, from recorded trees only, and judges it with `judge_red`. Keeps no
/// state.
class RedGate {
public:
    /// All must outlive the object.
    RedGate(TreeCheckout& checkout, TreeLanguages& languages, LanguageCommands& commands, RedRuns& red_runs,
            Declarations& declarations, ConformanceGate& conformance)
        : checkout_(checkout),
          languages_(languages),
          commands_(commands),
          red_runs_(red_runs),
          declarations_(declarations),
          conformance_(conformance) {}

    /// The call needs a baseline. Errors: of RedRuns, Declarations (except AF-GATE-030) and ConformanceGate.
    [[nodiscard]] Result<GateReport> judge(const GateCall& call, const Stop& stop);

private:
    class Judgment;

    TreeCheckout& checkout_;
    TreeLanguages& languages_;
    LanguageCommands& commands_;
    RedRuns& red_runs_;
    Declarations& declarations_;
    ConformanceGate& conformance_;
};

}  // namespace agentforge::kernel
