// SPDX-License-Identifier: Apache-2.0
// The pipeline's state machine: decides the next effect as a pure function of the state.
//
// The controller asks `next`, performs the effect, journals the outcome, folds that record into the state and asks again. All
// retries, reviews, approvals, escalations, cycles, skips and exits are decided here, from limits in the pipeline template.
#pragma once

#include <string>
#include <variant>

#include "task/state.hpp"

namespace agentforge::kernel {

namespace effect {
/// Enters the current stage: a new attempt. `stage_started` follows.
struct StartStage {};
/// Runs a stage that was entered and did not end (or whose process died), in the same visit.
struct RunStage {};
struct SkipStage {
    std::string reason;
};
/// Asks this reviewer about the accepted artifact. `review_finished` follows.
struct ReviewStage {
    std::string reviewer;
};
/// Goes back to an earlier stage. `cycle_started` follows.
struct StartCycle {
    std::string to;
    std::string reason;
};
struct RequestApproval {};
/// Shows the open question to a person. `escalation_raised` follows.
struct RaiseEscalation {};
/// Turns a limit that the stage reached into a question. `stage_escalated` follows.
struct EscalateLimit {
    EscalationCause cause;
    std::string reason;
};
/// Shows the action that a model proposed to a person. `action_asked` follows.
struct AskAction {};
/// Waits for a person's answer. `escalation_resolved`, `approval_decided` or `action_decided` follows.
struct AwaitPerson {};
/// The artifact is accepted, reviewed and approved. `stage_completed` follows.
struct CompleteStage {};
struct CompleteTask {
    std::string exit_stage;
    std::string exit_type;  ///< default_exit, early_exit or user_exit.
};
struct FailTask {
    std::string code;
    std::string message;
};
/// Nothing to do: the task has ended, or is paused until `task_resumed`.
struct Rest {};
}  // namespace effect

using Effect = std::variant<effect::StartStage, effect::RunStage, effect::SkipStage, effect::ReviewStage, effect::StartCycle,
                            effect::RequestApproval, effect::RaiseEscalation, effect::EscalateLimit, effect::AskAction,
                            effect::AwaitPerson, effect::CompleteStage, effect::CompleteTask, effect::FailTask, effect::Rest>;

[[nodiscard]] Effect next(const TaskState& state);
[[nodiscard]] std::string_view name_of(const Effect& effect) noexcept;

/// How often one stage may ask a person before the task fails.
inline constexpr unsigned max_escalations_per_stage = 5;

}  // namespace agentforge::kernel
