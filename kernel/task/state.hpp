// SPDX-License-Identifier: Apache-2.0
// The state of a task, computed only from its journal by folding the records.
//
// `fold(state, record)` is pure: no clock, no files, no ids. The same records give the same state on every machine. To resume
// after a crash: open the journal, fold it, continue.
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

#include "config/pipeline_set.hpp"
#include "cost/ledger.hpp"
#include "escalation/question.hpp"
#include "journal/journal.hpp"
#include "records/delivery_type.hpp"
#include "records/records.hpp"
#include "task/gate_figures.hpp"
#include "task/people_figures.hpp"

namespace agentforge::kernel {

enum class TaskStatus : unsigned char { pending = 1, running, paused, awaiting_approval, completed, failed, aborted };

[[nodiscard]] std::string_view to_string(TaskStatus status) noexcept;
[[nodiscard]] std::string_view to_string(StageStatus status) noexcept;
/// True for completed, failed and aborted.
[[nodiscard]] bool is_terminal(TaskStatus status) noexcept;

/// Progress of the current stage.
enum class StageProgress : unsigned char {
    not_started = 1,
    executing,  ///< Entered. After a crash it is entered again with the same visit.
    accepted,   ///< Its artifact satisfies the contract. Reviews and approval come next.
    asking,     ///< It needs a person. The escalation is not raised yet.
    escalated,  ///< Raised. Waits for a person's resolution.
    approving,  ///< Approval requested. Waits for a person's decision.
    cycling,    ///< It sends the task back to an earlier stage.
    failed      ///< The attempt failed. Retry or give up.
};

/// Why AgentForge asks a person. Decides the exit code and what happens without an answer.
enum class EscalationCause : unsigned char { stage = 1, contract_retries, review, cycle_limit, iteration_limit, attempts };
[[nodiscard]] std::string_view name_of(EscalationCause cause) noexcept;
[[nodiscard]] std::optional<EscalationCause> escalation_cause(std::string_view name);

/// The progress of a stage over all its attempts since a person was last asked.
struct Effort {
    /// Number of exit gate refusals by reason: fingerprint -> count.
    std::map<std::string, unsigned> same_refusals;
    /// Gate -> the fewest failures it has found. Only a new minimum counts as progress.
    std::map<std::string, std::uint64_t> fewest;
    unsigned refusals = 0;           ///< Refusals by the exit gate without progress.
    unsigned edits = 0;              ///< Trees on which another gate found no fewer failures.
    std::string last_tree;           ///< The last of these trees.
    std::uint64_t steps_before = 0;  ///< The stage's steps when it last made progress.

    bool operator==(const Effort&) const = default;
};

/// An artifact that was shown to a person, and the decision.
struct ShownVersion {
    unsigned version = 0;  ///< From 1. Stays the same if an artifact is shown again without having been sent back.
    std::string artifact_hash;
    std::string presented_at;
    std::string decision;  ///< `approve`, `revise`, `reject`, `exit` or `extend`. Empty: none yet.
    std::string decided_at;
    std::string decided_by;

    bool operator==(const ShownVersion&) const = default;
};

/// A reviewer's artifact, which has its own file.
struct FinishedReview {
    std::string reviewer;
    std::string artifact_hash;  ///< The blob of the review.
    std::string finished_at;

    bool operator==(const FinishedReview&) const = default;
};

/// State of an artifact: an agent works on it (draft); a reviewer or a person looks at it; it is approved; or the task has ended
/// with it, so it no longer changes.
enum class ArtifactState : unsigned char { none = 1, draft, pending_review, approved, final };
[[nodiscard]] std::string_view to_string(ArtifactState state) noexcept;

struct StageState {
    std::string name;
    StageStatus status = StageStatus::pending;
    unsigned visits = 0;            ///< How often the stage was entered, including retries.
    unsigned attempts = 0;          ///< Attempts in the current round. A resolution, feedback or a cycle starts a new round.
    unsigned contract_retries = 0;  ///< Number of refused artifacts in a row.
    unsigned reviews = 0;           ///< Review rounds that found blocking issues.
    unsigned iterations = 0;        ///< Feedback rounds since a person was last asked about their number.
    unsigned versions = 0;          ///< All feedback rounds. Numbers the versions that are kept.
    unsigned cycles = 0;            ///< How often a later stage sent the task back here.
    unsigned cycles_before = 0;     ///< Those before a person was last asked about their number.
    unsigned retries = 0;           ///< Visits after a failed attempt, and steps of a plan that were retried.
    unsigned escalations = 0;
    std::string artifact;  ///< Path below the task's folder.
    std::string artifact_hash;
    std::string approved_hash;  ///< Hash of the artifact that a person approved, if any.
    bool asks = false;          ///< A person must look at its artifact before the task continues (`gates.unattended: strict`).
    std::vector<ShownVersion> history;  ///< Each time a person was shown its artifact.
    /// The reviews of its accepted artifact, by their files below the task's folder. If two reviews have the same file, the later
    /// one.
    std::map<std::string, FinishedReview> review_files;
    /// The earlier stage that is being redone, which invalidates this one's work. Empty once this stage begins again.
    std::string superseded_by;
    Effort effort;
    std::set<std::string> conditions;            ///< Words of `skip_if` that its artifact makes true.
    std::optional<records::PlanStep> plan_step;  ///< The current step of a plan, or the last one.
    std::string error;
    std::string skip_reason;
    std::uint64_t steps = 0;
    std::uint64_t input_tokens = 0;
    std::uint64_t output_tokens = 0;
    std::uint64_t duration_ms = 0;
    std::uint64_t wall_ms = 0;  ///< Time during which the task ran and this was its stage, including gates.
    std::string started_at;
    std::string completed_at;

    bool operator==(const StageState&) const = default;
};

/// A question to a person that is open or about to be asked.
struct OpenEscalation {
    std::string id;
    EscalationCause cause = EscalationCause::stage;
    std::string reason;
    std::string question;
    std::vector<std::string> options;
    std::string context_blob;
    std::string cycle_to;  ///< The stage that reached its `max_cycles`, or empty.

    bool operator==(const OpenEscalation&) const = default;
};

struct OpenApproval {
    std::string id;
    std::string artifact_hash;

    bool operator==(const OpenApproval&) const = default;
};

/// An action that a model proposed in an interactive task. It is done only after a person decides.
struct OpenAction {
    std::string id;    ///< Empty until a person was asked.
    std::string hash;  ///< Hash of what is shown: the place, the tool and its arguments.
    std::string blob;  ///< Blob of what is shown.
    std::string tool;

    bool operator==(const OpenAction&) const = default;
};

/// Work that a stage handed back to an earlier one as wrong. Kept until the stage itself is done.
struct HandBack {
    std::string from;
    std::string to;
    std::vector<std::string> tests;  ///< Ids of tests. If they go back to RED, no other test may change.
    std::string requirement;         ///< If it goes back to SPEC, no other requirement may change.
    std::string base_tree;           ///< RED's tree at that time, the base of `work_tree`.
    std::string work_tree;           ///< The work done so far; empty once it was restored.
    std::string artifact_blob;       ///< The artifact to correct: the suite or the specification.

    bool operator==(const HandBack&) const = default;
};

/// The latest measurement of one gate.
struct GateState {
    std::string tree;
    bool passed = false;
    bool partial = false;  ///< Only some paths were checked: no verdict on the whole tree.
    std::string summary;
    Sequence seq = 0;  ///< The record that holds the report.

    bool operator==(const GateState&) const = default;
};

/// The delivery: the newest value of each field of `delivered`, `published` and `rebased`. Absent without a delivery.
struct DeliveryFacts {
    std::optional<std::string> deliverable_type;
    std::optional<std::string> tree;
    std::optional<std::string> workspace_tree;
    std::optional<std::string> base_commit;
    std::optional<std::string> base_tree;
    std::optional<std::string> branch;
    std::optional<std::string> commit;
    std::optional<std::string> patch_file;
    std::optional<std::string> patch_sha256;
    std::optional<bool> signed_;
    std::optional<std::string> commit_hooks;
    std::optional<records::BaseDrift> drift;  ///< At the delivery, until a rebase ends the drift.
    std::optional<std::string> remote;
    std::optional<std::string> pr_url;
    std::optional<std::string> published_by;
    std::optional<std::string> publish_note;
    std::optional<std::string> red_tree;
    std::optional<std::string> replaces;
    std::optional<bool> gate_passed;
    std::optional<std::string> summary;
    std::optional<records::Kept> report;

    [[nodiscard]] bool empty() const noexcept { return !tree; }
    [[nodiscard]] bool is(DeliveryType type) const noexcept { return deliverable_type == to_string(type); }
    bool operator==(const DeliveryFacts&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeliveryFacts, (),
                      (deliverable_type, tree, workspace_tree, base_commit, base_tree, branch, commit, patch_file, patch_sha256,
                       signed_, commit_hooks, drift, remote, pr_url, published_by, publish_note, red_tree, replaces, gate_passed,
                       summary, report))

/// A commit whose branch the task's set creates.
struct PreparedCommit {
    std::string branch;
    std::string commit;
    std::string tree;
    std::string workspace_tree;
    std::string commit_hooks;

    bool operator==(const PreparedCommit&) const = default;
};
BOOST_DESCRIBE_STRUCT(PreparedCommit, (), (branch, commit, tree, workspace_tree, commit_hooks))

/// The stages and artifacts that met the dependencies of a specification.
struct MetDependencies {
    std::string specification_blob;
    std::vector<records::TaskMet> tasks;
    std::vector<records::ExternalMet> external;

    bool operator==(const MetDependencies&) const = default;
};
BOOST_DESCRIBE_STRUCT(MetDependencies, (), (specification_blob, tasks, external))

/// RED's tests that are kept out of the workspace during implementation.
struct HeldOutTests {
    std::string red_tree;  ///< The tree they were chosen from. Empty: not chosen yet.
    std::vector<std::string> files;
    /// Tests that were held out and are now shown to the implementing stage, after they failed too often.
    std::vector<std::string> shown;
    std::map<std::string, unsigned> failures;  ///< File → number of hand-ins (of different trees) that failed it.
    std::string reason;                        ///< The files held out, or why there are none, in words.
    bool hidden = false;                       ///< True while the workspace lacks them.

    bool operator==(const HeldOutTests&) const = default;
};

/// Tokens of a step's context.
struct TokenEstimate {
    std::uint64_t reported = 0;  ///< As counted by the model.
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

/// The progress of an agent run so far.
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
    std::map<unsigned, records::Kept> answers;  ///< By step: answers that no finished step has used.
    std::map<unsigned, Attempts> attempts;      ///< By step: since the task was last paused.
    TokenEstimate tokens;                       ///< Tokens of the step whose context exceeded its estimate most.

    bool operator==(const RunState&) const = default;
};

/// State that a process needs to continue where another ended. Folded like the rest, but stored only in the journal, not in
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
        std::optional<std::string> default_answer = {};  ///< Absent: older records lack it, and approvals have none.
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

    // Calls of the current visit.
    std::map<unsigned, HostCall> calls;
    std::map<RunPlace, RunState> runs;
    std::map<std::string, Decision, std::less<>> decisions;  ///< Decisions on proposed actions, by hash, until the next step.

    // State of the whole task.
    /// By role: the step of an earlier visit whose context exceeded its estimate most.
    std::map<std::string, TokenEstimate, std::less<>> calibration;
    std::map<std::string, std::string, std::less<>> pinned_tools;  ///< A server's tool → the hash of its definition.
    std::map<std::string, Evidence, std::less<>> reports;          ///< Gate → its latest report.
    std::vector<PastHandBack> hand_backs;
    std::vector<PastCycle> cycles;  ///< In order.
    std::vector<Said> said;         ///< What people said: answers (in `blob`), feedback and guidance, with their subject.
    std::vector<std::string> shown_by_content;  ///< `acts_later` and `changed_tests` of the artifact accepted last.
    std::set<std::string> approved_by_content;  ///< Those that a person has approved.
    records::Kept plugins;
    std::int64_t failed_attempts_halves = 0;  ///< Twice the number of failed attempts. Each answer subtracts one.
    std::string named_after;     ///< The id that artifact ids derive from: the task's, or that of the task it was forked from.
    std::string guidance;        ///< A person's words when the task last continued.
    bool guidance_used = false;  ///< A step has been made with it.
    std::deque<PastStep> last_steps;  ///< At most `kept_last_steps`. The newest is last.
    std::string remedy;               ///< Remedy of the stage's latest failure.
    std::string accepted_at;          ///< Times of the latest records of these kinds.
    std::string proposed_at;
    std::string escalated_at;
    Deadline deadline;  ///< Deadline of the latest question.

    static constexpr std::size_t kept_last_steps = 3;
    bool operator==(const Resumption&) const = default;
};

/// An imported artifact, in place of a stage's work.
struct ExternalInput {
    std::string name;    ///< Its name in the template.
    std::string source;  ///< `user_provided` or `task_reference`.
    std::string source_path;
    std::string source_task;  ///< Empty if it does not come from a task.
    std::string artifact;     ///< Path below the task's folder.
    std::string hash;         ///< Its blob.
    /// Tests that their gate has yet to judge. They do not count as an artifact of their contract yet.
    bool pending = false;
    std::set<std::string> conditions;  ///< Words of `skip_if` that it makes true.
    std::string imported_at;

    bool operator==(const ExternalInput&) const = default;
};

/// The parent's usage when the task was forked. The task's own figures include it; sums over tasks leave it out.
struct InheritedWork {
    Spend spend;
    std::uint64_t steps = 0;
    bool operator==(const InheritedWork&) const = default;
};

struct TaskState {
    // The request, set by `task_created`. Only further stages (`records::Extension`) and a newer base change any of it.
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
    std::string entry_stage;                                            ///< The first stage to run. Empty: the template's first.
    std::set<std::string> left_out;                                     ///< Stages that the user skips.
    std::map<std::string, ExternalInput, std::less<>> external_inputs;  ///< By contract.
    /// The file of the set that the task is a part of, or whose specification it writes. Empty: none.
    std::string set_file;
    std::set<std::string> imports_due;  ///< Contracts of artifacts that must be imported before the task starts.

    // A person's later decisions about the task's course. `task_continued` and decisions change them.
    std::set<std::string> iterate_stages;  ///< Stages whose artifacts are shown to a person, who approves or revises them.
    std::string user_exit;                 ///< The stage after which a person ended the task. Empty: none.
    unsigned continuations = 0;            ///< How often the task continued after its end.

    // The current position.
    TaskStatus status = TaskStatus::pending;
    std::size_t stage_index = 0;
    StageProgress progress = StageProgress::not_started;
    std::vector<StageState> stages;
    std::set<std::string> reviewed_by;  ///< Reviewers that have finished with the accepted artifact.
    std::optional<OpenEscalation> escalation;
    std::optional<OpenApproval> approval;
    std::optional<OpenAction> action;
    /// Stage time that had passed when a person last resumed the task after its pipeline's time limit.
    std::uint64_t spent_before_ms = 0;
    std::uint64_t actions_asked = 0;  ///< For the whole task. Numbers the actions that a person is asked about.
    std::string updated_at;
    std::string completed_at;
    std::string error;
    std::string error_code;
    std::string pause_reason;
    std::string exit_stage;  ///< Set once the pipeline has ended.
    std::string exit_type;   ///< `default_exit`, `early_exit` or `user_exit`. Set with `exit_stage`.

    // Input for the next entry into the current stage.
    std::optional<std::string> feedback;
    std::vector<records::FeedbackIssue> feedback_issues;  ///< The places that the feedback names.
    std::vector<records::IssueAnswer> feedback_answers;   ///< How the accepted artifact answers them.
    std::string resolution_blob;
    std::string previous_artifact_blob;
    std::vector<std::string> previous_errors;
    std::string cycle_to;  ///< Set while `cycling`.
    std::string cycle_reason;
    std::optional<HandBack> hand_back;

    // Measurements.
    std::string tree;  ///< The workspace's tree when last recorded.
    std::string red_tree;
    std::string before_red;  ///< The workspace's tree before the tests were written.
    HeldOutTests held_out;
    std::map<std::string, GateState, std::less<>> gates;
    std::string commit;
    std::string branch;
    DeliveryFacts delivery;
    std::optional<PreparedCommit> prepared;
    std::optional<records::RebasePrepared> rebase;  ///< The rebase that is about to move the branch, or whose process was killed
                                                    ///< there.
    std::optional<MetDependencies> dependencies;
    std::uint64_t steps = 0;  ///< Agent steps of the whole task.

    // Usage and cost.
    Ledger ledger;
    records::CostingInForce costing;
    bool answer_counted = false;       ///< The ledger already includes the answer to the current step.
    bool ended_while_running = false;  ///< The previous process ended while the task ran. A model call may have been under way.

    Sequence seq = 0;  ///< Number of the last record folded.
    std::string hash;

    Resumption resumption;
    // Stored only in the journal, as `resumption`.
    GateFigures gate_figures;
    PeopleFigures people_figures;
    InheritedWork inherited;

    bool operator==(const TaskState&) const = default;
    [[nodiscard]] const StageTemplate& stage_template() const { return pipeline.stages.at(stage_index); }
    [[nodiscard]] StageState& stage() { return stages.at(stage_index); }
    [[nodiscard]] const StageState& stage() const { return stages.at(stage_index); }
    [[nodiscard]] std::vector<std::string> completed_stages() const;
    /// Returns the kind of the item that waits for a person, if any.
    [[nodiscard]] std::optional<QuestionKind> waits_for() const noexcept;
    /// The same in words: `approval`, `action`, `escalation` or empty.
    [[nodiscard]] std::string_view waiting_for() const noexcept;
    /// Time that the task has run. Excludes time while it was paused, waited for a person or had no process.
    [[nodiscard]] std::uint64_t wall_ms() const noexcept;
};

/// The item that a task waits for, of whatever kind.
struct OpenQuestion {
    QuestionKind kind = QuestionKind::escalation;
    std::string id;
    std::string text;  ///< The question of an escalation, or the tool of an action.
    std::string hash;  ///< Hash of the artifact or action that is shown.
    std::string blob;  ///< Its blob.
};
/// Returns the item that the task waits for. Empty if it waits for nobody, and before the item is raised.
[[nodiscard]] std::optional<OpenQuestion> open_question(const TaskState& state);

/// The base of the delivered change (the task's base, or the newer one that the change was rebased onto), and RED's tree there.
struct DeliveryBase {
    std::string commit;
    std::string tree;
    std::string red_tree;
};
[[nodiscard]] DeliveryBase delivery_base(const TaskState& state);
/// True if the task's change was delivered, as a commit or as files.
[[nodiscard]] bool has_delivered(const TaskState& state);
/// Returns the delivered tree, or the workspace's last recorded tree before delivery.
[[nodiscard]] std::string delivered_tree(const TaskState& state);

/// Returns, for instance, "step 3 of 7: Integrate it", with the number of the attempt if it is not the first.
[[nodiscard]] std::string plan_step_text(const records::PlanStep& step);

/// True if the pipeline ends with the current stage.
[[nodiscard]] bool is_last(const TaskState& state);
/// True if a person may end the task with the current stage's artifact.
[[nodiscard]] bool may_be_last(const TaskState& state);
/// True if a person must approve the current stage's artifact before it counts. Supervised mode asks between stages, never after
/// the last one.
[[nodiscard]] bool wants_approval(const TaskState& state);
/// True if a person is shown the current stage's artifact and may revise it as often as the template allows.
[[nodiscard]] bool iterates(const TaskState& state);
/// Returns the stage that the task goes back to when an artifact is rejected: the nearest completed one before it. Empty:
/// rejecting ends the task, as in supervised mode.
[[nodiscard]] std::optional<std::size_t> stage_before_rejected(const TaskState& state);
/// Returns the number of the current stage's artifact among those shown to a person. 1 before the first.
[[nodiscard]] unsigned artifact_version(const StageState& stage);
[[nodiscard]] ArtifactState artifact_state(const TaskState& state, std::size_t index);
/// Returns why the current stage is skipped, or empty: a word of its `skip_if` that holds, a later entry stage, or the user's
/// wish.
[[nodiscard]] std::string skip_reason(const TaskState& state);
/// True if the current stage's tests are imported. Such a stage makes no model call and is skipped once its gate has judged the
/// tests.
[[nodiscard]] bool adopts_tests(const TaskState& state);
/// True if a stage's artifact is imported. No later stage can have it redone.
[[nodiscard]] bool is_imported(const TaskState& state, std::size_t stage);

/// Applies one record. Errors: `corrupt` AF-TASK-010 if the record cannot follow this state (two stages at once, past a failed
/// gate, after the end), AF-TASK-011 an unknown record type (a newer format), AF-TASK-012 a missing field. On error `state` is
/// unchanged.
[[nodiscard]] Result<void> fold(TaskState& state, const json::object& record);
/// The same, and returns the record as it was read.
[[nodiscard]] Result<records::AnyRecord> fold_and_read(TaskState& state, const json::object& record);
[[nodiscard]] Result<TaskState> fold_all(const std::vector<Record>& records);
/// Returns the state that a journal leads to. Memory: that of the state. Starts from the snapshot if it is valid
/// (task/journal_fold.hpp), and writes a new one if many records are not in it. Without a record the state has no task id.
/// Errors: those of `Journal::read` and `fold`.
[[nodiscard]] Result<TaskState> fold_journal(const std::filesystem::path& journal);

/// The projection `state.yaml`. from_json(to_json(s)) is s without its resumption and figures.
[[nodiscard]] json::object to_json(const TaskState& state);
/// The same without `pipeline_template`, the last field. That field never changes during a task and makes up most of the bytes.
[[nodiscard]] json::object to_json_without_template(const TaskState& state);
[[nodiscard]] Result<TaskState> task_state_from_json(const json::object& value);

}  // namespace agentforge::kernel
