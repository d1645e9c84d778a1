// SPDX-License-Identifier: Apache-2.0
// The kernel side of an agent's run: its recorded steps, its limits, and whether an action may be carried out.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/llm_backend.hpp>
#include <agentforge/stage.hpp>

#include "backends/model_call.hpp"
#include "tools/tool_services.hpp"

namespace agentforge::kernel {

/// One finished step, as the journal keeps it. The loop is a fold of these.
struct StepRecord {
    unsigned step = 0;  ///< In this run, from 1.
    std::string tool;   ///< Empty if the answer could not be read.
    json::object arguments;
    bool success = false;
    std::string summary;
    std::string output;  ///< What the model sees next; of limited size.
    std::string error;   ///< At most 500 characters.
    json::object data;   ///< The tool's own data: line range, hash, counts.
    std::vector<Change> changes;
    Completion completion;  ///< Text, usage, model.
    std::string system;     ///< The system prompt that was sent.
    std::string context;
    json::object section_tokens;  ///< Section → tokens; `truncated`: list of shortened sections.
    std::string tree;             ///< Workspace after the step.
    bool completed = false;       ///< `complete` was accepted.
    std::optional<json::object> artifact;
    std::optional<EscalationRequest> escalation;
};

/// Whether an action may be carried out, or what replaces it.
struct ActionVerdict {
    enum class Kind : unsigned char { approved = 1, edited, rejected };
    Kind kind = Kind::approved;
    ToolCall edited;       ///< The replacement.
    std::string feedback;  ///< Why it is rejected. May be empty.
};

/// The kernel side of a run, which makes steps durable. The controller implements it; tests use a fake.
class StepHost : public ToolServices {
public:
    /// Returns the steps of this run that are already in the journal, in order. They are not repeated.
    [[nodiscard]] virtual std::vector<StepRecord> finished_steps() = 0;
    /// Returns an answer that was journaled before a crash and whose action was not carried out: used instead of asking again.
    [[nodiscard]] virtual std::optional<Completion> pending_answer(unsigned step) = 0;
    /// Called before each model call; an error prevents it. Errors: AF-COST-010… (a limit would be exceeded; the task pauses).
    [[nodiscard]] virtual Result<void> before_call(unsigned step, const CompletionRequest& request) {
        static_cast<void>(step), static_cast<void>(request);
        return {};
    }
    /// Called after a call without an answer, which may have cost something. Returns the error with which the run continues or
    /// ends.
    [[nodiscard]] virtual Error call_failed(unsigned step, const CompletionRequest& request, Error error) {
        static_cast<void>(step), static_cast<void>(request);
        return error;
    }
    /// Called before each step. Errors: AF-AGENT-018 the stage makes no progress, in this run or an earlier one.
    [[nodiscard]] virtual Result<void> require_progress() { return {}; }
    /// Called between two steps. If the run must stop here, its context is cancelled when this returns.
    virtual void step_ended() {}
    /// Returns when a time limit ends the call, if there is one. This is not the stage's own deadline.
    [[nodiscard]] virtual std::optional<std::chrono::steady_clock::time_point> call_deadline() { return std::nullopt; }
    /// Returns the failed model attempts in the journal since the task was last paused, for step `step` of this run.
    [[nodiscard]] virtual SpentAttempts spent_attempts(unsigned step) {
        static_cast<void>(step);
        return {};
    }
    /// Journals a failed attempt at step `step` that may be repeated.
    [[nodiscard]] virtual Result<void> attempt_failed(unsigned step, unsigned attempt, const Error& error) {
        static_cast<void>(step), static_cast<void>(attempt), static_cast<void>(error);
        return {};
    }
    /// Journals the model's answer before its action is carried out.
    [[nodiscard]] virtual Result<void> answer_received(unsigned step, const CompletionRequest& request,
                                                       const Completion& completion) = 0;
    /// Called before an action is carried out, after its answer was journaled. Errors: AF-ESC-031 a person has not decided yet;
    /// the run ends here, and asks the same question when it is entered again with that answer.
    [[nodiscard]] virtual Result<ActionVerdict> permit(unsigned step, const ToolCall& action) {
        static_cast<void>(step), static_cast<void>(action);
        return ActionVerdict();
    }
    /// Journals the step. Snapshots the workspace if `changes` is not empty (sets `tree`).
    [[nodiscard]] virtual Result<void> step_finished(StepRecord& record) = 0;
    /// Returns the writes to the workspace since the last call, oldest first (RoleWorkspace::take_changes).
    [[nodiscard]] virtual std::vector<Change> take_changes() = 0;
    /// Returns what `complete` accepted, or what escalate_question asked, during the current step.
    [[nodiscard]] virtual std::optional<json::object> accepted_artifact() = 0;
    [[nodiscard]] virtual std::optional<EscalationRequest> requested_escalation() = 0;
    /// Returns the verification status, from the task's latest gate reports. Called for the context of a step after the previous
    /// step is journaled: by then that step's changes are in the task's tree, and the gates that ran after it measured this tree.
    [[nodiscard]] virtual json::object verification_status() = 0;
    /// Runs the verification of a recorded tree. Called after a step that changed files.
    virtual void after_edit(const std::vector<std::string>& paths) = 0;
};

}  // namespace agentforge::kernel
