// SPDX-License-Identifier: Apache-2.0
// Does every recorded action of a task again, without a model (North Star 5.3).
//
// A replay is a task of its own: the same request, pipeline, stages, tool bridge, path rules, contracts and gates, driven by the
// same controller. Only the model's answers and people's decisions come from the journal of the recorded task. So nothing is
// simulated, and whatever a replay delivers was measured.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "pipeline/controller.hpp"
#include "replay/recorded_task.hpp"
#include "replay/replay_watch.hpp"

namespace agentforge::kernel {

/// What a replay needs of the project; all of it outlives the call.
struct ReplayPlace {
    TaskStore& tasks;  ///< Where the recorded task is, and its replay, unless that is scratch.
    EscalationStore& escalations;
    const TaskServices& services;
    GitTaskWorkspaceOptions task_workspaces;
    ProcessRunner& processes;
    IdSource& ids;
    RecordObserver* of_scratch =
        nullptr;  ///< Told of the records of a scratch replay, which are no task of the project; null: nobody.
};

struct ReplayOptions {
    std::string onto;  ///< A branch; empty: the commit that the recorded task began on.
    bool scratch =
        false;  ///< The replay's folder, worktrees and commits go when it is over; no ref is made. Only the comparison stays.
    json::object configuration = {};  ///< For the replay's task.yaml.
    std::function<Result<void>(json::object& configuration)> seal = {};
};

struct ReplayReport {
    PipelineResult result;  ///< Of the replay, a task of its own.
    std::string recorded_task;
    std::string recorded_tree;  ///< What the recorded task delivered, or its workspace as recorded last.
    std::string tree;           ///< The same of the replay.
    bool same_base = true;
    ReplayCounts counts;
    std::vector<ReplayDifference> differences;
    /// The replay came as far as the recording, and nothing is different.
    [[nodiscard]] bool as_recorded() const noexcept { return differences.empty(); }
};

/// The commit that a replay stands on: the branch's, or where `onto` is empty the recorded one, which may have gone from the
/// repository meanwhile. Errors: AF-RPLY-004; AF-GIT-….
[[nodiscard]] Result<TaskBase> replay_base(const Repository& repository, const RecordedTask& recorded, const std::string& onto);

/// Replays a task from its beginning. Where an action does not fit, the replay pauses with AF-RPLY-002. Errors (no task was
/// made): those of RecordedTask::read; AF-RPLY-004 there is no such branch; AF-GIT-… the base is not in the repository any more;
/// those of PipelineController::execute.
[[nodiscard]] Result<ReplayReport> replay_task(const ReplayPlace& place, std::string_view task_id, const ReplayOptions& options);

/// Goes on with a replay that stopped: what did not fit so far is accepted. Errors: AF-RPLY-008 the task is no replay; those of
/// RecordedTask::read and PipelineController::resume.
[[nodiscard]] Result<ReplayReport> continue_replay(const ReplayPlace& place, std::string_view replay_id);

}  // namespace agentforge::kernel
