// SPDX-License-Identifier: Apache-2.0
// Checks of an agent's work: the gates after an edit, and whether `complete` counts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contracts/contract.hpp"
#include "pipeline/agent_run/run_workspace.hpp"
#include "pipeline/kernel_call_context.hpp"

namespace agentforge::kernel {

class WorkChecks {
public:
    /// `contract`: of the artifact that the run hands in; none if its result is a text. `exit_gate`: empty if none judges it.
    /// `by_contract`: the artifacts so far. All arguments must outlive this.
    WorkChecks(OpenRun& run, RunWorkspace& workspace, KernelCallContext& context, const std::optional<Contract>& contract,
               const std::string& exit_gate, const ArtifactsByName& by_contract)
        : run_(run),
          workspace_(workspace),
          context_(context),
          contract_(contract),
          exit_gate_(exit_gate),
          by_contract_(by_contract) {}

    /// Runs the stage's checks of an edit. A check that cannot be measured is logged. Errors: the checks are unknown, or the
    /// workspace cannot be recorded.
    [[nodiscard]] Result<void> after_edit(const std::vector<std::string>& paths);
    /// Runs a gate on the current tree. Errors: those of `run_and_record_gate`.
    [[nodiscard]] Result<GateReport> run_gate(const GateRequest& request);
    /// Checks an artifact that the agent hands in: its contract, then the exit gate on the recorded tree, or the evidence if the
    /// artifact hands an earlier stage's work back. Errors: AF-ORCH-023 … 025, AF-ORCH-034, AF-ORCH-035; those of
    /// `run_and_record_gate`.
    [[nodiscard]] Result<void> complete(const json::object& artifact);
    /// Returns the verdicts of the newest gates, as agents see them.
    [[nodiscard]] Result<json::object> verification_status();

    /// Why the step's action could not be measured. The step is not recorded; its action is repeated on resume, without asking
    /// the model. An action that changed files is recorded first, because a person may have to look at them (a lockfile, for
    /// `agentforge setup TASK`).
    [[nodiscard]] const std::optional<Error>& unmeasurable() const noexcept { return unmeasurable_; }

private:
    [[nodiscard]] Result<GateReport> measured(const GateRequest& request, const json::object* candidate);
    [[nodiscard]] Result<GateReport> measured_for_action(const GateRequest& request, const json::object* candidate);
    [[nodiscard]] Result<void> satisfy_contract(const json::object& artifact);
    [[nodiscard]] Result<void> try_interfaces(const json::object& specification);
    [[nodiscard]] Result<void> find_outdated_tests(const json::object& specification);
    [[nodiscard]] Result<void> hand_back(const json::object& claim);
    [[nodiscard]] Result<void> pass_exit_gate(const json::object& artifact);

    OpenRun& run_;
    RunWorkspace& workspace_;
    KernelCallContext& context_;
    const std::optional<Contract>& contract_;
    const std::string& exit_gate_;
    const ArtifactsByName& by_contract_;
    std::optional<Error> unmeasurable_;
};

}  // namespace agentforge::kernel
