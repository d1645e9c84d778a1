// SPDX-License-Identifier: Apache-2.0
// Continues a task after its end: which stages follow, and whether the artifacts so far still count.
#pragma once

#include <functional>
#include <string>

#include "config/pipeline_set.hpp"
#include "config/template_checks.hpp"
#include "pipeline/staleness.hpp"
#include "pipeline/task_session.hpp"
#include "pipeline/task_workspace.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

/// Options of `continue`.
struct ContinueOptions {
    std::string extend_to;     ///< The stage to end with. Empty: where the following pipeline ends.
    bool revise = false;       ///< Shows the artifact of the last stage to a person again.
    std::string accept_stale;  ///< Why artifacts that name changed files still count. Empty: they do not.
};

/// Returns the stages after the current one, where the task ends: the remaining stages of its own template if it ended early,
/// else the stages of the template that continues it, after the one of the same name or contract. Errors: `invalid` AF-ORCH-052
/// nothing follows, AF-ORCH-053 `extend_to` is not a stage that follows.
[[nodiscard]] Result<records::Extension> extension_of(
    const TaskState& state, const std::function<Result<PipelineTemplate>(std::string_view name)>& pipelines,
    const std::string& extend_to);

/// Returns what the stages of `pipeline` (the task's template, perhaps extended) can use from `first` on: the task's imports and
/// the artifacts of its stages so far.
[[nodiscard]] Beginning rest_of(const TaskState& state, const PipelineTemplate& pipeline, std::size_t first,
                                std::string_view exit);

/// Checks that the artifacts so far satisfy the current contracts and that their files are unchanged since acceptance. Errors:
/// AF-ORCH-051, AF-ORCH-054.
[[nodiscard]] Result<void> check_artifacts_again(const TaskSession& session, const ContractSet& contracts);

/// Returns a record of the age of a task's artifacts. Errors: `conflict` AF-ORCH-055 they are stale, with each file and the
/// commits, unless `accepted` says why they still count; AF-ORCH-056 `accepted` is not text.
[[nodiscard]] Result<records::Freshness> check_freshness(const Staleness& staleness, const std::string& task_id,
                                                         const std::string& accepted);

}  // namespace agentforge::kernel
