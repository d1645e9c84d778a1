// SPDX-License-Identifier: Apache-2.0
// Acceptance of artifacts: measured facts, contract, exit gate; the files that keep an artifact, its versions and reviews.
#pragma once

#include <optional>
#include <string>

#include "escalation/store.hpp"
#include "pipeline/open_task.hpp"

namespace agentforge::kernel {

class Acceptance {
public:
    explicit Acceptance(OpenTask& task) : task_(task) {}

    /// Fills in what the kernel measured, checks the contract and the exit gate, and records `artifact_accepted` or
    /// `artifact_rejected`. `spent`: milliseconds of agent time. The workspace is open.
    [[nodiscard]] Result<void> accept(json::object artifact, std::uint64_t spent);
    /// Checks a review of the accepted artifact and records `review_finished`. Returns why the review does not count, where it
    /// breaks its contract.
    [[nodiscard]] Result<std::optional<std::string>> accept_review(const AgentDefinition& reviewer, json::object review,
                                                                   std::uint64_t spent);
    /// Measures the exit gate again where settings or rules changed while the accepted artifact waited. Returns whether it did.
    [[nodiscard]] Result<bool> measure_again_if_stale();

    /// Keeps the current artifact's file under `<name>_<version>.yaml` beside it (spec README, 1); `final` is made read-only.
    [[nodiscard]] Result<void> save_version(const std::string& version);
    /// Keeps what a person decided in `iteration_history/<stage>/vN_feedback.yaml` or `vN_approval.yaml`, and the version that
    /// they decided on beside the artifact (North Star 13.6, B).
    [[nodiscard]] Result<void> save_decision(const ArtifactDecision& decision);
    /// Writes the current artifact's file again where it is gone; the journal has its bytes.
    [[nodiscard]] Result<void> restore_file();

private:
    [[nodiscard]] Result<std::vector<std::string>> faults_of(const Contract& contract, const json::object& artifact,
                                                             const RuleContext& rules);
    /// Of the specification of a set: what is wrong with its parts. Errors: those of load_set.
    [[nodiscard]] Result<std::vector<std::string>> faults_of_set_parts(const json::object& specification) const;
    /// What became of what a person said must change; empty where nobody did.
    [[nodiscard]] Result<json::array> answers_of(const json::object& artifact) const;
    [[nodiscard]] Result<std::string> save(const std::string& name, const Contract& contract, const json::object& artifact);

    OpenTask& task_;
};

}  // namespace agentforge::kernel
