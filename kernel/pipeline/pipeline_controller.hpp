// SPDX-License-Identifier: Apache-2.0
// The pipeline controller: drives a task from request to delivery. Asks the machine what is next, does it, journals the outcome,
// and asks again. Decides nothing itself.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "config/pipeline_set.hpp"
#include "escalation/escalation_store.hpp"
#include "pipeline/entry/continuation.hpp"
#include "pipeline/entry/imports.hpp"
#include "pipeline/stage_host.hpp"
#include "pipeline/task_services.hpp"
#include "pipeline/task_session.hpp"
#include "pipeline/task_workspace.hpp"
#include "pipeline/task_workspace_factory.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// When a pause takes effect: at once, as after two Ctrl-C (running work is stopped within 200 ms and repeated by `resume`), or
/// at the end of the step, as after one.
enum class PauseWhen : unsigned char { at_once = 1, after_step };

/// Asks the process that runs a task to save and exit; `resume` continues the task. A second request replaces the first. Has no
/// effect if no process runs the task.
[[nodiscard]] Result<void> ask_to_pause(const TaskStore& store, std::string_view task_id, std::string_view reason,
                                        PauseWhen when);

/// How a run of the controller ended; the program's exit code.
enum class ExitCode : int {
    done = 0,
    failed = 1,
    usage = 2,
    stage_timeout = 20,
    cycle_limit = 21,
    person_needed = 22,
    cancelled = 23
};

struct PipelineResult {
    bool success = false;
    std::string task_id;
    TaskStatus status = TaskStatus::pending;
    std::string current_stage;
    std::optional<json::object> deliverable;  ///< Artifact of the stage where the pipeline ended.
    std::optional<Error> error;
    std::vector<std::string> stages_completed;
    std::string waiting_for;  ///< `approval`, `action`, `escalation` or empty.
    std::string waiting_id;
    std::chrono::milliseconds duration{0};
    ExitCode exit_code = ExitCode::failed;
    Spend spend;                               ///< Total of the task.
    std::vector<std::string> unpriced_models;  ///< Models with a call whose cost is unknown.
    /// A plugin hangs on a thread of this process, so the process must exit without running destructors.
    bool abandoned_thread = false;
};

/// Returns the result of a task that has ended, pauses or waits, as far as the records say: only its own process knows why it
/// paused.
[[nodiscard]] PipelineResult result_of(const TaskState& state);

/// Returns the part of a stage's `config` that its plugin gets, without the keys that the kernel reads.
[[nodiscard]] json::object plugin_settings(json::object config);

/// The commit that a task starts from.
struct TaskBase {
    std::string commit;
    std::string tree;
    std::string branch;  ///< Empty: no branch.
};

struct StartOptions {
    PipelineTemplate pipeline;
    std::optional<std::string> exit_after;
    bool supervised = false;
    bool interactive = false;          ///< Every action waits for a person.
    bool include_uncommitted = false;  ///< Start from the checkout with its uncommitted changes, not from the last commit.
    std::set<std::string> approve_stages;
    std::set<std::string> iterate_stages;  ///< Stages whose artifacts a person approves or revises.
    json::object configuration;            ///< Settings in force; written to task.yaml.
    /// Seals `configuration` as this program's own, right before it is written. May be empty.
    std::function<Result<void>(json::object& configuration)> seal;
    /// Called with the task's id before anything of the task is written. An error prevents the task. May be empty.
    std::function<Result<void>(const std::string& task_id)> named = {};
    std::optional<TaskBase> base = {};          ///< In place of the commit that the user is on.
    std::optional<std::string> replay_of = {};  ///< The task whose recorded answers this task replays.
    bool repeats_people = false;                ///< Some of these answers are people's.
    std::string set_file =
        {};            ///< Of the set that it is a part of, or whose specification it writes (task_set.hpp); empty: of none.
    Entry entry = {};  ///< Where it begins and what it is given, as `resolve_entry` returns it.
};

/// The outcome of rebasing a delivered change.
struct RebaseResult {
    BaseDrift drift;            ///< Before the rebase.
    bool since_rebase = false;  ///< The drift counts from an earlier rebase, not from the task's beginning.
    bool done = false;          ///< False: there was nothing to do, or this was a dry run.
    std::string branch;
    std::string replaced;  ///< The previous commit.
    std::string commit;
    std::string summary;  ///< Summary of the gate.
    std::string hooks;
    bool pushed_before = false;  ///< The remote branch still has the old commit.
};

struct ControllerSetup {
    TaskStore& store;
    TaskWorkspaceFactory& task_workspaces;
    EscalationStore& escalations;
    TaskServices& services;
    IdSource& ids;
    std::shared_ptr<EscalationHandler> handler;
    std::chrono::milliseconds wait{0};   ///< How long to wait for a person before the task pauses.
    std::string command = "agentforge";  ///< Shown by the lock.
    /// Asks the person at the terminal for approvals and actions, and waits without limit. Null: there is no terminal.
    std::shared_ptr<EscalationHandler> present = {};
    DeadlinePolicy deadline_policy = {};  ///< The deadline for a person's answer.
    /// Processes due actions of an open question (HandlerGroup::process_due). Called for the question that a resumed task waits
    /// for. May be empty.
    std::function<void(const std::string& id, CallContext& context)> process_due = {};
    /// Returns the stages that may follow the task's end (extension_of), from the templates in force.
    std::function<Result<records::Extension>(const TaskState& state, const std::string& extend_to)> extend = {};
};

/// A person's decision about an artifact or action. `id` (`APR-…`, `ACT-…`: each stands for one hash) or `hash`, the beginning of
/// the hash that was shown, binds it to what the person saw. For an artifact both may be missing.
struct PersonDecision {
    bool approved = false;
    std::string feedback = {};  ///< If `approved` is false: the changes to make.
    /// For an approved action: the action to do instead (`arguments`, and `tool` if it is another).
    std::optional<json::object> edited = {};
    std::string id = {};
    std::optional<std::string> hash = {};  ///< Set but empty matches nothing: the caller wants the decision to be bound.
    // For artifacts only:
    std::string decision = {};  ///< `reject` (`feedback`: why), `exit` or `extend`. Empty: `approved` and `feedback` decide.
    std::vector<FeedbackIssue> issues = {};  ///< Places to change.
    ContinueOptions extension = {};          ///< For `extend`.
};

/// Checks that a task can be made from this request. Errors: AF-ORCH-040 empty, too long, or not text.
[[nodiscard]] Result<void> check_request(std::string_view request);
constexpr std::size_t max_request_bytes = 256UL * 1024;
/// Returns AF-ORCH-040 for a request whose size is all that is known. `size` in words: "300000", "more than 16777216".
[[nodiscard]] Error request_too_long(const std::string& size);
/// Checks that the feedback says something to the stage that runs again. Errors: AF-ORCH-044 it does not.
[[nodiscard]] Result<void> check_feedback(std::string_view feedback);
/// Checks that the guidance can be passed to the model of a resumed task. Errors: AF-ORCH-048 empty, too long, or not text.
[[nodiscard]] Result<void> check_guidance(std::string_view guidance);

/// `already_asked`: another command asked before, or is aborting the task now. `finished`: the task had been aborted before.
enum class AbortOutcome { aborted, asked_to_stop, already_asked, finished };

class PipelineController {
public:
    explicit PipelineController(ControllerSetup setup);

    /// Creates a task and runs it until it ends or needs a person. The single entry point. Errors (nothing was created):
    /// AF-ORCH-040 empty or oversized request, AF-ORCH-041 unknown stage, AF-GIT-….
    [[nodiscard]] Result<PipelineResult> execute(std::string_view request, const StartOptions& options);
    /// Continues a task after a crash, a pause, a failure or an answer. `guidance`: a person's words to the model
    /// (check_guidance), included in every context of the next stage that uses a model. Errors: AF-TASK-002, AF-TASK-003,
    /// AF-JRNL-002; AF-ORCH-049 no model would see the guidance.
    [[nodiscard]] Result<PipelineResult> resume(std::string_view task_id, std::string_view guidance = {});
    /// Continues a completed task that has delivered nothing: with the stages that follow, or by showing its last artifact to a
    /// person again. Its artifacts are validated again and must not be stale. A workspace without changes moves to the newest
    /// commit. Errors (nothing was recorded): AF-ORCH-050 the task cannot be continued; those of extension_of,
    /// check_artifacts_again and check_freshness.
    [[nodiscard]] Result<PipelineResult> continue_ended(std::string_view task_id, const ContinueOptions& options);
    /// Ends a task for good. If another process runs the task, asks it to stop; the first such request counts. If the task was
    /// aborted before, removes what that left. Errors: AF-ORCH-042 it has completed.
    [[nodiscard]] Result<AbortOutcome> abort(std::string_view task_id, std::string_view reason);
    /// Finishes ended tasks whose process was killed between the last record and the archive: writes the statement, then the
    /// archive. Skips tasks that another process holds. Failures are warnings.
    void archive_ended(const std::vector<std::string>& tasks);
    /// Rebases the change of a completed task onto the newest commit of the branch that it began on: merges it, measures it there
    /// by the deliver gate and the commit hooks, commits it, and moves the task's branch to that commit. If any of this fails,
    /// nothing has changed. `dry_run`: only reports what it would do. Errors: AF-GIT-050 the task has delivered no commit;
    /// AF-GIT-051 the two changes conflict (paths are named); AF-GIT-052 the gate does not pass on the merged tree; AF-GIT-047,
    /// -048 hooks; AF-GIT-040 the branch is not where the task left it.
    [[nodiscard]] Result<RebaseResult> rebase(std::string_view task_id, bool dry_run);
    /// Decide about the artifact that a task shows. `resume` then continues the task. Errors: AF-ORCH-043 it shows none.
    [[nodiscard]] Result<void> approve(std::string_view task_id);
    [[nodiscard]] Result<void> reject(std::string_view task_id);
    [[nodiscard]] Result<void> provide_feedback(std::string_view task_id, std::string_view feedback);
    /// Decides about an artifact or an action. Returns the id of what was decided on. Errors also: AF-ESC-004 another answer came
    /// first; AF-ESC-035 the task now shows something else; AF-ESC-036 a decision about an action needs its id or hash, because
    /// the task may show another one by now; AF-ESC-039 the changed action cannot be done; AF-ESC-037 an artifact cannot be
    /// changed here; AF-ESC-066 an action was to be decided on as an artifact; those of continue_ended for `extend`; AF-ESC-047 a
    /// file of the approved artifact changed since it was shown.
    [[nodiscard]] Result<std::string> decide(std::string_view task_id, const PersonDecision& decision);

    /// Returns the state in the journal, even while another process runs the task.
    [[nodiscard]] Result<TaskState> get_status(std::string_view task_id) const;
    [[nodiscard]] Result<TaskListing> list_tasks(const std::optional<TaskStatus>& status, std::size_t limit) const;

private:
    [[nodiscard]] Result<TaskBase> base_for(const StartOptions& options);
    ControllerSetup setup_;
};

}  // namespace agentforge::kernel
