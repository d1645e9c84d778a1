// SPDX-License-Identifier: Apache-2.0
// The state of a task: a fold of its journal and nothing else.
//
// `fold(state, record)` is pure: no clock, no files, no ids. The same records give the same state on
// every machine, so that resume after any crash is: open the journal, fold, go on.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>
#include <agentforge/stage.hpp>

#include "config/pipelines.hpp"
#include "cost/ledger.hpp"
#include "journal/journal.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

enum class TaskStatus : unsigned char { pending = 1, running, paused, awaiting_approval, completed, failed, aborted };

[[nodiscard]] std::string_view to_string(TaskStatus status) noexcept;
[[nodiscard]] std::string_view to_string(StageStatus status) noexcept;
/// completed, failed or aborted.
[[nodiscard]] bool is_terminal(TaskStatus status) noexcept;

/// How far the current stage has come.
enum class StageProgress : unsigned char {
    not_started = 1,
    executing,  ///< Entered; after a crash it is entered again with the same visit.
    accepted,   ///< Its artifact satisfies the contract; reviews and approval come next.
    asking,     ///< It wants a person: the escalation is not raised yet.
    escalated,  ///< Raised; a person's resolution is awaited.
    approving,  ///< Approval requested; a person's decision is awaited.
    cycling,    ///< It wants the task to go back to an earlier stage.
    failed      ///< The attempt failed; retry or give up.
};

/// Why a person is asked; decides the exit code and what happens when there is no answer.
enum class EscalationCause : unsigned char { stage = 1, healing, review, cycle_limit, iteration_limit, attempts };
[[nodiscard]] std::string_view name_of(EscalationCause cause) noexcept;
[[nodiscard]] std::optional<EscalationCause> escalation_cause(std::string_view name);

/// The progress of a stage over all its attempts since a person was last asked.
struct Effort {
    /// How often its exit gate refused for the same reason: fingerprint -> times.
    std::map<std::string, unsigned> same_refusals;
    /// Gate -> the fewest failures it has found. Only a new minimum counts as progress.
    std::map<std::string, std::uint64_t> fewest;
    unsigned refusals = 0;           ///< Refusals by the exit gate without progress.
    unsigned edits = 0;              ///< Trees on which another gate found no fewer failures.
    std::string last_tree;           ///< The last of these trees.
    std::uint64_t steps_before = 0;  ///< The stage's steps when it last made progress.

    bool operator==(const Effort&) const = default;
};

/// An artifact that was put before a person, and what they decided.
struct ShownVersion {
    unsigned version = 0;  ///< From 1; the same again where an artifact is shown again that was not sent back.
    std::string artifact_hash;
    std::string presented_at;
    std::string decision;  ///< `approve`, `revise`, `reject`, `exit`, `extend`; empty: none yet.
    std::string decided_at;
    std::string decided_by;

    bool operator==(const ShownVersion&) const = default;
};

/// How far an artifact has come (North Star 13.7): an agent works on it; a reviewer or a person looks at it; it counts; its task
/// has ended with it, and nobody changes it any more.
enum class ArtifactState : unsigned char { none = 1, draft, pending_review, approved, final };
[[nodiscard]] std::string_view to_string(ArtifactState state) noexcept;

struct StageState {
    std::string name;
    StageStatus status = StageStatus::pending;
    unsigned visits = 0;         ///< How often it was entered, retries included.
    unsigned attempts = 0;       ///< In the current round; starts anew after a resolution, feedback or cycle.
    unsigned heals = 0;          ///< Refused artifacts in a row.
    unsigned reviews = 0;        ///< Review rounds that found blocking issues.
    unsigned iterations = 0;     ///< Feedback rounds since a person was last asked about them.
    unsigned versions = 0;       ///< Feedback rounds ever; numbers the versions that are kept.
    unsigned cycles = 0;         ///< Times a later stage came back here.
    unsigned cycles_before = 0;  ///< Of those, before a person was last asked about them.
    unsigned retries = 0;        ///< Visits after a failed attempt, and steps of a plan that were tried again.
    unsigned escalations = 0;
    std::string artifact;  ///< Path below the task's folder.
    std::string artifact_hash;
    std::string approved_hash;  ///< The artifact that a person approved, if any.
    bool asks = false;          ///< A person must look at its artifact before the task goes on (`gates.unattended: strict`).
    std::vector<ShownVersion> history;  ///< Every time that a person was shown its artifact.
    std::string superseded_by;  ///< The earlier stage that is done again: what this one had made counts no more. Empty once it
                                ///< begins anew.
    Effort effort;
    std::set<std::string> conditions;            ///< Words of skip_if that its artifact makes true.
    std::optional<records::PlanStep> plan_step;  ///< The step of a plan that it is or was at last.
    std::string error;
    std::string skip_reason;
    std::uint64_t steps = 0;
    std::uint64_t input_tokens = 0;
    std::uint64_t output_tokens = 0;
    std::uint64_t duration_ms = 0;
    std::uint64_t wall_ms = 0;  ///< While the task ran and this was its stage, gates included.
    std::string started_at;
    std::string completed_at;

    bool operator==(const StageState&) const = default;
};

/// A question to a person that is open, or about to be.
struct OpenEscalation {
    std::string id;
    EscalationCause cause = EscalationCause::stage;
    std::string reason;
    std::string question;
    std::vector<std::string> options;
    std::string context_blob;
    std::string cycle_to;  ///< The stage whose `max_cycles` it is about, or empty.

    bool operator==(const OpenEscalation&) const = default;
};

struct OpenApproval {
    std::string id;
    std::string artifact_hash;

    bool operator==(const OpenApproval&) const = default;
};

/// An action that a model proposed in an interactive task, and that is not done before a person has decided on it.
struct OpenAction {
    std::string id;    ///< Empty until a person was asked.
    std::string hash;  ///< Of what is shown: the place, the tool and its arguments.
    std::string blob;  ///< What is shown.
    std::string tool;

    bool operator==(const OpenAction&) const = default;
};

/// What a stage handed back to an earlier one as wrong; kept until the stage itself is done.
struct HandBack {
    std::string from;
    std::string to;
    std::vector<std::string> tests;  ///< Ids. If they go back to RED, no other test may change.
    std::string requirement;         ///< If it goes back to SPEC, no other requirement may change.
    std::string base_tree;           ///< RED's tree at that time, the base of `work_tree`.
    std::string work_tree;           ///< The work done so far; empty once it was restored.
    std::string artifact_blob;       ///< The artifact to correct: the suite or the specification.

    bool operator==(const HandBack&) const = default;
};

/// The newest measurement of one gate.
struct GateState {
    std::string tree;
    bool passed = false;
    bool partial = false;  ///< Only some paths were looked at: no verdict on the whole tree.
    std::string summary;
    Sequence seq = 0;  ///< The record that holds the report.

    bool operator==(const GateState&) const = default;
};

/// RED's tests that are kept out of the workspace during implementation.
struct HeldOutTests {
    std::string red_tree;  ///< The tree they were chosen from; empty: not chosen yet.
    std::vector<std::string> files;
    std::vector<std::string> shown;            ///< Formerly held out; shown to the implementing stage after failing too often.
    std::map<std::string, unsigned> failures;  ///< File → number of hand-ins (of different trees) that failed it.
    std::string reason;                        ///< In words: the files held out, or why there are none.
    bool hidden = false;                       ///< The workspace currently lacks them.

    bool operator==(const HeldOutTests&) const = default;
};

/// Tokens of a step's context.
struct TokenEstimate {
    std::uint64_t reported = 0;  ///< As the model counted them.
    std::uint64_t estimated = 0;

    bool operator==(const TokenEstimate&) const = default;
};

/// The place of an agent run within a visit.
struct RunPlace {
    unsigned run = 0;
    std::string role;
    std::string mode;

    auto operator<=>(const RunPlace&) const = default;
};

/// What an agent run has done so far.
struct RunState {
    /// A model call that failed and may be repeated.
    struct Attempts {
        unsigned count = 0;
        std::string code;
        std::string message;
        std::string where;
        bool operator==(const Attempts&) const = default;
    };
    std::vector<std::string> steps;             ///< Blobs of its finished steps.
    std::map<unsigned, records::Kept> answers;  ///< By step; of those that no finished step has used.
    std::map<unsigned, Attempts> attempts;      ///< By step; since the task was paused last.
    TokenEstimate tokens;                       ///< Of the step whose context exceeded its estimate most.

    bool operator==(const RunState&) const = default;
};

/// What a process needs to go on where another ended. Folded like the rest of the state; only the journal holds it, not
/// `state.yaml`.
struct Resumption {
    struct HostCall {
        std::string name;
        std::string input_hash;
        bool finished = false;
        bool ok = false;
        records::Kept result;
        bool works_at_plan = false;
        bool operator==(const HostCall&) const = default;
    };
    struct Decision {
        std::string decision;
        std::string feedback;
        std::optional<records::Kept> edited;
        bool operator==(const Decision&) const = default;
    };
    struct Evidence {
        std::string inputs;
        records::Kept report;
        bool operator==(const Evidence&) const = default;
    };
    struct PastStep {
        std::uint64_t step = 0;
        std::string tool;
        std::string status;
        std::string summary;
        bool operator==(const PastStep&) const = default;
    };
    struct Deadline {
        std::string id;
        std::string time;
        std::string then;
        bool operator==(const Deadline&) const = default;
    };
    struct Said {
        std::string kind;
        std::string about;
        std::string text;
        std::string blob;
        bool operator==(const Said&) const = default;
    };
    struct PastCycle {
        std::string from;
        std::string to;
        std::string reason;
        std::string time;
        bool operator==(const PastCycle&) const = default;
    };
    struct PastHandBack {
        std::string from;
        std::string to;
        records::HandBackEvidence evidence;
        bool operator==(const PastHandBack&) const = default;
    };

    // Of the current visit.
    std::map<unsigned, HostCall> calls;
    std::map<RunPlace, RunState> runs;
    std::map<std::string, Decision, std::less<>> decisions;  ///< On proposed actions, by hash; until the next step.

    // Of the whole task.
    std::map<std::string, TokenEstimate, std::less<>>
        calibration;  ///< By role: of the step of an earlier visit whose context exceeded its estimate most.
    std::map<std::string, std::string, std::less<>> pinned_tools;  ///< A server's tool and the hash of its definition.
    std::map<std::string, Evidence, std::less<>> reports;          ///< Gate and its newest report.
    std::vector<PastHandBack> hand_backs;
    std::vector<PastCycle> cycles;  ///< In their order.
    std::vector<Said> said;         ///< What people said: answers (in `blob`), feedback and guidance, with what it is about.
    std::vector<std::string> shown_by_content;  ///< `acts_later` and `changed_tests` of the artifact that was accepted last.
    std::set<std::string> approved_by_content;  ///< Those that a person has approved.
    records::Kept plugins;
    std::int64_t failed_attempts_halves = 0;  ///< Failed attempts, twice; each answer takes one off.
    std::string named_after;  ///< The id that artifacts' own ids are made of: the task's, or that of the task it was forked from.
    std::string guidance;     ///< What a person said when the task went on last.
    bool guidance_heard = false;      ///< A step was made with it.
    std::deque<PastStep> last_steps;  ///< At most `kept_last_steps`, the newest last.
    std::string remedy;               ///< Of the stage's newest failure.
    std::string accepted_at;          ///< Times of the newest records of these kinds.
    std::string proposed_at;
    std::string escalated_at;
    Deadline deadline;  ///< Of the question asked last.

    static constexpr std::size_t kept_last_steps = 3;
    bool operator==(const Resumption&) const = default;
};

/// An artifact from outside, in the place of a stage's work (North Star 13.2).
struct ExternalInput {
    std::string name;    ///< Its name in the template.
    std::string source;  ///< `user_provided` or `task_reference`.
    std::string source_path;
    std::string source_task;           ///< Empty: of no task.
    std::string artifact;              ///< Path below the task's folder.
    std::string hash;                  ///< Its blob.
    bool pending = false;              ///< Tests that their gate has yet to judge: no artifact of their contract yet.
    std::set<std::string> conditions;  ///< Words of skip_if that it makes true.
    std::string imported_at;

    bool operator==(const ExternalInput&) const = default;
};

struct TaskState {
    // What was asked; set by `task_created`. Only more stages (`records::Extension`) and a newer base change any of it.
    std::string task_id;
    std::string request;
    std::string goal_type;
    PipelineTemplate pipeline;
    std::string base_commit;
    std::string base_tree;
    std::string base_branch;  ///< Empty: HEAD was detached, or an older version began the task.
    std::string created_at;
    std::optional<std::string> exit_after;
    bool supervised = false;
    std::set<std::string> approve_stages;
    bool interactive = false;                                           ///< Every action waits for a person.
    std::string entry_stage;                                            ///< Where it begins; empty: with the first stage.
    std::set<std::string> left_out;                                     ///< Stages that the user leaves out.
    std::map<std::string, ExternalInput, std::less<>> external_inputs;  ///< By contract.
    std::string set_file;               ///< Of the set that it is a part of, or whose specification it writes; empty: of none.
    std::set<std::string> imports_due;  ///< Contracts that must be imported before the task starts.

    // What a person has said of its way since; `task_continued` and decisions change it.
    std::set<std::string> iterate_stages;  ///< A person is shown their artifacts, and approves or revises them.
    std::string user_exit;                 ///< The stage whose artifact a person made the last one; empty: nobody did.
    unsigned continuations = 0;            ///< How often it went on after its end.

    // Where it stands.
    TaskStatus status = TaskStatus::pending;
    std::size_t stage_index = 0;
    StageProgress progress = StageProgress::not_started;
    std::vector<StageState> stages;
    std::set<std::string> reviewed_by;  ///< Reviewers done with the accepted artifact.
    std::optional<OpenEscalation> escalation;
    std::optional<OpenApproval> approval;
    std::optional<OpenAction> action;
    std::uint64_t spent_before_ms =
        0;  ///< Of the stages' time, what was over when a person last resumed the task after its pipeline's time had run out.
    std::uint64_t actions_asked = 0;  ///< Of the whole task; numbers what a person is asked.
    std::string updated_at;
    std::string completed_at;
    std::string error;
    std::string error_code;
    std::string pause_reason;
    std::string exit_stage;  ///< Set once the pipeline has ended.
    std::string exit_type;   ///< `default_exit`, `early_exit` or `user_exit`; set with it.

    // What the next entry into the current stage is told.
    std::optional<std::string> feedback;
    json::array feedback_issues;   ///< The places that it names, as `approval_decided` has them.
    json::array feedback_answers;  ///< What became of them in the accepted artifact.
    std::string resolution_blob;
    std::string previous_artifact_blob;
    std::vector<std::string> previous_errors;
    std::string cycle_to;  ///< While `cycling`.
    std::string cycle_reason;
    std::optional<HandBack> hand_back;

    // What was measured.
    std::string tree;  ///< The workspace as last recorded.
    std::string red_tree;
    std::string before_red;  ///< What the workspace was before the tests were written.
    HeldOutTests held_out;
    std::map<std::string, GateState, std::less<>> gates;
    std::string commit;
    std::string branch;
    json::object delivery;      ///< What the records `delivered`, `published` and `rebased` say, the newest of each field.
    json::object prepared;      ///< What `delivery_prepared` says: a commit whose branch the set makes.
    json::object dependencies;  ///< What `dependencies_met` says, of the specification that it names.
    std::uint64_t steps = 0;    ///< Agent steps of the whole task.

    // What it has used.
    Ledger ledger;
    json::object costing;         ///< Limits and prices in force, as the newest record `costing` has them.
    bool answer_counted = false;  ///< The answer to the step under way is in the ledger.
    bool died_running = false;    ///< The process before ended while the task ran: a model call may have been under way.

    Sequence seq = 0;  ///< Of the last record folded in.
    std::string hash;

    Resumption resumption;

    bool operator==(const TaskState&) const = default;
    [[nodiscard]] const StageTemplate& stage_template() const { return pipeline.stages.at(stage_index); }
    [[nodiscard]] StageState& stage() { return stages.at(stage_index); }
    [[nodiscard]] const StageState& stage() const { return stages.at(stage_index); }
    [[nodiscard]] std::vector<std::string> completed_stages() const;
    /// `approval`, `action`, `escalation` or empty.
    [[nodiscard]] std::string_view waiting_for() const noexcept;
    /// How long the task has run: not while it was paused, waited for a person, or no process had it.
    [[nodiscard]] std::uint64_t wall_ms() const noexcept;
};

/// What the delivered change stands on: the task's base, or the newer one that it was put on since; and RED's tree there.
struct DeliveryBase {
    std::string commit;
    std::string tree;
    std::string red_tree;
};
[[nodiscard]] DeliveryBase delivery_base(const TaskState& state);
/// The tree that was delivered; before that, the workspace as it was recorded last.
[[nodiscard]] std::string delivered_tree(const TaskState& state);

/// "step 3 of 7: Integrate it", with the try where it is not the first.
[[nodiscard]] std::string plan_step_text(const records::PlanStep& step);

/// Whether the pipeline ends with the current stage.
[[nodiscard]] bool is_last(const TaskState& state);
/// Whether a person must approve the current stage's artifact before it counts. Supervised mode asks between stages, never
/// after the last one (001 §2.1).
[[nodiscard]] bool wants_approval(const TaskState& state);
/// Whether the current stage's artifact is before a person who may revise it as often as the template allows.
[[nodiscard]] bool iterates(const TaskState& state);
/// The stage that a rejected artifact sends the task back to: the nearest completed one before. Empty: rejecting ends the task,
/// as in supervised mode (001).
[[nodiscard]] std::optional<std::size_t> stage_before_rejected(const TaskState& state);
/// The number of the current stage's artifact among those that a person was shown; 1 before the first.
[[nodiscard]] unsigned artifact_version(const StageState& stage);
[[nodiscard]] ArtifactState artifact_state(const TaskState& state, std::size_t index);
/// Why the exit gate of the current stage does not let it end on the recorded tree; empty where it does, and where the stage has
/// none. `inputs`: what gates are measured with now (TaskWorkspace::gate_inputs); null: whatever the gate was measured with
/// counts.
[[nodiscard]] std::string unmet_exit_gate(const TaskState& state, const std::string* inputs = nullptr);
/// Why the current stage is left out, or empty: what of its `skip_if` holds, the entry stage that comes after it, or that the
/// user leaves it out.
[[nodiscard]] std::string skip_reason(const TaskState& state);
/// Whether the current stage's tests come from outside: it makes no model call, and is skipped once its gate has judged them.
[[nodiscard]] bool adopts_tests(const TaskState& state);
/// Whether a stage's artifact comes from outside: no later stage can have it done again.
[[nodiscard]] bool is_imported(const TaskState& state, std::size_t stage);

/// Applies one record. Errors: `corrupt` AF-TASK-010 where the record cannot follow this state (two stages at once,
/// past a failed gate, after the end), AF-TASK-011 an unknown record type (a newer format), AF-TASK-012 a missing field.
/// On error `state` is unchanged.
[[nodiscard]] Result<void> fold(TaskState& state, const json::object& record);
/// The same; gives the record as it was read.
[[nodiscard]] Result<records::AnyRecord> fold_and_read(TaskState& state, const json::object& record);
[[nodiscard]] Result<TaskState> fold_all(const std::vector<Record>& records);
/// The state that a journal leads to, in the memory of the state alone; from its snapshot where one counts
/// (task/folded_journal.hpp), which is kept anew where many records are not in it. Without a record it has no task id. Errors:
/// those of `Journal::read` and `fold`.
[[nodiscard]] Result<TaskState> fold_journal(const std::filesystem::path& journal);

/// The projection `state.yaml`. from_json(to_json(s)) is s without its resumption.
[[nodiscard]] json::object to_json(const TaskState& state);
/// The same without `pipeline_template`, which is its last field, the same for a task's whole life and most of its bytes.
[[nodiscard]] json::object to_json_without_template(const TaskState& state);
[[nodiscard]] Result<TaskState> task_state_from_json(const json::object& value);

}  // namespace agentforge::kernel
