// SPDX-License-Identifier: Apache-2.0
// A task that goes on after its end, or beyond it: which stages follow, and whether what was made so far still counts (North
// Star 13.8, 13.9).
#pragma once

#include <functional>
#include <string>

#include "config/pipelines.hpp"
#include "pipeline/session.hpp"
#include "pipeline/workspace.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

/// What `continue` may be asked for besides going on.
struct ContinueOptions {
    std::string extend_to;     ///< The stage to end with; empty: where the pipeline that follows ends.
    bool revise = false;       ///< The artifact of the last stage is shown to a person again.
    std::string accept_stale;  ///< Why artifacts that name changed files count all the same; empty: they do not.
};

/// The stages behind the current one, where the task ends: those left of its own template where it ended early, else those of the
/// template that continues it, from behind the stage of the same name or contract on. Errors: `invalid` AF-ORCH-052 nothing
/// follows, AF-ORCH-053 `extend_to` is none of the stages that follow.
[[nodiscard]] Result<records::Extension> extension_of(
    const TaskState& state, const std::function<Result<PipelineTemplate>(std::string_view name)>& pipelines,
    const std::string& extend_to);

/// The artifacts of the stages so far satisfy their contracts as they are now, and their files hold what was accepted. Errors:
/// AF-ORCH-051, AF-ORCH-054.
[[nodiscard]] Result<void> check_artifacts_again(const TaskSession& session, const ContractSet& contracts);

/// What a record says of the age of a task's artifacts. Errors: `conflict` AF-ORCH-055 they are, with each file and the commits,
/// unless `accepted` says why they count all the same; AF-ORCH-056 `accepted` is no text.
[[nodiscard]] Result<records::Freshness> check_freshness(const Staleness& staleness, const std::string& task_id,
                                                         const std::string& accepted);

}  // namespace agentforge::kernel
