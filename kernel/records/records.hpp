// SPDX-License-Identifier: Apache-2.0
// The records of a task's journal: one struct for each type, and one variant of all.
//
// docs/journal.md describes each type by its struct's comment, its members and their comments; scripts/make-journal-page writes
// that page from this file. A member's type says whether its key may be absent (records/fields.hpp). Times are RFC 3339 in UTC,
// trees and commits are git object ids, a `…_blob` is the hash of a line in the task's `artifacts/blobs/blobs.yaml`, and `phase`
// and `stage` name the stage that the record is about.
//
// A new type of record is a struct here and a name in `Body`. If it changes nothing in the state of its task, it says
// `only_informs`. Otherwise task/fold.cpp must handle it, and does not compile until it does. Code that writes a record and
// leaves out a member without a default does not compile either.
//
// A member is JSON only if its keys are not ours to list; its comment says whose they are. All other maps and lists are structs.
#pragma once
#pragma GCC diagnostic error "-Wmissing-field-initializers"

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "journal/journal.hpp"
#include "records/fields.hpp"

namespace agentforge::kernel::records {

// ------------------------------------------------------------------------------------------------ parts of records --

/// An error in a record.
struct RecordedError {
    std::string code;
    std::string message;
    Added<std::string> where;
    Added<std::string> remedy;
    Added<std::uint64_t> kind;  ///< An ErrorKind.
};
BOOST_DESCRIBE_STRUCT(RecordedError, (), (code, message, where, remedy, kind))

/// The action of a step.
struct ActionTaken {
    Added<std::string> type;  ///< Name of the tool.
    Added<std::string> arguments_blob;
    std::optional<std::string> target = {};  ///< The path, file, pattern or command of its arguments, at most 300 bytes.
};
BOOST_DESCRIBE_STRUCT(ActionTaken, (), (type, arguments_blob, target))

/// The result of an action.
struct ActionResult {
    static constexpr Words words[] = {{"status", {"success", "failure"}}};
    Added<std::string> status;  ///< `success` or `failure`.
    Added<std::string> summary;
    std::optional<std::string> error = {};
};
BOOST_DESCRIBE_STRUCT(ActionResult, (), (status, summary, error))

/// A step of a plan.
struct PlanStep {
    unsigned number;  ///< From 1.
    unsigned of;      ///< Number of steps in the plan.
    std::string title;
    Added<unsigned> attempt;  ///< The number of this attempt at the step in the visit, from 1.
    bool operator==(const PlanStep&) const = default;
};
BOOST_DESCRIBE_STRUCT(PlanStep, (), (number, of, title, attempt))

inline constexpr std::string_view cost_from_backend = "backend";  ///< `cost_from`: the backend reported the cost.
inline constexpr std::string_view cost_from_prices = "prices";    ///< `cost_from`: it comes from the table of prices.

/// The usage of one model call.
struct CallUsage {
    static constexpr Words words[] = {{"cost_from", {cost_from_backend, cost_from_prices}}};
    Added<std::string> model;  ///< Empty: the backend named none.
    std::uint64_t input_tokens;
    Added<std::uint64_t> cached_input_tokens;       ///< Part of the input, read from the server's cache.
    Added<std::uint64_t> cache_write_input_tokens;  ///< Part of the input, written to the cache at a separate price.
    std::uint64_t output_tokens;
    std::optional<std::uint64_t> cost_microusd = {};  ///< Absent: unknown, which is not zero.
    std::optional<std::string> cost_from = {};        ///< `backend`, which reported the cost, or `prices`, our table.
    Added<bool> estimated;                            ///< AgentForge estimated the tokens.
    bool operator==(const CallUsage&) const = default;
};
BOOST_DESCRIBE_STRUCT(CallUsage, (),
                      (model, input_tokens, cached_input_tokens, cache_write_input_tokens, output_tokens, cost_microusd,
                       cost_from, estimated))

/// The model call of a step, in short.
struct ModelCall {
    Added<std::string> model;
    Added<std::uint64_t> prompt_tokens;
    Added<std::uint64_t> completion_tokens;
    std::optional<std::uint64_t> cost_microusd = {};  ///< Absent: unknown.
};
BOOST_DESCRIBE_STRUCT(ModelCall, (), (model, prompt_tokens, completion_tokens, cost_microusd))

/// A change of a file in the workspace.
struct FileChange {
    Added<std::string> path;
    Added<std::string> before_sha256;  ///< Empty: the file did not exist, or a program changed it.
    Added<std::string> after_sha256;   ///< Empty: the file no longer exists, or a program changed it.
    Added<std::uint64_t> lines_added;
    Added<std::uint64_t> lines_removed;
    Added<bool> created;
};
BOOST_DESCRIBE_STRUCT(FileChange, (), (path, before_sha256, after_sha256, lines_added, lines_removed, created))

/// A place in an artifact that a person wants changed.
struct FeedbackIssue {
    static constexpr Words words[] = {{"priority", {"must_address", "should_consider"}}};
    std::optional<std::string> location = {};  ///< A place in the artifact, such as `requirements.REQ-003`.
    std::string issue;
    std::optional<std::string> suggestion = {};
    Added<std::string> priority;  ///< `must_address` or `should_consider`.
    bool operator==(const FeedbackIssue&) const = default;
};
BOOST_DESCRIBE_STRUCT(FeedbackIssue, (), (location, issue, suggestion, priority))

/// Whether an issue that had to be addressed was addressed, by comparing the two versions of the artifact.
struct IssueAnswer {
    static constexpr Words words[] = {{"result", {"changed", "unchanged", "unmeasured"}}};
    Added<std::string> location;
    Added<std::string> issue;
    Added<std::string> result;  ///< `changed`, `unchanged` or `unmeasured`.
    bool operator==(const IssueAnswer&) const = default;
};
BOOST_DESCRIBE_STRUCT(IssueAnswer, (), (location, issue, result))

/// A test that is claimed to be wrong, with its measurement.
struct MeasuredTest {
    Added<std::string> id;
    Added<std::string> file;
    Added<std::uint64_t> line;  ///< 0: unknown.
    Added<std::string> status;
    Added<std::string> message;
    bool operator==(const MeasuredTest&) const = default;
};
BOOST_DESCRIBE_STRUCT(MeasuredTest, (), (id, file, line, status, message))

/// The evidence for handing an earlier stage's work back to it.
struct HandBackEvidence {
    Added<std::string> to;           ///< `tests` or `specification`: what is wrong. Older journals have `red` or `spec`.
    std::vector<std::string> tests;  ///< Ids of the tests that are claimed to be wrong.
    std::string requirement;
    Added<std::string> criterion;
    Added<std::string> reason;  ///< In the agent's words.
    Added<std::vector<MeasuredTest>> measured;
    Added<std::vector<std::string>> changed;  ///< Files of the implementation.
    Added<std::string> red_tree;
    Added<std::string> work_tree;
    Added<std::string> patch;  ///< A file below the task's folder with the work so far.
    bool operator==(const HandBackEvidence&) const = default;
};
BOOST_DESCRIBE_STRUCT(HandBackEvidence, (),
                      (to, tests, requirement, criterion, reason, measured, changed, red_tree, work_tree, patch))

/// More stages for a task. Its template from now on, in which the existing stages are unchanged.
struct Extension {
    json::object pipeline;      ///< The whole template, as written. A stage's `config` has the keys of its plugin.
    std::string exit_stage;     ///< Where the task ends from now on.
    std::string next_pipeline;  ///< The template of the new stages. The task's own if it had ended early.
};
BOOST_DESCRIBE_STRUCT(Extension, (), (pipeline, exit_stage, next_pipeline))

/// A file that the task's artifacts name and that has changed since.
struct StaleFile {
    Added<std::string> path;
    Added<std::string> change;                 ///< The letter of git: `M`, `A`, `D`, …
    Added<std::vector<std::string>> named_by;  ///< The artifacts that name it.
    Added<std::vector<std::string>> commits;   ///< The commits that changed it, newest first: id and subject.
};
BOOST_DESCRIBE_STRUCT(StaleFile, (), (path, change, named_by, commits))

/// The result of checking the task's artifacts before more work is built on them.
struct Freshness {
    std::string head;  ///< The commit with which the task's base was compared.
    std::vector<StaleFile> stale;
    std::string accepted;  ///< The reason why a person accepts stale files. Empty: nothing is stale.
};
BOOST_DESCRIBE_STRUCT(Freshness, (), (head, stale, accepted))

/// A command that a gate ran.
struct CommandRun {
    Added<std::string> command;  ///< As named in the language's file: `build`, `tests`, `syntax`, …
    Added<std::string> tree;     ///< Empty: the command needs none.
    Added<std::uint64_t> duration_ms;
    std::optional<std::string> purpose = {};  ///< `mutants`, …; absent: to measure the tree as it is.
    std::optional<std::string> argv = {};     ///< Program and arguments, separated by spaces; at most 300 bytes.
};
BOOST_DESCRIBE_STRUCT(CommandRun, (), (command, tree, duration_ms, purpose, argv))

/// A task that the specification depends on and that has completed the required stage.
struct TaskMet {
    std::string task_id;
    std::string repo;  ///< Empty: the repository of the task that waited.
    std::string required_stage;
    std::string branch;  ///< The branch that it has delivered, if any.
    std::string commit;
    bool operator==(const TaskMet&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskMet, (), (task_id, repo, required_stage, branch, commit))

/// An artifact of another repository that the specification depends on, as found at that time.
struct ExternalMet {
    std::string repo;
    std::string artifact;
    std::string version;
    std::string tag;  ///< Empty: none.
    std::string commit;
    std::string path;
    bool operator==(const ExternalMet&) const = default;
};
BOOST_DESCRIBE_STRUCT(ExternalMet, (), (repo, artifact, version, tag, commit, path))

/// How far the user's branch has moved since the task began.
struct BaseDrift {
    Added<std::string> branch;  ///< The branch that the task began on. Empty: HEAD was detached, or the branch is gone.
    Added<std::string> head;
    Added<std::uint64_t> commits;  ///< Number of new commits.
    Added<bool> rewritten;         ///< The task's base is no longer part of the branch.
    Added<std::vector<std::string>> changed_by_both;
    Added<std::vector<std::string>> conflicts;
    bool operator==(const BaseDrift&) const = default;
};
BOOST_DESCRIBE_STRUCT(BaseDrift, (), (branch, head, commits, rewritten, changed_by_both, conflicts))

/// Limits of a stage.
struct StageLimits {
    std::optional<std::uint64_t> max_cost_microusd = {};
    std::optional<std::uint64_t> max_tokens = {};
    std::optional<std::uint64_t> max_steps = {};
    std::optional<std::uint64_t> max_wall_time_ms = {};
    bool operator==(const StageLimits&) const = default;
};
BOOST_DESCRIBE_STRUCT(StageLimits, (), (max_cost_microusd, max_tokens, max_steps, max_wall_time_ms))

/// Limits of a task and of its stages.
struct LimitsInForce {
    std::optional<std::uint64_t> max_cost_microusd = {};
    std::optional<std::uint64_t> max_tokens = {};
    std::optional<std::uint64_t> max_steps = {};
    std::optional<std::uint64_t> max_wall_time_ms = {};
    std::optional<std::map<std::string, StageLimits>> stages = {};  ///< By the stage's name.
    bool operator==(const LimitsInForce&) const = default;
};
BOOST_DESCRIBE_STRUCT(LimitsInForce, (), (max_cost_microusd, max_tokens, max_steps, max_wall_time_ms, stages))

/// A table of prices.
struct PriceList {
    Added<std::string> as_of;  ///< Its date.
    Added<std::string> sha256;
    bool operator==(const PriceList&) const = default;
};
BOOST_DESCRIBE_STRUCT(PriceList, (), (as_of, sha256))

/// Limits and prices.
struct CostingInForce {
    std::optional<LimitsInForce> limits = {};           ///< Absent: nothing is limited.
    std::optional<std::vector<PriceList>> prices = {};  ///< Absent: the task has no prices.
    bool operator==(const CostingInForce&) const = default;
};
BOOST_DESCRIBE_STRUCT(CostingInForce, (), (limits, prices))

/// A plugin that a task uses.
struct PluginInUse {
    std::string id;
    std::string version;
    std::optional<std::string> sha256 = {};  ///< Of its library. Absent: it could not be read.
    std::string source;                      ///< Where it was found.
};
BOOST_DESCRIBE_STRUCT(PluginInUse, (), (id, version, sha256, source))

// ------------------------------------------------------------------------------------------------------------ task --

/// The first record: the request.
struct TaskCreated {
    static constexpr std::string_view type = "task_created";
    std::string task_id;
    std::string request;
    std::string goal_type;
    json::object pipeline;  ///< The whole template, as written. A stage's `config` has the keys of its plugin.
    std::string base_commit;
    std::string base_tree;
    Added<std::string> base_branch;  ///< Empty: HEAD was detached.
    bool supervised;
    std::vector<std::string> approve_stages;
    Added<std::vector<std::string>> iterate_stages;  ///< Stages whose artifacts a person approves or revises.
    Added<bool> interactive;
    std::optional<std::string> exit_after = {};
    std::optional<std::string> replay_of = {};              ///< The task whose recorded answers this one uses.
    std::optional<std::string> entry_stage = {};            ///< The first stage to run. Absent: the template's first.
    std::optional<std::vector<std::string>> left_out = {};  ///< Stages that the user left out with `--without`.
    std::optional<std::vector<std::string>> imports = {};   ///< Contracts of the artifacts to import before it starts.
    std::optional<std::string> set = {};                    ///< The file of the task's set (docs/repositories.md).
};
BOOST_DESCRIBE_STRUCT(TaskCreated, (),
                      (task_id, request, goal_type, pipeline, base_commit, base_tree, base_branch, supervised, approve_stages,
                       iterate_stages, interactive, exit_after, replay_of, entry_stage, left_out, imports, set))

/// How an imported artifact was checked.
struct ExternalValidation {
    static constexpr Words words[] = {{"status", {"passed", "pending"}}};
    std::string contract;
    std::string contract_version;
    std::string status;  ///< `passed`, or `pending` for tests, which their own gate judges when the task runs.
    std::string hash;    ///< The blob that was checked.
};
BOOST_DESCRIBE_STRUCT(ExternalValidation, (), (contract, contract_version, status, hash))

/// An imported artifact takes the place of a stage's work.
struct ExternalArtifactImported {
    static constexpr std::string_view type = "external_artifact_imported";
    static constexpr Words words[] = {{"source", {"user_provided", "task_reference"}}};
    std::string artifact_type;  ///< Its name in the template.
    std::string source;         ///< `user_provided` or `task_reference`.
    std::string source_path;    ///< The file or folder that the user named. For a task, the file below its folder.
    std::optional<std::string> source_task = {};
    std::string artifact;  ///< A file below the task's folder.
    ExternalValidation validation;
    std::vector<std::string> conditions;      ///< Conditions of `skip_if` that its contract makes true.
    std::optional<Freshness> freshness = {};  ///< For an artifact of a task.
};
BOOST_DESCRIBE_STRUCT(ExternalArtifactImported, (),
                      (artifact_type, source, source_path, source_task, artifact, validation, conditions, freshness))

/// The task continues from another one after a step. The records before this one are that task's.
struct Forked {
    static constexpr std::string_view type = "forked";
    std::string task_id;  ///< The task's id from now on.
    std::string parent;
    std::uint64_t from_step;
};
BOOST_DESCRIBE_STRUCT(Forked, (), (task_id, parent, from_step))

/// The task starts.
struct TaskStarted {
    static constexpr std::string_view type = "task_started";
    std::optional<std::string> guidance = {};  ///< A person's message to the model.
};
BOOST_DESCRIBE_STRUCT(TaskStarted, (), (guidance))

/// The task continues, in this process or after another one ended.
struct TaskResumed {
    static constexpr std::string_view type = "task_resumed";
    Added<std::string> reason;
    std::optional<std::string> ended_in = {};  ///< The plugin call in which the previous process ended.
    std::optional<std::string> guidance = {};  ///< A person's message to the model.
};
BOOST_DESCRIBE_STRUCT(TaskResumed, (), (reason, ended_in, guidance))

/// The task is paused.
struct TaskPaused {
    static constexpr std::string_view type = "task_paused";
    std::string reason;
    std::optional<bool> given_up = {};  ///< A plugin call was abandoned and may still run.
};
BOOST_DESCRIBE_STRUCT(TaskPaused, (), (reason, given_up))

/// A person ended the task.
struct TaskAborted {
    static constexpr std::string_view type = "task_aborted";
    std::string reason;
};
BOOST_DESCRIBE_STRUCT(TaskAborted, (), (reason))

/// The task cannot continue.
struct TaskFailed {
    static constexpr std::string_view type = "task_failed";
    std::string code;
    std::string message;
};
BOOST_DESCRIBE_STRUCT(TaskFailed, (), (code, message))

/// The pipeline has ended.
struct TaskCompleted {
    static constexpr std::string_view type = "task_completed";
    static constexpr Words words[] = {{"exit_type", {"default_exit", "early_exit", "user_exit"}}};
    std::string exit_stage;
    Added<std::string> exit_type;  ///< `default_exit`, `early_exit` or `user_exit`.
};
BOOST_DESCRIBE_STRUCT(TaskCompleted, (), (exit_stage, exit_type))

/// A completed task that has delivered nothing continues: with more stages, or by showing the artifact of its last stage to a
/// person again.
struct TaskContinued {
    static constexpr std::string_view type = "task_continued";
    bool revise;  ///< The artifact of the last stage is shown to a person again.
    Freshness freshness;
    std::optional<Extension> extension = {};      ///< Absent with `revise`.
    std::optional<std::string> base_commit = {};  ///< The task's base from now on. Its workspace was the same as its old base.
    std::optional<std::string> base_tree = {};
};
BOOST_DESCRIBE_STRUCT(TaskContinued, (), (revise, freshness, extension, base_commit, base_tree))

// ----------------------------------------------------------------------------------------------------------- stages --

/// A visit of a stage begins.
struct StageStarted {
    static constexpr std::string_view type = "stage_started";
    std::string stage;
    Added<unsigned> attempt;
    Added<unsigned> visit;
    Added<unsigned> iteration;
    Added<unsigned> cycle;
};
BOOST_DESCRIBE_STRUCT(StageStarted, (), (stage, attempt, visit, iteration, cycle))

/// The visit failed. The stage is retried, or the task fails.
struct StageFailed {
    static constexpr std::string_view type = "stage_failed";
    std::string stage;
    RecordedError error;
    Added<std::uint64_t> duration_ms;
    std::optional<std::string> partial_blob = {};  ///< The artifact so far. The next visit continues from it.
};
BOOST_DESCRIBE_STRUCT(StageFailed, (), (stage, error, duration_ms, partial_blob))

/// The stage is skipped.
struct StageSkipped {
    static constexpr std::string_view type = "stage_skipped";
    std::string stage;
    std::string reason;  ///< The condition of `skip_if` that is true, or another reason.
};
BOOST_DESCRIBE_STRUCT(StageSkipped, (), (stage, reason))

/// The stage is completed, and the task continues with the next one.
struct StageCompleted {
    static constexpr std::string_view type = "stage_completed";
    std::string stage;
    Added<std::string> artifact_hash;
};
BOOST_DESCRIBE_STRUCT(StageCompleted, (), (stage, artifact_hash))

/// The artifact satisfies its contract and its gate. Reviews and approval come next.
struct ArtifactAccepted {
    static constexpr std::string_view type = "artifact_accepted";
    std::string stage;
    Added<std::string> contract;
    Added<std::string> contract_version;
    std::string artifact;                 ///< A file below the task's folder.
    std::string artifact_hash;            ///< Hash of its blob.
    std::vector<std::string> conditions;  ///< Conditions of `skip_if` that it makes true.
    Added<bool> asks;                     ///< A person must look at it.
    Added<std::vector<std::string>>
        acts_later;  ///< Changed files with delayed effects (docs/security.md), with their contents, if not approved yet.
    Added<std::vector<std::string>>
        changed_tests;  ///< Outdated tests that were changed, with their old and new lines, if not approved yet.
    Added<std::vector<IssueAnswer>> answers;  ///< The changes that a person asked for.
    Added<std::uint64_t> duration_ms;
};
BOOST_DESCRIBE_STRUCT(ArtifactAccepted, (),
                      (stage, contract, contract_version, artifact, artifact_hash, conditions, asks, acts_later, changed_tests,
                       answers, duration_ms))

/// The artifact was refused. The stage learns why.
struct ArtifactRejected {
    static constexpr std::string_view type = "artifact_rejected";
    std::string stage;
    std::vector<std::string> errors;
    Added<std::string> artifact_blob;
    Added<std::uint64_t> duration_ms;
};
BOOST_DESCRIBE_STRUCT(ArtifactRejected, (), (stage, errors, artifact_blob, duration_ms))

/// A reviewer has finished with the accepted artifact.
struct ReviewFinished {
    static constexpr std::string_view type = "review_finished";
    std::string stage;
    std::string reviewer;
    std::uint64_t blocking;           ///< Number of blocking issues.
    Added<std::uint64_t> advisory;    ///< Number of other issues.
    std::vector<std::string> issues;  ///< The blocking issues, in words.
    Added<std::string> review;        ///< A file below the task's folder.
    Added<std::string> review_blob;
    Added<std::string> artifact_blob;  ///< The artifact that was reviewed.
    Added<std::uint64_t> duration_ms;
};
BOOST_DESCRIBE_STRUCT(ReviewFinished, (),
                      (stage, reviewer, blocking, advisory, issues, review, review_blob, artifact_blob, duration_ms))

// ----------------------------------------------------------------------------------------------------------- people --

/// The stage needs a person. The question is not asked yet.
struct StageEscalated {
    static constexpr std::string_view type = "stage_escalated";
    std::string stage;
    std::string cause;  ///< `stage`, `healing`, `review`, `cycle_limit`, `iteration_limit` or `attempts`.
    std::string reason;
    std::string question;
    std::vector<std::string> options;
    Added<std::string> context_blob;
    Added<std::string> partial_blob;  ///< The artifact so far. Empty: none.
    Added<std::uint64_t> duration_ms;
};
BOOST_DESCRIBE_STRUCT(StageEscalated, (), (stage, cause, reason, question, options, context_blob, partial_blob, duration_ms))

/// The question was asked.
struct EscalationRaised {
    static constexpr std::string_view type = "escalation_raised";
    std::string stage;
    std::string escalation_id;
    std::optional<std::string> deadline = {};
    std::optional<std::string> at_deadline = {};     ///< What happens at the deadline.
    std::optional<std::string> default_answer = {};  ///< The answer that counts then. Empty: none.
};
BOOST_DESCRIBE_STRUCT(EscalationRaised, (), (stage, escalation_id, deadline, at_deadline, default_answer))

/// A person answered.
struct EscalationResolved {
    static constexpr std::string_view type = "escalation_resolved";
    Added<std::string> stage;
    std::string escalation_id;
    bool abort;  ///< The answer ends the task.
    Added<std::string> resolved_by;
    std::string resolution_blob;
};
BOOST_DESCRIBE_STRUCT(EscalationResolved, (), (stage, escalation_id, abort, resolved_by, resolution_blob))

/// A person was asked to approve the accepted artifact.
struct ApprovalRequested {
    static constexpr std::string_view type = "approval_requested";
    std::string stage;
    std::string approval_id;
    std::string artifact_hash;
    std::optional<std::string> deadline = {};
    std::optional<std::string> at_deadline = {};  ///< What happens at the deadline.
};
BOOST_DESCRIBE_STRUCT(ApprovalRequested, (), (stage, approval_id, artifact_hash, deadline, at_deadline))

/// A person decided on the artifact that was shown.
struct ApprovalDecided {
    static constexpr std::string_view type = "approval_decided";
    Added<std::string> stage;
    std::string approval_id;
    bool approved;
    std::string artifact_hash;
    Added<std::string> feedback;  ///< The changes asked for, or why it was rejected.
    Added<std::string> artifact_blob;
    Added<std::string> decided_by;
    Added<std::string> decision;  ///< `approve`, `revise`, `reject`, `exit` or `extend`. Absent: see `approved`, `feedback`.
    Added<std::vector<FeedbackIssue>> issues;  ///< For `revise`.
    std::optional<Extension> extension = {};   ///< For `extend`.
    std::optional<Freshness> freshness = {};   ///< For `extend`.
};
BOOST_DESCRIBE_STRUCT(ApprovalDecided, (),
                      (stage, approval_id, approved, artifact_hash, feedback, artifact_blob, decided_by, decision, issues,
                       extension, freshness))

/// Returns the decision as one word, for a record of any version.
[[nodiscard]] std::string decision_of(const ApprovalDecided& decided);

/// An agent of an interactive task proposes an action, which waits for a person.
struct ActionProposed {
    static constexpr std::string_view type = "action_proposed";
    std::string phase;
    Added<unsigned> visit;
    Added<unsigned> run;
    Added<unsigned> run_step;
    std::string tool;
    std::string action_hash;  ///< Hash of what is shown.
    std::string action_blob;  ///< What is shown: place, tool and arguments.
    Added<std::uint64_t> duration_ms;
};
BOOST_DESCRIBE_STRUCT(ActionProposed, (), (phase, visit, run, run_step, tool, action_hash, action_blob, duration_ms))

/// The action was shown to a person.
struct ActionAsked {
    static constexpr std::string_view type = "action_asked";
    std::string stage;
    std::string approval_id;
    std::string action_hash;
    Added<std::string> action;  ///< The action in one line.
};
BOOST_DESCRIBE_STRUCT(ActionAsked, (), (stage, approval_id, action_hash, action))

/// A person decided on the action.
struct ActionDecided {
    static constexpr std::string_view type = "action_decided";
    Added<std::string> stage;
    std::string approval_id;
    std::string decision;  ///< `approved`, `edited` or `rejected`.
    std::string action_hash;
    Added<std::string> feedback;
    Added<std::string> decided_by;
    std::optional<Kept> edited = {};  ///< The changed action.
};
BOOST_DESCRIBE_STRUCT(ActionDecided, (), (stage, approval_id, decision, action_hash, feedback, decided_by, edited))

// ----------------------------------------------------------------------------------------------------------- cycles --

/// The stage sends the task back to an earlier stage.
struct CycleRequested {
    static constexpr std::string_view type = "cycle_requested";
    std::string stage;
    std::string to;
    std::string reason;
    Added<std::uint64_t> duration_ms;
    std::optional<HandBackEvidence> hand_back = {};
};
BOOST_DESCRIBE_STRUCT(CycleRequested, (), (stage, to, reason, duration_ms, hand_back))

/// The task goes back. The artifacts and measurements made after that stage are no longer valid.
struct CycleStarted {
    static constexpr std::string_view type = "cycle_started";
    Added<std::string> stage;  ///< The stage that sends it back.
    Added<std::string> to;
    Added<std::string> reason;
};
BOOST_DESCRIBE_STRUCT(CycleStarted, (), (stage, to, reason))

// ------------------------------------------------------------------------------------------------------------ steps --

/// One step of an agent: a model's answer and the resulting action. Its number is the record's `step`.
struct Step {
    static constexpr std::string_view type = "step";
    std::string phase;
    Added<unsigned> visit;
    Added<unsigned> run;  ///< Counts the visit's agent runs.
    Added<unsigned> run_step;
    Added<ActionTaken> action;
    Added<ActionResult> result;
    Added<ModelCall> llm_call;
    Added<std::uint64_t> input_tokens;
    Added<std::uint64_t> output_tokens;
    Added<json::object> section_tokens;  ///< Estimated tokens of the context, by its sections' names, and their `total`.
    Added<std::string> context_blob;     ///< The exact context that the model saw.
    Added<std::string> system_blob;
    Added<std::string> record_blob;  ///< The whole step. A resumed run continues from it.
    Added<std::string> tree;         ///< The workspace after the step.
    std::optional<std::vector<FileChange>> changes = {};
    std::optional<std::string> patch = {};               ///< A file below the task's folder.
    std::optional<std::vector<std::string>> files = {};  ///< Paths changed by a command in agentic mode.
};
BOOST_DESCRIBE_STRUCT(Step, (),
                      (phase, visit, run, run_step, action, result, llm_call, input_tokens, output_tokens, section_tokens,
                       context_blob, system_blob, record_blob, tree, changes, patch, files))

/// Returns the usage of a step's call, for a journal of an older version whose answers lack it. Empty: the step called no model.
[[nodiscard]] std::optional<CallUsage> usage_of_old_step(const Step& step);
/// Returns the estimated tokens of a step's whole context. 0: unknown.
[[nodiscard]] std::uint64_t estimated_tokens(const Step& step);

/// A model answered. The step that uses the answer follows.
struct Answer {
    static constexpr std::string_view type = "answer";
    std::string phase;
    Added<unsigned> visit;
    Added<unsigned> run;
    Added<unsigned> run_step;
    Added<std::string> frame_hash;
    Added<std::string> context_hash;
    std::optional<CallUsage> usage = {};
    Added<Kept> answer;
};
BOOST_DESCRIBE_STRUCT(Answer, (), (phase, visit, run, run_step, frame_hash, context_hash, usage, answer))

/// A model call may have been made but was never answered. It counts at its maximum usage.
struct CallLost {
    static constexpr std::string_view type = "call_lost";
    std::string phase;
    Added<unsigned> visit;
    Added<unsigned> run;
    Added<unsigned> run_step;
    Added<std::string> reason;
    CallUsage usage;
};
BOOST_DESCRIBE_STRUCT(CallLost, (), (phase, visit, run, run_step, reason, usage))

/// One attempt at a model call failed. The call is retried.
struct AttemptFailed {
    static constexpr std::string_view type = "attempt_failed";
    std::string phase;
    Added<unsigned> visit;
    Added<unsigned> run;
    Added<unsigned> run_step;
    Added<unsigned> attempt;
    Added<std::string> code;
    Added<std::string> message;
    Added<std::string> where;
    std::optional<CallUsage> usage = {};  ///< If the model may have begun.
};
BOOST_DESCRIBE_STRUCT(AttemptFailed, (), (phase, visit, run, run_step, attempt, code, message, where, usage))

/// A server's tool as listed when the task first saw it. It must stay the same.
struct ServerTool {
    static constexpr std::string_view type = "server_tool";
    Added<std::string> tool;
    Added<std::string> stage;
    Added<std::string> tool_hash;
    Added<std::string> definition_blob;
};
BOOST_DESCRIBE_STRUCT(ServerTool, (), (tool, stage, tool_hash, definition_blob))

/// A program wrote where it may not. Everything was reverted.
struct Violation {
    static constexpr std::string_view type = "violation";
    static constexpr bool only_informs = true;
    Added<std::string> stage;
    Added<std::vector<std::string>> paths;
};
BOOST_DESCRIBE_STRUCT(Violation, (), (stage, paths))

// ------------------------------------------------------------------------------------------------------- host calls --

/// A stage called its host. `call` counts the calls of its visit.
struct CallStarted {
    static constexpr std::string_view type = "call_started";
    Added<std::string> stage;
    Added<unsigned> visit;
    Added<unsigned> call;
    Added<std::string> name;
    Added<std::string> input_hash;
    std::optional<PlanStep> plan_step = {};  ///< Set if the agent run is for a step of a plan.
};
BOOST_DESCRIBE_STRUCT(CallStarted, (), (stage, visit, call, name, input_hash, plan_step))

/// The host answered. What the stage wrote with this call is in the workspace.
struct CallFinished {
    static constexpr std::string_view type = "call_finished";
    static constexpr Words words[] = {{"outcome", {"ok", "error"}}};
    Added<std::string> stage;
    Added<unsigned> visit;
    Added<unsigned> call;
    Added<std::string> name;
    Added<std::string> input_hash;
    Added<std::string> outcome;            ///< `ok` or `error`.
    Added<Kept> result;                    ///< The answer, or the error.
    std::optional<std::string> tree = {};  ///< The workspace, if the stage wrote.
    std::optional<std::vector<FileChange>> changes = {};
};
BOOST_DESCRIBE_STRUCT(CallFinished, (), (stage, visit, call, name, input_hash, outcome, result, tree, changes))

// ------------------------------------------------------------------------------------------------------ measurements --

/// A gate's measurement.
struct Gate {
    static constexpr std::string_view type = "gate";
    Added<std::string> stage;
    std::string gate;
    std::string tree;
    bool passed;
    Added<bool> partial;  ///< Only some paths were checked.
    std::string summary;
    Added<std::uint64_t> duration_ms;
    std::optional<std::string> failing = {};  ///< A fingerprint of the failures.
    std::optional<std::uint64_t> failures = {};
    std::optional<std::vector<std::string>> held_out_failing = {};
    std::optional<std::string> inputs = {};                ///< A hash of the settings and rules used.
    std::optional<std::vector<CommandRun>> commands = {};  ///< The commands that ran.
    Added<Kept> report;
    std::optional<json::value> confinement = {};  ///< The commands' confinement, in the sandbox's own words.
    std::optional<std::uint64_t> tests = {};
    std::optional<std::uint64_t> tests_passed = {};
    std::optional<bool> conformance = {};      ///< True if no conformance check blocks.
    std::optional<std::uint64_t> checks = {};  ///< The conformance checks that it made.
    std::optional<std::uint64_t> checks_passed = {};
};
BOOST_DESCRIBE_STRUCT(Gate, (),
                      (stage, gate, tree, passed, partial, summary, duration_ms, failing, failures, held_out_failing, inputs,
                       commands, report, confinement, tests, tests_passed, conformance, checks, checks_passed))

/// The kernel changed the workspace itself.
struct Snapshot {
    static constexpr std::string_view type = "snapshot";
    Added<std::string> stage;
    std::string tree;
    Added<std::string> reason;
    std::optional<bool> put_back = {};  ///< Whether the work from before a hand-back was restored.
    std::optional<std::vector<std::string>> conflicts = {};
    std::optional<std::vector<std::string>> paths = {};
};
BOOST_DESCRIBE_STRUCT(Snapshot, (), (stage, tree, reason, put_back, conflicts, paths))

/// The tests that are held out from now on.
struct HeldOut {
    static constexpr std::string_view type = "held_out";
    Added<std::string> stage;
    std::string red_tree;  ///< The tree from which they were chosen.
    std::vector<std::string> files;
    std::vector<std::string> shown;  ///< Tests that were held out before.
    bool hidden;                     ///< True while the workspace lacks them.
    std::string reason;
    std::string tree;  ///< The workspace.
};
BOOST_DESCRIBE_STRUCT(HeldOut, (), (stage, red_tree, files, shown, hidden, reason, tree))

// --------------------------------------------------------------------------------------------------------- delivery --

/// The change was committed, or written as a patch.
struct Delivered {
    static constexpr std::string_view type = "delivered";
    static constexpr Words words[] = {{"deliverable_type", {"commit", "branch", "pr", "files"}}};
    std::string stage;
    Added<std::string> deliverable_type;  ///< `commit`, `branch`, `pr` or `files`.
    std::string tree;
    Added<std::string> workspace_tree;  ///< Commit hooks may have changed it to another tree.
    Added<std::string> base_commit;
    Added<std::string> base_tree;
    std::string branch;                          ///< Empty for files.
    std::string commit;                          ///< Empty for files.
    std::optional<std::string> patch_file = {};  ///< Path below the task's folder.
    std::optional<std::string> patch_sha256 = {};
    std::optional<bool> signed_ = {};
    Added<std::string> commit_hooks;  ///< Which hooks ran, or why none did.
    std::optional<BaseDrift> drift = {};
};
BOOST_DESCRIBE_STRUCT(Delivered, (),
                      (stage, deliverable_type, tree, workspace_tree, base_commit, base_tree, branch, commit, patch_file,
                       patch_sha256, signed_, commit_hooks, drift))

/// The task's deliverable is a commit without a branch. Its set creates the branches of all parts.
struct DeliveryPrepared {
    static constexpr std::string_view type = "delivery_prepared";
    std::string stage;
    std::string branch;  ///< The branch that the set will make.
    std::string commit;
    std::string tree;            ///< The tree on which the `deliver` gate passed.
    std::string workspace_tree;  ///< The tree before commit hooks.
    std::string commit_hooks;    ///< Output of the commit hooks.
};
BOOST_DESCRIBE_STRUCT(DeliveryPrepared, (), (stage, branch, commit, tree, workspace_tree, commit_hooks))

/// The delivered branch was pushed to a remote.
struct Published {
    static constexpr std::string_view type = "published";
    std::string stage;
    std::string remote;
    std::string pr_url;
    Added<std::string> published_by;
    Added<std::string> publish_note;
};
BOOST_DESCRIBE_STRUCT(Published, (), (stage, remote, pr_url, published_by, publish_note))

/// A rebase made its commit and is about to move the branch. If it is killed before the record `rebased`, the next rebase takes
/// the rest from here.
struct RebasePrepared {
    static constexpr std::string_view type = "rebase_prepared";
    std::string commit;
    std::string branch;
    std::string tree;
    std::string base_commit;
    std::string base_tree;
    std::string red_tree;
    std::string replaces;  ///< The commit that the branch is moved away from.
    std::string summary;   ///< Of the `deliver` gate, which passed on the tree.
    std::string commit_hooks;
    bool signed_;
    Kept report;

    bool operator==(const RebasePrepared&) const = default;
};
BOOST_DESCRIBE_STRUCT(RebasePrepared, (),
                      (commit, branch, tree, base_commit, base_tree, red_tree, replaces, summary, commit_hooks, signed_, report))

/// The delivered change was rebased onto a newer base after the task's end.
struct Rebased {
    static constexpr std::string_view type = "rebased";
    std::string commit;
    Added<std::string> branch;
    std::string tree;
    std::string base_commit;
    Added<std::string> base_tree;
    Added<std::string> red_tree;
    std::string replaces;  ///< The previous commit.
    bool gate_passed;
    Added<std::string> summary;
    Added<std::string> commit_hooks;
    Added<bool> signed_;
    Added<json::value> drift;  ///< Always null: the rebase has ended the drift of the delivery.
    Added<Kept> report;
};
BOOST_DESCRIBE_STRUCT(Rebased, (),
                      (commit, branch, tree, base_commit, base_tree, red_tree, replaces, gate_passed, summary, commit_hooks,
                       signed_, drift, report))

// ------------------------------------------------------------------------------------------------------ what is used --

/// Limits and prices in force from now on.
struct Costing {
    static constexpr std::string_view type = "costing";
    CostingInForce in_force;
};
BOOST_DESCRIBE_STRUCT(Costing, (), (in_force))

/// The plugins with which the task runs from now on.
struct Plugins {
    static constexpr std::string_view type = "plugins";
    Added<Kept> in_use;  ///< A list of [PluginInUse](#plugininuse).
};
BOOST_DESCRIBE_STRUCT(Plugins, (), (in_use))

/// The dependencies in the specification are met. The task continues after the stage that wrote it.
struct DependenciesMet {
    static constexpr std::string_view type = "dependencies_met";
    std::string stage;               ///< The stage that may begin now.
    std::string specification_blob;  ///< The specification that names them.
    std::vector<TaskMet> tasks;
    std::vector<ExternalMet> external;
};
BOOST_DESCRIBE_STRUCT(DependenciesMet, (), (stage, specification_blob, tasks, external))

/// Opening the journal found an incomplete last line.
struct Recovered {
    static constexpr std::string_view type = "recovered";
    static constexpr bool only_informs = true;
    Added<std::string> torn_file;  ///< The file with its bytes.
    Added<std::uint64_t> torn_bytes;
};
BOOST_DESCRIBE_STRUCT(Recovered, (), (torn_file, torn_bytes))

/// A rebase was tried and refused.
struct Note {
    static constexpr std::string_view type = "note";
    static constexpr bool only_informs = true;
    Added<std::string> message;
    Added<std::string> tree;
    Added<Kept> report;
};
BOOST_DESCRIBE_STRUCT(Note, (), (message, tree, report))

// ---------------------------------------------------------------------------------------------------------- any one --

using Body =
    std::variant<TaskCreated, ExternalArtifactImported, Forked, TaskStarted, TaskResumed, TaskPaused, TaskAborted, TaskFailed,
                 TaskCompleted, TaskContinued, StageStarted, StageFailed, StageSkipped, StageCompleted, ArtifactAccepted,
                 ArtifactRejected, ReviewFinished, StageEscalated, EscalationRaised, EscalationResolved, ApprovalRequested,
                 ApprovalDecided, ActionProposed, ActionAsked, ActionDecided, CycleRequested, CycleStarted, Step, Answer,
                 CallLost, AttemptFailed, ServerTool, Violation, CallStarted, CallFinished, Gate, Snapshot, HeldOut, Delivered,
                 DeliveryPrepared, Published, RebasePrepared, Rebased, Costing, Plugins, DependenciesMet, Recovered, Note>;

/// Who did what a record describes.
struct Agent {
    Added<std::string> role;
    Added<std::string> version;
    std::optional<std::string> mode = {};  ///< `review`.
};
BOOST_DESCRIBE_STRUCT(Agent, (), (role, version, mode))

/// A field of each record of a journal, absent only before the journal writes the record.
template <class T>
using AddedByJournal = std::optional<T>;

/// The fields that every record has besides those of its type.
struct Envelope {
    AddedByJournal<Sequence> seq = {};      ///< Its number, from 1.
    std::uint64_t step = {};                ///< Agent steps of the task so far, with this one.
    std::string type;                       ///< One of the types below.
    std::string timestamp;                  ///< When it was written.
    std::optional<Agent> agent = {};        ///< Absent: the kernel itself.
    AddedByJournal<std::string> prev = {};  ///< The hash of the previous record, or of the header.
    AddedByJournal<std::string> hash = {};  ///< The hash of this record.
};
BOOST_DESCRIBE_STRUCT(Envelope, (), (seq, step, type, timestamp, agent, prev, hash))

struct AnyRecord {
    Envelope envelope;
    Body body;
};

[[nodiscard]] std::string_view type_of(const Body& body) noexcept;
/// Returns what every record has, as far as it can be read.
[[nodiscard]] inline Envelope envelope_in(const Record& record) { return Reader(record.body).read<Envelope>(); }
/// Returns the path, file, pattern or command of an action's arguments, at most 300 bytes. Empty: they have none.
[[nodiscard]] std::string target_in(const json::object& arguments);
/// Returns the stage that the record is about. Empty if its type names none.
[[nodiscard]] std::string_view stage_of(const Body& body) noexcept;
/// Returns only the fields of the type.
[[nodiscard]] json::object to_fields(const Body& body);
/// Reads a record of any type. Errors: `corrupt` AF-TASK-011 an unknown type (a newer format), AF-TASK-012 a field is missing or
/// has another type, or its time is invalid.
[[nodiscard]] Result<AnyRecord> read_record(const json::object& record);
/// What a line of a journal appears to be, judged by its first bytes. For finding one line among a million; the line found must
/// then be read and verified.
struct LineOutline {
    Sequence seq = 0;
    std::uint64_t step = 0;
    std::string_view type;
};
/// Returns nothing if the line does not begin as `append` writes a record of a task.
[[nodiscard]] std::optional<LineOutline> outline_of_line(std::string_view line);
/// Returns the place of an error: "actions.yaml, record 7, type gate".
[[nodiscard]] std::string place_of(const json::object& record);
/// Returns the record if it has this type, with its fields as far as they can be read.
template <class T>
[[nodiscard]] std::optional<T> as(const Record& record) {
    if (record.type() != T::type) { return std::nullopt; }
    return Reader(record.body).read<T>();
}

}  // namespace agentforge::kernel::records
