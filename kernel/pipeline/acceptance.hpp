// SPDX-License-Identifier: Apache-2.0
// Accepts artifacts: fills in measured facts, checks the contract and the exit gate, and writes the files of artifacts, their
// versions and their reviews.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "escalation/escalation_store.hpp"
#include "pipeline/open_task.hpp"

namespace agentforge::kernel {

class Acceptance {
public:
    explicit Acceptance(OpenTask& task) : task_(task) {}

    /// Fills in what the kernel measured, checks the contract and the exit gate, and records `artifact_accepted` or
    /// `artifact_rejected`. `spent`: milliseconds of agent time. The workspace must be open.
    [[nodiscard]] Result<void> accept(json::object artifact, std::uint64_t spent);
    /// Checks a review of the accepted artifact and records `review_finished`. If the review breaks its contract, returns why it
    /// does not count.
    [[nodiscard]] Result<std::optional<std::string>> accept_review(const AgentDefinition& reviewer, json::object review,
                                                                   std::uint64_t spent);
    /// Measures the exit gate again if settings or rules have changed since. Returns whether it did. `candidate`: the artifact
    /// being handed in. Null: the accepted artifact, which was waiting.
    [[nodiscard]] Result<bool> measure_again_if_stale(const json::object* candidate = nullptr);

    /// Writes a read-only `<name>_final.yaml` beside each artifact that has kept versions. Call when the task completes.
    [[nodiscard]] Result<void> save_finals();
    /// Writes the file of a person's decision. Copies the decided version beside the artifact.
    [[nodiscard]] Result<void> save_decision(const ArtifactDecision& decision);

private:
    /// Copies the stage's artifact file to `<name>_<version>.yaml` beside it. Returns its path.
    [[nodiscard]] Result<std::filesystem::path> save_version(const StageState& stage, const std::string& version);
    [[nodiscard]] Result<std::vector<std::string>> faults_of(const Contract& contract, const json::object& artifact,
                                                             const RuleContext& rules);
    /// Returns the faults in the parts of a set's specification. Errors: those of load_set.
    [[nodiscard]] Result<std::vector<std::string>> faults_of_set_parts(const json::object& specification) const;
    /// Returns whether each change that a person required was made. Empty if no person required one.
    [[nodiscard]] Result<std::vector<records::IssueAnswer>> answers_of(const json::object& artifact) const;
    [[nodiscard]] Result<std::string> save(const std::string& name, const Contract& contract, const json::object& artifact);

    OpenTask& task_;
};

}  // namespace agentforge::kernel
