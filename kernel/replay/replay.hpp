// SPDX-License-Identifier: Apache-2.0
// Repeats every recorded action of a task, without a model.
//
// A replay is a separate task: the same request, pipeline, stages, tool bridge, path rules, contracts and gates, driven by the
// same controller. Only the model's answers and people's decisions come from the journal of the recorded task. Nothing is
// simulated, and the gates measure everything that a replay delivers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "pipeline/pipeline_controller.hpp"
#include "replay/recorded_task.hpp"
#include "replay/replay_watch.hpp"

namespace agentforge::kernel {

/// The parts of the project that a replay needs. Everything must outlive the call.
struct ReplayPlace {
    TaskStore& tasks;  ///< Contains the recorded task, and its replay unless that is scratch.
    EscalationStore& escalations;
    const TaskServices& services;
    GitTaskWorkspaceOptions task_workspaces;
    ProcessRunner& processes;
    IdSource& ids;
    /// Observes the records of a scratch replay, which is not a task of the project. Null: none.
    RecordObserver* of_scratch = nullptr;
};

struct ReplayOptions {
    std::string onto;      ///< A branch. Empty: the commit on which the recorded task began.
    bool scratch = false;  ///< Deletes the replay's folder, worktrees and commits when it is over, and makes no ref. Only the
                           ///< comparison remains.
    json::object configuration = {};  ///< For the replay's task.yaml.
    std::function<Result<void>(json::object& configuration)> seal = {};
};

struct ReplayReport {
    PipelineResult result;  ///< Result of the replay, which is a separate task.
    std::string recorded_task;
    std::string recorded_tree;  ///< The tree that the recorded task delivered, or its workspace as last recorded.
    std::string tree;           ///< The same of the replay.
    bool same_base = true;
    ReplayCounts counts;
    std::vector<ReplayDifference> differences;
    /// True if the replay came as far as the recording without a difference.
    [[nodiscard]] bool as_recorded() const noexcept { return differences.empty(); }
};

/// Returns the base commit of a replay: the branch's, or the recorded one if `onto` is empty. The recorded one may no longer be
/// in the repository. Errors: AF-RPLY-004; AF-GIT-….
[[nodiscard]] Result<TaskBase> replay_base(const Repository& repository, const RecordedTask& recorded, const std::string& onto);

/// Replays a task from its beginning. If an action does not fit, the replay pauses with AF-RPLY-002. Errors (no task was
/// created): those of RecordedTask::read; AF-RPLY-004 no such branch; AF-GIT-… the base is no longer in the repository; those of
/// PipelineController::execute.
[[nodiscard]] Result<ReplayReport> replay_task(const ReplayPlace& place, std::string_view task_id, const ReplayOptions& options);

/// Continues a replay that stopped, and accepts everything that did not fit so far. Errors: AF-RPLY-008 the task is not a replay;
/// those of RecordedTask::read and PipelineController::resume.
[[nodiscard]] Result<ReplayReport> continue_replay(const ReplayPlace& place, std::string_view replay_id);

}  // namespace agentforge::kernel
