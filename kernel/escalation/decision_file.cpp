// SPDX-License-Identifier: Apache-2.0
#include "escalation/decision_file.hpp"

#include <utility>

namespace agentforge::kernel {

std::string decision_file(std::string_view stage, unsigned version, bool is_approval) {
    return "iteration_history/" + std::string(stage) + "/v" + std::to_string(version) +
           (is_approval ? "_approval.yaml" : "_feedback.yaml");
}

json::object decision_document(const DecidedVersion& version, const ArtifactDecision& decision, std::string_view time) {
    json::object entry{
        {"task_id", version.task_id}, {"stage", version.stage}, {"iteration", version.number}, {"decision", decision.decision}};
    entry[decision.approved() ? "artifact" : "previous_version"] = version.artifact;
    entry["artifact_hash"] = version.artifact_hash;
    if (!decision.feedback.empty()) { entry["overall_comments"] = decision.feedback; }
    if (!decision.issues.empty()) { entry["specific_issues"] = to_json(decision.issues); }
    entry["decided_by"] = decision.decided_by;
    entry["timestamp"] = time;
    return {{decision.approved() ? "approval" : "feedback", std::move(entry)}};
}

}  // namespace agentforge::kernel
