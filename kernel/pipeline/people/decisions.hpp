// SPDX-License-Identifier: Apache-2.0
// What a person decides is bound to what was shown: checks before a decision counts.
#pragma once

#include "pipeline/controller.hpp"

namespace agentforge::kernel {

/// The question's file and the artifact's must still hold what their hash is of. Source: North Star 4.3. Errors: `conflict`
/// AF-ESC-047 naming the file.
[[nodiscard]] Result<void> check_shown(const ControllerSetup& setup, const TaskState& state);
/// What a person makes of a model's action must be something that the role may ask for; its path rules and the tool itself judge
/// it when it is done. Errors: AF-ESC-039.
[[nodiscard]] Result<void> check_edited(const ControllerSetup& setup, const ApprovalRequest& request, json::object& edited);

struct MoreStages {
    records::Extension extension;
    records::Freshness freshness;
};
/// Whether a person may end the task with the artifact that it shows. Errors: AF-EXT-012 its stage is no exit point.
[[nodiscard]] Result<void> check_may_end(const TaskState& state);

/// The stages that follow where a person wants more of them. Errors: those of extension_of and check_freshness; AF-ORCH-053 the
/// task does not end here.
[[nodiscard]] Result<MoreStages> more_stages(const ControllerSetup& setup, const TaskState& state,
                                             const ArtifactDecision& decision);

}  // namespace agentforge::kernel
