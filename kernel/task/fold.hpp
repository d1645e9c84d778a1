// SPDX-License-Identifier: Apache-2.0
// Applies one record to a task's state. Only task/fold*.cpp use it; all other code calls `fold` (task/state.hpp).
//
// The states of a task, and the records that lead from one to the next (`task_transitions` has each arrow):
//
//   pending ──task_started──▶ running ◀──task_resumed── paused, failed, running (its process died)
//   running ──task_paused, escalation_raised──▶ paused          paused ──escalation_resolved──▶ running
//   running ──approval_requested, action_asked──▶ awaiting_approval ──approval_decided, action_decided──▶ running
//   running ──task_completed──▶ completed ──task_continued──▶ paused, if nothing was delivered
//   running ──forked──▶ paused, as another task
//   pending, running, paused, awaiting_approval ──task_failed──▶ failed
//   any but completed ──task_aborted──▶ aborted; so do an escalation's `abort` and a rejected artifact
//
// The current stage while the task runs (StageProgress); "next" and "earlier" are that stage, in the state not_started:
//
//   not_started, failed ──stage_started──▶ executing ──artifact_accepted──▶ accepted ──stage_completed──▶ next
//   not_started, or accepted with tests from outside ──stage_skipped──▶ next
//   executing ──stage_failed, artifact_rejected──▶ failed
//   accepted ──review_finished that blocks, gate that fails──▶ failed
//   executing ──cycle_requested──▶ cycling ──cycle_started──▶ earlier
//   accepted ──approval_requested──▶ approving ──approval_decided──▶ accepted; with feedback: not_started; rejected: cycling
//   any ──stage_escalated──▶ asking ──escalation_raised──▶ escalated ──escalation_resolved──▶ not_started
//
// Invariants after every record. The random tests check each by its number (tests/unit/pipeline/invariants.hpp):
//   1. At most one stage is running, and it is the current one.
//   2. A stage with an exit gate is completed only if that gate passed, whole, on the tree that was handed in. Tests from
//      outside do not count before it passed either.
//   3. A stage is completed only after all its reviewers passed its artifact and, if required, a person approved it.
//   4. After a completed or aborted task, only events of its delivered commit are recorded. A completed task that has delivered
//      nothing may continue.
//   5. Only an executing stage changes the workspace. Exceptions of the kernel: it removes held-out tests and puts them back,
//      a cycle restores its stage's tree, and a task that continues after its end may move to a newer base.
//   6. A commit is delivered only from a tree on which the deliver gate passed.
//   7. The task goes back to a stage at most `max_cycles` times between two questions to a person about it.
//   8. A refused record changes nothing.
//   9. The files that the state names are below the task's folder.
//   10. The template of a completed stage never changes, whatever stages are added after it.
//   11. The task's state changes only as `task_transitions` says.
//   12. A stage that delivers is completed only after the task's change was delivered.
#pragma once

#include <string>
#include <string_view>

#include "task/state.hpp"

namespace agentforge::kernel {

struct TaskTransition {
    std::string_view record;
    TaskStatus from;
    TaskStatus to;
};

/// A state without an arrow for a record in this table refuses the record. All other records leave the state unchanged.
inline constexpr TaskTransition task_transitions[] = {
    {records::TaskStarted::type, TaskStatus::pending, TaskStatus::running},
    {records::TaskResumed::type, TaskStatus::paused, TaskStatus::running},
    {records::TaskResumed::type, TaskStatus::failed, TaskStatus::running},
    // A question to a person is still open.
    {records::TaskResumed::type, TaskStatus::paused, TaskStatus::paused},
    {records::TaskResumed::type, TaskStatus::awaiting_approval, TaskStatus::awaiting_approval},
    {records::TaskResumed::type, TaskStatus::running, TaskStatus::running},
    {records::TaskPaused::type, TaskStatus::pending, TaskStatus::paused},
    {records::TaskPaused::type, TaskStatus::running, TaskStatus::paused},
    {records::TaskPaused::type, TaskStatus::paused, TaskStatus::paused},
    {records::TaskPaused::type, TaskStatus::awaiting_approval, TaskStatus::awaiting_approval},
    {records::Forked::type, TaskStatus::running, TaskStatus::paused},
    {records::EscalationRaised::type, TaskStatus::running, TaskStatus::paused},
    {records::EscalationResolved::type, TaskStatus::paused, TaskStatus::running},
    {records::EscalationResolved::type, TaskStatus::paused, TaskStatus::aborted},
    {records::ApprovalRequested::type, TaskStatus::running, TaskStatus::awaiting_approval},
    {records::ApprovalDecided::type, TaskStatus::awaiting_approval, TaskStatus::running},
    {records::ApprovalDecided::type, TaskStatus::awaiting_approval, TaskStatus::aborted},
    {records::ActionAsked::type, TaskStatus::running, TaskStatus::awaiting_approval},
    {records::ActionDecided::type, TaskStatus::awaiting_approval, TaskStatus::running},
    {records::TaskCompleted::type, TaskStatus::running, TaskStatus::completed},
    {records::TaskContinued::type, TaskStatus::completed, TaskStatus::paused},
    {records::TaskFailed::type, TaskStatus::pending, TaskStatus::failed},
    {records::TaskFailed::type, TaskStatus::running, TaskStatus::failed},
    {records::TaskFailed::type, TaskStatus::paused, TaskStatus::failed},
    {records::TaskFailed::type, TaskStatus::awaiting_approval, TaskStatus::failed},
    {records::TaskAborted::type, TaskStatus::pending, TaskStatus::aborted},
    {records::TaskAborted::type, TaskStatus::running, TaskStatus::aborted},
    {records::TaskAborted::type, TaskStatus::paused, TaskStatus::aborted},
    {records::TaskAborted::type, TaskStatus::awaiting_approval, TaskStatus::aborted},
    {records::TaskAborted::type, TaskStatus::failed, TaskStatus::aborted},
};

class Fold {
public:
    Fold(TaskState& state, const json::object& record) : state_(state), record_(record) {}
    /// Applies the record and returns it as it was read.
    [[nodiscard]] Result<records::AnyRecord> apply();

private:
    /// Applies a record of one type. Each type that changes the state has a specialization: fold.cpp declares those of the other
    /// files and has the rest.
    template <class T>
    Result<void> on(const T&) {
        static_assert(sizeof(T) == 0, "this type needs a specialization in fold.cpp, or must say `only_informs`");
        return {};
    }
    template <class T>
    requires T::only_informs Result<void> on(const T&) { return {}; }

    // Shared by several records.
    [[nodiscard]] Result<void> take_entry(TaskState& fresh, const records::TaskCreated& created) const;
    void end(TaskStatus status);
    [[nodiscard]] Result<void> extend(const records::Extension& extension);
    void go_back_to(std::size_t index, const std::string& why);
    [[nodiscard]] Result<void> take_decision(const records::ApprovalDecided& decided, const std::string& word);
    void take_guidance(const std::optional<std::string>& guidance);
    void forget_guidance();
    void advance();
    void send_back(std::string why);
    void start_new_round();
    void begin_effort(StageState& stage);
    void made_progress();
    void count_effort(const std::string& gate, const GateState& measured, const std::string& failing, std::uint64_t failures);
    template <class T>
    void take_delivery(const T& record);
    [[nodiscard]] Result<void> count_call(const std::string& stage, const records::CallUsage& usage, bool lost);
    void begin_visit();
    void remember(const records::Step& step, std::uint64_t number);
    void undo_stage(std::size_t index, std::size_t because_of);
    static void keep_larger(TokenEstimate& most, const TokenEstimate& other);
    /// Returns the run that a record belongs to. Null if the run is not of the current visit.
    [[nodiscard]] RunState* run_of(const std::string& stage, unsigned visit, unsigned run);
    [[nodiscard]] std::optional<RunPlace> place_of_run(const std::string& stage, unsigned visit, unsigned run) const;

    // Preconditions of records.
    [[nodiscard]] Result<void> require_transition() const;
    [[nodiscard]] Result<void> require_alive() const;
    [[nodiscard]] Result<void> require_running() const;
    [[nodiscard]] Result<void> require_current_stage(const std::string& name) const;
    /// Checks the place that a record of an agent's work names. `visit` 0: an older version did not record it.
    [[nodiscard]] Result<void> require_current_visit(const std::string& stage, unsigned visit) const;
    [[nodiscard]] Result<void> require_running_stage(const std::string& name) const;
    [[nodiscard]] Result<void> require_executing(const std::string& name) const;
    [[nodiscard]] Result<void> require_writer() const;
    [[nodiscard]] Result<void> require_reviews() const;
    [[nodiscard]] Result<void> require_exit_gate() const;
    [[nodiscard]] Result<void> require_deliver_gate(const std::string& tree) const;
    [[nodiscard]] Result<void> require_rebase_of(const std::string& commit) const;
    [[nodiscard]] Result<void> require_delivery() const;
    [[nodiscard]] Result<void> require_unanswered(const records::Answer& answer) const;
    [[nodiscard]] static bool is_inside(const std::string& path);  ///< True for a relative path without `.` and `..`.
    /// Checks a file that a record names: it must be below the task's folder.
    [[nodiscard]] Result<void> require_own_file(const std::string& path) const;

    [[nodiscard]] bool stage_is_done() const;
    [[nodiscard]] std::string role() const;
    [[nodiscard]] std::uint64_t time_since_last() const;
    [[nodiscard]] Error refuse(const std::string& why) const;
    [[nodiscard]] Result<PipelineTemplate> pipeline_in(const json::object& text) const;
    [[nodiscard]] Error refuse_ended() const;

    TaskState& state_;
    const json::object& record_;
    records::Envelope envelope_;
    std::string time_;
};

}  // namespace agentforge::kernel
