// SPDX-License-Identifier: Apache-2.0
// The pipeline controller: drives a task from request to delivery (001). It asks the machine what is
// next, does it, journals what came of it, and asks again. It decides nothing itself.
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
#include "config/pipelines.hpp"
#include "escalation/store.hpp"
#include "pipeline/entry/continuation.hpp"
#include "pipeline/entry/imports.hpp"
#include "pipeline/services.hpp"
#include "pipeline/session.hpp"
#include "pipeline/stage_host.hpp"
#include "pipeline/workspace.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// When a task that is asked to pause does so: at once, as after two Ctrl-C (what runs is stopped within 200 ms and done anew by
/// `resume`), or at the end of its step, as after one.
enum class PauseWhen : unsigned char { at_once = 1, after_step };

/// Asks the process that runs a task to save and end. `resume` goes on. Asked twice, the newer request holds. Where no process
/// runs it, nobody hears it.
[[nodiscard]] Result<void> ask_to_pause(const TaskStore& store, std::string_view task_id, std::string_view reason,
                                        PauseWhen when);

/// How a run of the controller ended; the program's exit code (Task 012, exit codes).
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
    Spend spend;                               ///< Of the whole task.
    std::vector<std::string> unpriced_models;  ///< Those with a call whose cost is not known.
    bool abandoned_thread = false;             ///< A plugin hangs on a thread of this process: end it without destructors.
};

/// How a task rests or has ended, as far as its records say so: why it paused is known to its own process alone.
[[nodiscard]] PipelineResult result_of(const TaskState& state);

/// What of a stage's `config` its plugin gets: not what the kernel itself reads.
[[nodiscard]] json::object plugin_settings(json::object config);

/// What a task stands on.
struct TaskBase {
    std::string commit;
    std::string tree;
    std::string branch;  ///< Empty: of no branch.
};

struct StartOptions {
    PipelineTemplate pipeline;
    std::optional<std::string> exit_after;
    bool supervised = false;
    bool interactive = false;          ///< Every action waits for a person.
    bool include_uncommitted = false;  ///< The task starts from the checkout as it is, not from the last commit.
    std::set<std::string> approve_stages;
    std::set<std::string> iterate_stages;  ///< Their artifacts are shown to a person, who approves or revises them.
    json::object configuration;            ///< Settings in force; goes into task.yaml.
    /// Marks `configuration` as this program's own, once nothing but writing it is left to do; may be empty.
    std::function<Result<void>(json::object& configuration)> seal;
    /// Is told the task's id before anything of the task is there; an error begins none. May be empty.
    std::function<Result<void>(const std::string& task_id)> named = {};
    std::optional<TaskBase> base = {};          ///< In place of the commit that the user is on.
    std::optional<std::string> replay_of = {};  ///< The task whose recorded answers this one is done with.
    std::string set_file = {};                  ///< Of the set that it is a part of (task_set.hpp); empty: of none.
    Entry entry = {};                           ///< Where it begins and what it is given: settled (`settle_entry`).
};

/// What became of putting a delivered change on a base that has moved.
struct RebaseResult {
    BaseDrift drift;    ///< Before it.
    bool done = false;  ///< False: there was nothing to do, or it was only looked at.
    std::string branch;
    std::string replaced;  ///< The commit before.
    std::string commit;
    std::string summary;  ///< Of the gate.
    std::string hooks;
    bool pushed_before = false;  ///< The branch that others see is still the old one.
};

struct ControllerSetup {
    TaskStore& store;
    TaskWorkspaceFactory& task_workspaces;
    EscalationStore& escalations;
    TaskServices& services;
    IdSource& ids;
    std::shared_ptr<EscalationHandler> handler;
    std::chrono::milliseconds wait{0};   ///< How long a person is waited for before the task pauses.
    std::string command = "agentforge";  ///< Shown by the lock.
    std::shared_ptr<EscalationHandler> present =
        {};  ///< Asks a person at the terminal for approvals and actions, and waits as long as it takes; null: nobody is there.
    AnswerRule answer_rule = {};  ///< Until when a person is to answer.
    /// Does what is due for an open question (HandlerGroup::process_due); called for the one that a resumed task waits with.
    /// Empty: nothing is.
    std::function<void(const std::string& id, CallContext& context)> process_due = {};
    /// The stages that may follow where a task ends (extension_of), with the templates in force.
    std::function<Result<records::Extension>(const TaskState& state, const std::string& extend_to)> extend = {};
};

/// What a person says of what a task shows. Bound to it by `id` (`APR-…`, `ACT-…`: each stands for one hash) or by `hash`, the
/// beginning of the hash that was shown; for an artifact both may be missing.
struct PersonDecision {
    bool approved = false;
    std::string feedback = {};  ///< With `approved` false: what is to be changed.
    std::optional<json::object> edited =
        {};  ///< Of an action that is approved: what is done in its place (`arguments`, and `tool` where it is another).
    std::string id = {};
    std::optional<std::string> hash = {};  ///< One that is there and empty fits nothing: whoever gives it wants to be bound.
    // Of an artifact alone.
    std::string decision = {};  ///< `reject` (`feedback`: why), `exit` or `extend`; empty: what `approved` and `feedback` say.
    std::vector<FeedbackIssue> issues = {};  ///< Places that are to be changed.
    ContinueOptions extension = {};          ///< With `extend`.
};

/// Whether a task can be made of these words. Errors: AF-ORCH-040 empty, too long, or no text.
[[nodiscard]] Result<void> check_request(std::string_view request);
constexpr std::size_t max_request_bytes = 256UL * 1024;
/// AF-ORCH-040 for a request whose size is all that is known of it; `size` in words: "300000", "more than 16777216".
[[nodiscard]] Error request_too_long(const std::string& size);
/// Whether these words say anything to the stage that is to run again. Errors: AF-ORCH-044 they do not.
[[nodiscard]] Result<void> check_feedback(std::string_view feedback);
/// Whether these words can be said to the model of a task that goes on. Errors: AF-ORCH-048 empty, too long, or no text.
[[nodiscard]] Result<void> check_guidance(std::string_view guidance);

enum class AbortOutcome { aborted, asked_to_stop, finished };

class PipelineController {
public:
    explicit PipelineController(ControllerSetup setup);

    /// The single entry point: creates a task and runs it until it ends or needs a person.
    /// Errors (nothing was created): AF-ORCH-040 empty or oversized request, AF-ORCH-041 unknown stage, AF-GIT-….
    [[nodiscard]] Result<PipelineResult> execute(std::string_view request, const StartOptions& options);
    /// Goes on with a task: after a crash, a pause, a failure, an answer. `guidance`: what a person says to the model
    /// (check_guidance); every context of the stage that hears it first holds it. Errors: AF-TASK-002, AF-TASK-003, AF-JRNL-002;
    /// AF-ORCH-049 no model would hear the guidance.
    [[nodiscard]] Result<PipelineResult> resume(std::string_view task_id, std::string_view guidance = {});
    /// A completed task that has delivered nothing goes on: with the stages that follow, or with its last artifact before a
    /// person again. What it has made is validated again, and must not be stale. A workspace without changes stands on the newest
    /// commit from then on. Errors (nothing was recorded): AF-ORCH-050 the task cannot be continued; those of extension_of,
    /// check_artifacts_again and check_freshness.
    [[nodiscard]] Result<PipelineResult> continue_ended(std::string_view task_id, const ContinueOptions& options);
    /// Ends a task for good. A task that another process runs is asked to stop; of one that was aborted before, what that left is
    /// removed. Errors: AF-ORCH-042 it has completed.
    [[nodiscard]] Result<AbortOutcome> abort(std::string_view task_id, std::string_view reason);
    /// Puts the change that a completed task has delivered on the newest commit of the branch that it began on: merged, measured
    /// there by the deliver gate and the commit hooks, committed, and the task's branch moved to that commit. Where any of it
    /// fails, nothing has changed. `only_look`: says what would be. Errors: AF-GIT-050 the task has delivered no commit;
    /// AF-GIT-051 the two changes conflict (paths are named); AF-GIT-052 the gate does not pass on the merged tree; AF-GIT-047,
    /// -048 hooks; AF-GIT-040 the branch is not where the task left it.
    [[nodiscard]] Result<RebaseResult> rebase(std::string_view task_id, bool only_look);
    /// Decisions about the artifact that a task shows; it goes on with `resume`. Errors: AF-ORCH-043 it shows none.
    [[nodiscard]] Result<void> approve(std::string_view task_id);
    [[nodiscard]] Result<void> reject(std::string_view task_id);
    [[nodiscard]] Result<void> provide_feedback(std::string_view task_id, std::string_view feedback);
    /// The same, of an action too. Returns the id of what was decided on. Errors also: AF-ESC-004 somebody was first; AF-ESC-035
    /// what is shown now is something else; AF-ESC-036 an action is decided on by its id or hash only: the task may show another
    /// one by now; AF-ESC-039 the changed action cannot be done; AF-ESC-037 an artifact cannot be changed here; AF-ESC-066 an
    /// action was to be decided on as an artifact; those of continue_ended for `extend`; AF-ESC-047 a file of what is approved
    /// was changed since it was shown.
    [[nodiscard]] Result<std::string> decide(std::string_view task_id, const PersonDecision& decision);

    /// The state as the journal has it; also while another process runs the task.
    [[nodiscard]] Result<TaskState> get_status(std::string_view task_id) const;
    [[nodiscard]] Result<TaskListing> list_tasks(const std::optional<TaskStatus>& status, std::size_t limit) const;

private:
    [[nodiscard]] Result<TaskBase> base_for(const StartOptions& options);
    ControllerSetup setup_;
};

}  // namespace agentforge::kernel
