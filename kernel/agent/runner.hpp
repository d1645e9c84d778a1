// SPDX-License-Identifier: Apache-2.0
// The step loop: stateless steps with verified state (North Star 3, 12.6). Each step builds a bounded context anew,
// asks the model once, and does the one action it answers with.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <agentforge/stage.hpp>

#include "backends/client.hpp"
#include "base/events.hpp"
#include "config/agents.hpp"
#include "contracts/contract.hpp"
#include "tools/bridge.hpp"

namespace agentforge::kernel {

/// One finished step, as the journal keeps it; the loop is a fold of these.
struct StepRecord {
    unsigned step = 0;  ///< In this run, from 1.
    std::string tool;   ///< Empty where the answer could not be read.
    json::object arguments;
    bool success = false;
    std::string summary;
    std::string output;  ///< What the model is shown next, bounded.
    std::string error;   ///< At most 500 characters.
    json::object data;   ///< What the tool said about itself: line range, hash, counts.
    std::vector<Change> changes;
    Completion completion;  ///< Text, usage, model.
    std::string system;     ///< What was sent.
    std::string context;
    json::object section_tokens;  ///< Section → tokens; `truncated`: list of sections that were cut.
    std::string tree;             ///< Workspace after the step.
    bool completed = false;       ///< `complete` was accepted.
    std::optional<json::object> artifact;
    std::optional<EscalationRequest> escalation;
};

/// Whether an action may be done, or what is done in its place.
struct ActionVerdict {
    enum class Kind : unsigned char { go = 1, edited, rejected };
    Kind kind = Kind::go;
    ToolCall edited;       ///< Done in its place.
    std::string feedback;  ///< Why it is rejected; may be empty.
};

/// The kernel side of a run: makes steps durable. Implemented by the controller, faked in tests.
class StepHost : public ToolServices {
public:
    /// Steps of this run that are in the journal already, in order: they are not done again.
    [[nodiscard]] virtual std::vector<StepRecord> finished_steps() = 0;
    /// An answer that was journaled before a crash whose action was not done yet: used instead of asking again.
    [[nodiscard]] virtual std::optional<Completion> pending_answer(unsigned step) = 0;
    /// Asked before each call of the model: whether it may be made. Errors: AF-COST-010… (a limit would be passed; the task
    /// pauses).
    [[nodiscard]] virtual Result<void> before_call(unsigned step, const CompletionRequest& request) {
        static_cast<void>(step), static_cast<void>(request);
        return {};
    }
    /// The call brought no answer, but may have cost something. Returns the error that the run goes on or ends with.
    [[nodiscard]] virtual Error call_failed(unsigned step, const CompletionRequest& request, Error error) {
        static_cast<void>(step), static_cast<void>(request);
        return error;
    }
    /// Asked before each step. Errors: AF-AGENT-018 the stage makes no progress, in this run or an earlier one.
    [[nodiscard]] virtual Result<void> makes_progress() { return {}; }
    /// Said between two steps. Where the run is to stop here its context is cancelled when this returns.
    virtual void step_ended() {}
    /// When a limit on time ends the call, if there is one; it is not the stage's own deadline.
    [[nodiscard]] virtual std::optional<std::chrono::steady_clock::time_point> call_deadline() { return std::nullopt; }
    /// What the journal knows of attempts of the model that failed, since the task was last paused; for step `step` of this run.
    [[nodiscard]] virtual SpentAttempts spent_attempts(unsigned step) {
        static_cast<void>(step);
        return {};
    }
    /// Journals an attempt at step `step` that failed and may be repeated.
    [[nodiscard]] virtual Result<void> attempt_failed(unsigned step, unsigned attempt, const Error& error) {
        static_cast<void>(step), static_cast<void>(attempt), static_cast<void>(error);
        return {};
    }
    /// Journals the model's answer before its action is done.
    [[nodiscard]] virtual Result<void> answer_received(unsigned step, const CompletionRequest& request,
                                                       const Completion& completion) = 0;
    /// Asked before an action is done, after its answer was journaled. Errors: AF-ESC-031 a person has not decided yet; the run
    /// ends here, and the same question is put when it is entered again with that answer.
    [[nodiscard]] virtual Result<ActionVerdict> permit(unsigned step, const ToolCall& action) {
        static_cast<void>(step), static_cast<void>(action);
        return ActionVerdict();
    }
    /// Journals the step; snapshots the workspace where `changes` is not empty (sets `tree`).
    [[nodiscard]] virtual Result<void> step_finished(StepRecord& record) = 0;
    /// Writes to the workspace since the last call, oldest first (RoleWorkspace::take_changes).
    [[nodiscard]] virtual std::vector<Change> take_changes() = 0;
    /// What `complete` accepted, or what escalate_question asked, during the current step.
    [[nodiscard]] virtual std::optional<json::object> accepted_artifact() = 0;
    [[nodiscard]] virtual std::optional<EscalationRequest> requested_escalation() = 0;
    /// North Star 2.4.4, from the newest gate reports of the task. Asked for the context of a step once the step before is
    /// journaled: what that step changed is the task's tree by then, and the gates that ran after it are those of this tree.
    [[nodiscard]] virtual json::object verification_status() = 0;
    /// A tree-bound verification loop after every edit (2.4.1); called after a step that changed files.
    virtual void after_edit(const std::vector<std::string>& paths) = 0;
};

/// Tokens by section (North Star 12.10). A fixed part that alone is over its share is an error at start.
struct TokenBudget {
    std::size_t total = 8000;
    std::size_t system_prompt = 1500;
    std::size_t task_frame = 500;
    std::size_t current_state = 4000;
    std::size_t recent_actions = 1000;
    std::size_t verification_status = 200;
    std::size_t available_actions = 800;
};

struct RunSpec {
    AgentDefinition agent;
    AgentRun run;           ///< Objective, instructions, state, limits.
    RequestPlace place;     ///< step is filled in.
    std::string goal;       ///< The user's request.
    std::string agents_md;  ///< What the repository says to whoever works in it; empty: nothing.
    std::vector<std::string> success_criteria;
    std::string stage;
    std::optional<Contract> contract;  ///< None with text_answer.
    TokenBudget budget;
    unsigned calibration_permille = 1000;  ///< Reported input tokens per estimated token, as earlier runs with this model found.
    unsigned max_steps = 40;
    unsigned max_identical_failures = 3;  ///< The same failing action so often in a row ends the run.
    unsigned max_malformed = 3;           ///< Answers in a row that cannot be read.
    std::string model;
    std::uint64_t max_output_tokens = 4096;
    bool agentic =
        false;  ///< Each call is a command that works in the workspace with tools of its own and then takes one action.
};

/// Errors: AF-AGENT-010 steps used up, AF-AGENT-011 the same failing action, AF-AGENT-012 unreadable answers, AF-AGENT-018 no
/// progress, AF-AGENT-013 budget too small for the fixed parts, AF-AGENT-014 cancelled, AF-AGENT-015 deadline, AF-AGENT-016 the
/// journal's steps do not belong to this run, AF-LLM-… (the model), and what the host answers.
[[nodiscard]] Result<AgentOutcome> run_agent(const RunSpec& spec, ToolBridge& bridge, ModelClient& model, StepHost& host,
                                             CallContext& context, EventSink& events);

/// North Star 12.7.
[[nodiscard]] std::string build_system_prompt(const RunSpec& spec, const std::vector<ToolSpec>& tools, bool native_tool_calls);

}  // namespace agentforge::kernel
