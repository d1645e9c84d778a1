// SPDX-License-Identifier: Apache-2.0
// The file that shows a person's decision on a version of an artifact: `iteration_history/<stage>/vN_approval.yaml` or
// `vN_feedback.yaml`. The audit makes it again and compares the bytes.
#pragma once

#include <string>
#include <string_view>

#include <agentforge/json.hpp>

#include "escalation/escalation_store.hpp"

namespace agentforge::kernel {

/// Returns the name of the file, below the task's folder.
[[nodiscard]] std::string decision_file(std::string_view stage, unsigned version, bool is_approval);

/// What was decided on.
struct DecidedVersion {
    std::string task_id;
    std::string stage;
    unsigned number = 0;
    std::string artifact;  ///< The file of the version, below the task's folder.
    std::string artifact_hash;
};

/// Returns the fields of the file. `time`: RFC 3339, UTC.
[[nodiscard]] json::object decision_document(const DecidedVersion& version, const ArtifactDecision& decision,
                                             std::string_view time);

}  // namespace agentforge::kernel
