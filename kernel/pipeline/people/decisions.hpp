// SPDX-License-Identifier: Apache-2.0
// Checks before a person's decision counts: it is bound to what the person was shown.
#pragma once

#include "pipeline/pipeline_controller.hpp"

namespace agentforge::kernel {

/// Checks that the files of the question and of the artifact still match their hashes. Errors: `conflict` AF-ESC-047 with the
/// file's name.
[[nodiscard]] Result<void> check_shown(const ControllerSetup& setup, const TaskState& state, const OpenQuestion& open);
/// Checks that a person's edit of a model's action is an action that the role may request. Path rules and the tool itself check
/// it when it runs. Errors: AF-ESC-039.
[[nodiscard]] Result<void> check_edited(const ControllerSetup& setup, const ApprovalRequest& request, json::object& edited);

struct MoreStages {
    records::Extension extension;
    records::Freshness freshness;
};
/// Checks that a person may end the task with the artifact that it shows. Errors: AF-EXT-012 its stage is not an exit point.
[[nodiscard]] Result<void> check_may_end(const TaskState& state);

/// Returns the stages to add when a person wants more. Errors: those of extension_of and check_freshness; AF-ORCH-053 the task
/// does not end here.
[[nodiscard]] Result<MoreStages> more_stages(const ControllerSetup& setup, const TaskState& state,
                                             const ArtifactDecision& decision);

}  // namespace agentforge::kernel
