// SPDX-License-Identifier: Apache-2.0
// A stage: one step of a pipeline from a verified artifact to a verified artifact.
//
// Life cycle, always in this order, each attempt anew (000 §2.1):
//   initialize → validate_input → execute → validate_output → finalize
// The kernel validates input and output against the stage's contracts whatever the stage says.
//
// A stage must be deterministic between host calls: after a crash `execute` is entered again and
// every host call that had finished answers from the journal. So take time from `now()`, ids from
// the input, and never decide on anything else that may differ the second time. The host then compares
// each call's function and input hash with the journal's, and checks that no call is left out; it does
// not compare what a stage does outside host calls, or what it returns (docs/plugins.md).
//
// Threads: the host calls one instance from one thread at a time; never concurrently.
#pragma once

#include <agentforge/host.hpp>

namespace agentforge {

struct StageInfo {
    std::string name;  ///< `intake`, `clarify`, …; `^[a-z][a-z0-9_]*$`
    std::string version = "1.0";
    std::string description;
    std::vector<std::string> required_input_fields;
    std::string output_contract;  ///< Contract of the artifact; the pipeline template may name another.
    std::vector<std::string> output_fields;
};

/// The verdict of validate_input and validate_output. Errors stop the attempt; warnings are recorded.
struct Validation {
    std::vector<std::string> errors;
    std::vector<std::string> warnings;
    [[nodiscard]] bool valid() const noexcept { return errors.empty(); }
};

enum class StageStatus : unsigned char { pending = 1, running, completed, failed, skipped };

/// A question to a person. `options` may be empty: then the answer is free text.
struct EscalationRequest {
    std::string reason;  ///< Why the stage cannot go on; one sentence.
    std::string question;
    std::vector<std::string> options;
    json::object context;  ///< Evidence for the person who answers.
};

struct StageResult {
    StageStatus status = StageStatus::pending;
    std::optional<json::object> artifact;         ///< The whole artifact, or partial work of an escalation.
    std::optional<Error> error;                   ///< Set when failed.
    std::optional<EscalationRequest> escalation;  ///< Set when a person is needed; status stays `pending`.
    std::string cycle_to;                         ///< Name of an earlier stage to go back to, with `cycle_reason`.
    std::string cycle_reason;
    json::object metrics;

    [[nodiscard]] bool success() const noexcept { return status == StageStatus::completed; }
    [[nodiscard]] bool escalated() const noexcept { return escalation.has_value(); }

    static StageResult completed(json::object artifact);
    static StageResult failed(Error error);
    /// Not failed, only waiting: the task pauses until a person resolves it (000, `escalate`).
    static StageResult escalate(EscalationRequest request, std::optional<json::object> partial_artifact = {});
    /// Sends the task back to an earlier stage (FR-024, FR-025); status stays `pending`. The pipeline limits how often.
    static StageResult cycle(std::string stage, std::string reason);
};

/// Everything a stage knows about where it runs. Plain data, owned by the host.
struct StageInput {
    std::string task_id;
    std::string pipeline;
    std::string stage;
    std::size_t stage_index = 0;
    unsigned attempt = 1;    ///< From 1; counts retries within one visit.
    unsigned iteration = 0;  ///< How often feedback has sent the stage round.
    unsigned cycle = 0;      ///< How often a later stage has sent the task back here.
    std::string request;     ///< The user's words, verbatim.
    std::string goal_type;
    json::object input_artifact;  ///< Artifact of the stage before, or {"original_request": …}.
    std::map<std::string, json::object, std::less<>>
        artifacts;  ///< By stage name, and by contract: of several with one contract, the latest stage's.
    std::vector<std::string> completed_stages;
    std::optional<std::string> feedback;           ///< What a person wants changed.
    std::optional<json::object> resolution;        ///< A person's answer to the last escalation.
    std::optional<json::object> previous_attempt;  ///< Partial or refused artifact of the last attempt.
    std::vector<std::string> previous_errors;      ///< Why the last attempt was refused (artifact healing).
    json::object config;                           ///< `config:` of the stage in the pipeline template.
    std::string agent;                             ///< The stage's primary role.
    std::string output_contract;
    std::chrono::milliseconds timeout{300'000};
};

/// One run of an agent's step loop.
struct AgentRun {
    std::string role;             ///< Empty: the stage's primary role.
    std::string objective;        ///< What this stage wants, for the context's task frame.
    std::string instructions;     ///< More than one line of guidance; part of `current_state`.
    json::object state;           ///< What the model needs to know; bounded by the kernel.
    std::string output_contract;  ///< Empty: the stage's output contract.
    std::string exit_gate;  ///< Gate that must pass before `complete` is accepted; empty: the template's `config.exit_gate`, if
                            ///< it has one.
    std::string system_prompt;  ///< Empty: built from the agent definition (North Star 12.7).
    unsigned max_steps = 0;     ///< 0: the pipeline's limit.
    bool text_answer = false;   ///< The answer is one plain text instead of a `complete` call.
};

struct ToolUse {
    std::string tool;
    json::object arguments;
    bool success = false;
    std::string summary;
};

struct AgentOutcome {
    json::object artifact;  ///< What `complete` was given; empty with text_answer.
    std::string text;       ///< The last answer's text.
    std::vector<ToolUse> tool_uses;
    std::optional<EscalationRequest> escalation;  ///< The agent asked for a person.
    unsigned steps = 0;
    std::uint64_t input_tokens = 0;
    std::uint64_t output_tokens = 0;
};

struct DeliveryRequest {
    std::string title;  ///< First line of the commit message.
    std::string body;
    std::map<std::string, std::string> trailers;  ///< Added to the kernel's own.
};

struct Delivery {
    std::string branch;
    std::string commit;
    std::string tree;
    std::vector<std::string> files;
};

/// An interface that a specification declares and that code must offer before tests can call it.
struct SkeletonInterface {
    std::string name;
    std::string file;
    std::string signature;
};

/// The host, for a running stage. Each call that does something is a durable unit: recorded with
/// its place and the hash of its input, and answered from the journal after a crash.
class StageContext : public CallContext {
public:
    [[nodiscard]] virtual const StageInput& input() const noexcept = 0;
    /// Runs an agent until it completes, escalates or reaches a limit. Errors: AF-AGENT-…, AF-LLM-….
    [[nodiscard]] virtual Result<AgentOutcome> run_agent(const AgentRun& run) = 0;
    /// The workspace with the rights of the stage's primary role.
    [[nodiscard]] virtual Workspace& workspace() noexcept = 0;
    /// Runs a program confined to the rights of the stage's primary role.
    [[nodiscard]] virtual Result<ProcessResult> run_process(const ProcessSpec& spec) = 0;
    /// Measures the workspace's recorded tree. A failing gate is a report, not an error.
    [[nodiscard]] virtual Result<GateReport> run_gate(const GateRequest& request) = 0;
    /// Writes declarations that end in the skeleton marker, and nothing else. Spec README, 7.
    [[nodiscard]] virtual Result<std::vector<Change>> write_skeleton(const std::vector<SkeletonInterface>& interfaces) = 0;
    /// Commits the workspace's tree to the task's branch. Refused unless the deliver gate passed on that very tree.
    [[nodiscard]] virtual Result<Delivery> deliver(const DeliveryRequest& request) = 0;
    /// Runs a contract: an agent whose input is `inputs` and whose answer satisfies the contract. Errors: AF-ORCH-004 where the
    /// agent asks a person; a stage that fails with it asks, and is run again with the answer.
    [[nodiscard]] virtual Result<json::object> run_contract(std::string_view contract, const json::object& inputs) = 0;
    /// Reads one YAML document by the project's strict rules.
    [[nodiscard]] virtual Result<json::value> parse_yaml(std::string_view text) = 0;

protected:
    ~StageContext() = default;
};

/// Implement `info` and `execute`; override the rest where the defaults do not fit.
class Stage {
public:
    virtual ~Stage() = default;
    Stage() = default;
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    [[nodiscard]] virtual StageInfo info() const = 0;
    /// Prepares; an error ends the attempt before anything ran.
    [[nodiscard]] virtual Result<void> initialize(StageContext& context);
    /// Default: every field of `required_input_fields` is present.
    [[nodiscard]] virtual Validation validate_input(StageContext& context);
    /// The work.
    [[nodiscard]] virtual StageResult execute(StageContext& context) = 0;
    /// Default: every field of `output_fields` is present.
    [[nodiscard]] virtual Validation validate_output(StageContext& context, const json::object& artifact);
    /// Cleans up; also called after a failure, never after a failed initialize.
    virtual void finalize(StageContext& context, const StageResult& result);
};

/// Runs the life cycle in its order and turns every exception into a failed result; never throws what the stage threw.
/// `finalize` runs once `initialize` succeeded, whatever happened since; what it throws is logged and changes nothing.
/// Errors of the result: the stage's own, AF-STAGE-001 it threw, 002 input refused, 003 output refused (the refused artifact
/// stays in the result), 004 completed without artifact, 005 no verdict or two, 006 failed without an error.
[[nodiscard]] StageResult run_stage(Stage& stage, StageContext& context);

}  // namespace agentforge
