// SPDX-License-Identifier: Apache-2.0
// The pipeline's state machine: what happens next, as a pure function of the state.
//
// The controller asks `next`, does what it says, journals what came of it, folds that record into
// the state and asks again. Retries, healing, reviews, approvals, escalation, cycles, skips and
// exits are all decided here, from limits that are data of the pipeline template.
#pragma once

#include <string>
#include <variant>

#include "task/state.hpp"

namespace agentforge::kernel {

namespace effect {
/// Enter the current stage: a new attempt. `stage_started` follows.
struct StartStage {};
/// The stage was entered and did not end (or the process died): run it, or run it again, with the same visit.
struct RunStage {};
struct SkipStage {
    std::string reason;
};
/// Ask this reviewer about the accepted artifact. `review_finished` follows.
struct ReviewStage {
    std::string reviewer;
};
/// Back to an earlier stage. `cycle_started` follows.
struct StartCycle {
    std::string to;
    std::string reason;
};
struct RequestApproval {};
/// Put the open question before a person. `escalation_raised` follows.
struct RaiseEscalation {};
/// The stage asked for nothing, a limit did: make it a question. `stage_escalated` follows.
struct EscalateLimit {
    EscalationCause cause;
    std::string reason;
};
/// Put the action that a model proposed before a person. `action_asked` follows.
struct AskAction {};
/// A person has the word: `escalation_resolved`, `approval_decided` or `action_decided` follows, some time.
struct AwaitPerson {};
/// Artifact accepted, reviewed and approved. `stage_completed` follows.
struct CompleteStage {};
struct CompleteTask {
    std::string exit_stage;
    std::string exit_type;
};  ///< default_exit, early_exit or user_exit
struct FailTask {
    std::string code;
    std::string message;
};
/// Nothing to do: ended, or paused until `task_resumed`.
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
