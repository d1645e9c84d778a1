// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gates/conformance/source_findings.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel {

/// Judges, from recorded trees only, whether a violation was fixed without adding new ones. Keeps no state.
class ViolationFix {
public:
    /// Both must outlive the object.
    ViolationFix(TreeCheckout& checkout, SourceFindings& findings) : checkout_(checkout), findings_(findings) {}

    /// Writes into `report` whether the violation that the call names is gone, and which violations are new. The call needs a
    /// baseline. Errors: of SourceFindings; the parameter `violation` is none.
    [[nodiscard]] Result<void> judge(const GateCall& call, GateReport& report, const Stop& stop);

private:
    class Judgment;

    TreeCheckout& checkout_;
    SourceFindings& findings_;
};

}  // namespace agentforge::kernel
