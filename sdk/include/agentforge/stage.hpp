// SPDX-License-Identifier: Apache-2.0
// A stage: one step of a pipeline, from a verified artifact to a verified artifact.
//
// Life cycle of each attempt, always in this order:
//   initialize → validate_input → execute → validate_output → finalize
// The kernel checks input and output against the stage's contracts, whatever the stage says.
//
// A stage must be deterministic between host calls. After a crash the host enters `execute` again and answers every finished host
// call from the journal. So take the time from `now()` and ids from the input, and never decide on anything else that may differ
// the second time. The host compares each call's function and input hash with the journal, and checks that no call is left out.
// It does not compare what a stage does outside host calls, or what it returns (docs/plugins.md).
//
// Threads: the host calls one instance from one thread at a time, never concurrently.
#pragma once

#include <agentforge/host.hpp>

namespace agentforge {

struct StageInfo {
    std::string name;  ///< `intake`, `clarify`, …; `^[a-z][a-z0-9_]*$`
    std::string version = "1.0";
    std::string description;
    std::vector<std::string> required_input_fields;
    std::string output_contract;  ///< Contract of the artifact. The pipeline template may name another.
    std::vector<std::string> output_fields;
};

/// The verdict of validate_input and validate_output. Errors end the attempt; warnings are recorded.
struct Validation {
    std::vector<std::string> errors;
    std::vector<std::string> warnings;
    [[nodiscard]] bool valid() const noexcept { return errors.empty(); }
};

enum class StageStatus : unsigned char { pending = 1, running, completed, failed, skipped };

/// A question to a person. If `options` is empty, the answer is free text.
struct EscalationRequest {
    std::string reason;  ///< One sentence: why the stage cannot go on.
    std::string question;
    std::vector<std::string> options;
    json::object context;  ///< Evidence for the person who answers.
};

struct StageResult {
    StageStatus status = StageStatus::pending;
    std::optional<json::object> artifact;         ///< The whole artifact, or the partial work of an escalation.
    std::optional<Error> error;                   ///< Set if the stage failed.
    std::optional<EscalationRequest> escalation;  ///< Set if the stage needs a person; status stays `pending`.
    std::string cycle_to;                         ///< Name of an earlier stage to return to, with `cycle_reason`.
    std::string cycle_reason;
    json::object metrics;

    [[nodiscard]] bool success() const noexcept { return status == StageStatus::completed; }
    [[nodiscard]] bool escalated() const noexcept { return escalation.has_value(); }

    static StageResult completed(json::object artifact);
    static StageResult failed(Error error);
    /// Not a failure: the task pauses until a person answers.
    static StageResult escalate(EscalationRequest request, std::optional<json::object> partial_artifact = {});
    /// Sends the task back to an earlier stage; status stays `pending`. The pipeline limits how often.
    static StageResult cycle(std::string stage, std::string reason);
};

/// All that a stage knows about its surroundings. Plain data, owned by the host.
struct StageInput {
    std::string task_id;
    std::string pipeline;
    std::string stage;
    std::size_t stage_index = 0;
    unsigned attempt = 1;    ///< Counts retries within one visit, from 1.
    unsigned iteration = 0;  ///< How often feedback has restarted the stage.
    unsigned cycle = 0;      ///< How often a later stage has sent the task back here.
    std::string request;     ///< The user's words, verbatim.
    std::string goal_type;
    json::object input_artifact;  ///< Artifact of the previous stage, or {"original_request": …}.
    /// By stage name and by contract. If several have the same contract, that of the latest stage.
    std::map<std::string, json::object, std::less<>> artifacts;
    std::vector<std::string> completed_stages;
    std::optional<std::string> feedback;           ///< The changes that a person asks for.
    std::optional<json::object> resolution;        ///< A person's answer to the last escalation.
    std::optional<json::object> previous_attempt;  ///< Partial or refused artifact of the previous attempt.
    std::vector<std::string> previous_errors;      ///< Why the previous attempt was refused, for a contract retry.
    json::object config;                           ///< `config:` of the stage in the pipeline template.
    std::string agent;                             ///< The stage's primary role.
    std::string output_contract;
    std::chrono::milliseconds timeout{300'000};
};

/// One run of an agent's step loop.
struct AgentRun {
    std::string role;             ///< Empty: the stage's primary role.
    std::string objective;        ///< The goal of this stage, for the context's task frame.
    std::string instructions;     ///< Guidance that needs more than one line; part of `current_state`.
    json::object state;           ///< Facts that the model needs. The kernel bounds their size.
    std::string output_contract;  ///< Empty: the stage's output contract.
    std::string exit_gate;  ///< Gate that must pass before `complete` is accepted. Empty: `config.exit_gate` of the template, if
                            ///< it has one.
    std::string system_prompt;  ///< Empty: built from the agent definition.
    unsigned max_steps = 0;     ///< 0: the pipeline's limit.
    bool text_answer = false;   ///< The answer is one plain text, not a `complete` call.
};

struct ToolUse {
    std::string tool;
    json::object arguments;
    bool success = false;
    std::string summary;
};

struct AgentOutcome {
    json::object artifact;  ///< The argument of `complete`. Empty with text_answer.
    std::string text;       ///< Text of the last answer.
    std::vector<ToolUse> tool_uses;
    std::optional<EscalationRequest> escalation;  ///< Set if the agent asked for a person.
    unsigned steps = 0;
    std::uint64_t input_tokens = 0;
    std::uint64_t output_tokens = 0;
};

struct DeliveryRequest {
    std::string title;  ///< First line of the commit message.
    std::string body;
    std::map<std::string, std::string> trailers;  ///< Added to the kernel's own trailers.
};

struct Delivery {
    std::string branch;
    std::string commit;
    std::string tree;
    std::vector<std::string> files;
};

/// An interface that a specification declares. The code must offer it before tests can call it.
struct SkeletonInterface {
    std::string name;
    std::string file;
    std::string signature;
};

/// The host's interface for a running stage. Each call that has an effect is a durable unit: it is recorded with its place and
/// the hash of its input, and after a crash it is answered from the journal.
class StageContext : public CallContext {
public:
    [[nodiscard]] virtual const StageInput& input() const noexcept = 0;
    /// Runs an agent until it completes, escalates or reaches a limit. Errors: AF-AGENT-…, AF-LLM-….
    [[nodiscard]] virtual Result<AgentOutcome> run_agent(const AgentRun& run) = 0;
    /// The workspace, with the rights of the stage's primary role.
    [[nodiscard]] virtual Workspace& workspace() noexcept = 0;
    /// Runs a program, confined to the rights of the stage's primary role.
    [[nodiscard]] virtual Result<ProcessResult> run_process(const ProcessSpec& spec) = 0;
    /// Runs a gate on the workspace's recorded tree. A failing gate is a report, not an error.
    [[nodiscard]] virtual Result<GateReport> run_gate(const GateRequest& request) = 0;
    /// Writes declarations whose bodies end in the skeleton marker, and nothing else.
    [[nodiscard]] virtual Result<std::vector<Change>> write_skeleton(const std::vector<SkeletonInterface>& interfaces) = 0;
    /// Commits the workspace's tree to the task's branch. Refused unless the deliver gate passed on that very tree.
    [[nodiscard]] virtual Result<Delivery> deliver(const DeliveryRequest& request) = 0;
    /// Runs a contract: an agent receives `inputs`, and its answer satisfies the contract. Errors: AF-ORCH-004 if the agent asks
    /// a person. A stage that fails with this error asks the person and runs again with the answer.
    [[nodiscard]] virtual Result<json::object> run_contract(std::string_view contract, const json::object& inputs) = 0;
    /// Parses one YAML document by the project's strict rules.
    [[nodiscard]] virtual Result<json::value> parse_yaml(std::string_view text) = 0;

protected:
    ~StageContext() = default;
};

/// Implement `info` and `execute`. Override the other functions if the defaults do not fit.
class Stage {
public:
    virtual ~Stage() = default;
    Stage() = default;
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    [[nodiscard]] virtual StageInfo info() const = 0;
    /// Prepares the attempt. An error ends the attempt before anything runs.
    [[nodiscard]] virtual Result<void> initialize(StageContext& context);
    /// Default: every field of `required_input_fields` is present.
    [[nodiscard]] virtual Validation validate_input(StageContext& context);
    /// Does the work.
    [[nodiscard]] virtual StageResult execute(StageContext& context) = 0;
    /// Default: every field of `output_fields` is present.
    [[nodiscard]] virtual Validation validate_output(StageContext& context, const json::object& artifact);
    /// Cleans up. Also called after a failure, but never after a failed initialize.
    virtual void finalize(StageContext& context, const StageResult& result);
};

/// Runs the life cycle in order and turns every exception of the stage into a failed result; it throws none of them. `finalize`
/// runs whenever `initialize` succeeded, whatever happened since. An exception from `finalize` is logged and changes nothing.
/// Errors of the result: the stage's own; AF-STAGE-001 it threw, 002 input refused, 003 output refused (the refused artifact
/// stays in the result), 004 completed without an artifact, 005 no verdict or two, 006 failed without an error.
[[nodiscard]] StageResult run_stage(Stage& stage, StageContext& context);

}  // namespace agentforge
