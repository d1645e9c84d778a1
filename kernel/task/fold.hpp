// SPDX-License-Identifier: Apache-2.0
// One record applied to a task's state. Used by task/fold*.cpp alone; everyone else calls `fold` (task/state.hpp).
//
// The states of a task, and the records that lead from one to the next:
//
//   pending ──external_artifact_imported──▶ pending
//   pending ──task_started──▶ running ◀──task_resumed── paused, failed
//   running ──forked──▶ paused, as another task
//   running ──task_paused, escalation_raised──▶ paused          paused ──escalation_resolved──▶ running
//   running ──approval_requested, action_asked──▶ awaiting_approval ──approval_decided, action_decided──▶ running
//   running ──task_completed──▶ completed       any ──task_failed──▶ failed       any but completed ──task_aborted──▶ aborted
//   completed, nothing delivered ──task_continued──▶ paused
//
// The current stage while the task runs (StageProgress):
//
//   not_started, failed ──stage_started──▶ executing ──artifact_accepted──▶ accepted ──stage_completed──▶ not_started, of the
//   next stage not_started, or accepted where its tests come from outside ──stage_skipped──▶ not_started, of the next stage
//   executing ──stage_failed, artifact_rejected──▶ failed       accepted ──review_finished that blocks, gate that fails──▶ failed
//   executing ──cycle_requested──▶ cycling ──cycle_started──▶ not_started, of an earlier stage
//   accepted ──approval_requested──▶ approving ──approval_decided──▶ accepted, not_started with feedback, or cycling where it was
//   rejected any ──stage_escalated──▶ asking ──escalation_raised──▶ escalated ──escalation_resolved──▶ not_started
//
// Invariants, after every record; the random tests check each by its number (tests/unit/pipeline/invariants.hpp):
//   1. At most one stage is running, and it is the current one.
//   2. A stage with an exit gate is completed only if that gate passed, whole, on the tree that was handed in; nor do tests from
//   outside count before it did.
//   3. A stage is completed only after all its reviewers passed its artifact, and a person approved it where one must.
//   4. Nothing is recorded after a completed or aborted task but what happens to its delivered commit; a completed one that has
//   delivered nothing may go on.
//   5. Only an executing stage changes the workspace, but for the kernel: it takes held-out tests out and back, and a cycle goes
//   back to its stage's tree.
//   6. A commit is delivered only from a tree on which the deliver gate passed.
//   7. No stage is gone back to more often than its `max_cycles`, since a person was last asked about that.
//   8. A record that is refused changes nothing.
//   9. The files that the state names lie below the task's folder.
//   10. What a completed stage was done by stays its template, whatever stages are added behind it.
#pragma once

#include <string>

#include "task/state.hpp"

namespace agentforge::kernel {

class Fold {
public:
    Fold(TaskState& state, const json::object& record) : state_(state), record_(record) {}
    /// The record as it was read.
    [[nodiscard]] Result<records::AnyRecord> apply();

private:
    // The task (fold.cpp).
    Result<void> on(const records::TaskCreated& created);
    Result<void> on(const records::ExternalArtifactImported& imported);
    Result<void> on(const records::Forked& forked);
    Result<void> on(const records::TaskStarted& started);
    Result<void> on(const records::TaskResumed& resumed);
    Result<void> on(const records::TaskPaused& paused);
    Result<void> on(const records::TaskAborted& aborted);
    Result<void> on(const records::TaskFailed& failed);
    Result<void> on(const records::TaskCompleted& completed);
    Result<void> on(const records::TaskContinued& continued);

    // Stages and their artifacts (fold_stages.cpp).
    Result<void> on(const records::StageStarted& started);
    Result<void> on(const records::StageFailed& failed);
    Result<void> on(const records::StageSkipped& skipped);
    Result<void> on(const records::StageCompleted& completed);
    Result<void> on(const records::ArtifactAccepted& accepted);
    Result<void> on(const records::ArtifactRejected& rejected);
    Result<void> on(const records::ReviewFinished& review);
    Result<void> on(const records::CycleRequested& requested);
    Result<void> on(const records::CycleStarted& started);

    // People (fold_people.cpp).
    Result<void> on(const records::StageEscalated& escalated);
    Result<void> on(const records::EscalationRaised& raised);
    Result<void> on(const records::EscalationResolved& resolved);
    Result<void> on(const records::ApprovalRequested& requested);
    Result<void> on(const records::ApprovalDecided& decided);
    Result<void> on(const records::ActionProposed& proposed);
    Result<void> on(const records::ActionAsked& asked);
    Result<void> on(const records::ActionDecided& decided);

    // Work: steps, calls, measurements, delivery, cost (fold_work.cpp).
    Result<void> on(const records::Step& step);
    Result<void> on(const records::Answer& answer);
    Result<void> on(const records::CallLost& lost);
    Result<void> on(const records::AttemptFailed& failed);
    Result<void> on(const records::ServerTool& tool);
    Result<void> on(const records::CallStarted& started);
    Result<void> on(const records::CallFinished& finished);
    Result<void> on(const records::Gate& gate);
    Result<void> on(const records::Snapshot& snapshot);
    Result<void> on(const records::HeldOut& held_out);
    Result<void> on(const records::Delivered& delivered);
    Result<void> on(const records::DeliveryPrepared& prepared);
    Result<void> on(const records::Published& published);
    Result<void> on(const records::Rebased& rebased);
    Result<void> on(const records::Costing& costing);
    Result<void> on(const records::Plugins& plugins);
    Result<void> on(const records::DependenciesMet& met);

    template <class T>
    requires T::only_tells Result<void> on(const T&) { return {}; }

    // What several records do.
    [[nodiscard]] Result<void> take_entry(TaskState& fresh, const records::TaskCreated& created) const;
    void end(TaskStatus status);
    [[nodiscard]] Result<void> extend(const records::Extension& extension);
    void go_back_to(std::size_t index, const std::string& why);
    [[nodiscard]] Result<void> take_decision(const records::ApprovalDecided& decided, const std::string& word);
    void hear(const std::optional<std::string>& guidance);
    void forget_guidance();
    void advance();
    void send_back(std::string why);
    void start_new_round();
    void begin_effort(StageState& stage);
    void made_progress();
    void count_effort(const std::string& gate, const GateState& measured, const std::string& failing, std::uint64_t failures);
    void take_delivery();
    [[nodiscard]] Result<void> count_call(const std::string& stage, const json::object& usage, bool lost);
    void begin_visit();
    void remember(const records::Step& step, std::uint64_t number);
    void undo_stage(std::size_t index, std::size_t because_of);
    static void exceed(TokenEstimate& most, const TokenEstimate& other);
    /// The run that a record is of; null where it is not of the current visit.
    [[nodiscard]] RunState* run_of(const std::string& stage, unsigned visit, unsigned run);

    // What a record needs.
    [[nodiscard]] Result<void> require_alive() const;
    [[nodiscard]] Result<void> require_running() const;
    [[nodiscard]] Result<void> require_current_stage(const std::string& name) const;
    [[nodiscard]] Result<void> require_running_stage(const std::string& name) const;
    [[nodiscard]] Result<void> require_executing(const std::string& name) const;
    [[nodiscard]] Result<void> require_writer() const;
    [[nodiscard]] Result<void> require_reviews() const;
    [[nodiscard]] Result<void> require_exit_gate() const;
    /// Of a file that a record names: it lies below the task's folder.
    [[nodiscard]] Result<void> require_own_file(const std::string& path) const;

    [[nodiscard]] bool stage_is_done() const;
    [[nodiscard]] std::string role() const;
    [[nodiscard]] std::uint64_t time_since_last() const;
    [[nodiscard]] Error refuse(const std::string& why) const;
    [[nodiscard]] Error refuse_ended() const;

    TaskState& state_;
    const json::object& record_;
    records::Envelope envelope_;
    std::string time_;
};

}  // namespace agentforge::kernel
