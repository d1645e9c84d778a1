// SPDX-License-Identifier: Apache-2.0
// Questions, approvals and actions that wait for a person: `.agentforge/escalations/`.
//
// `<id>.yaml` is the question and never changes. `<id>.resolution.yaml` is its one answer. The console, `agentforge resolve`, the
// dashboard and a person's editor can create that file, and the first one wins. A question without an answer, or with an
// unreadable one, is pending. People write answers by hand, so the store reads them strictly. It never changes or removes an
// answer to a question that was asked.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/escalation.hpp>
#include <agentforge/result.hpp>

#include "escalation/feedback.hpp"
#include "escalation/question.hpp"

namespace agentforge::kernel {

/// An item that waits for a person.
struct PendingItem {
    QuestionKind kind = QuestionKind::escalation;
    std::string id;
    std::string task_id;
    std::string stage;
    std::string question;       ///< The question of an escalation, or the description of an action in one line.
    std::string artifact_hash;  ///< Hash of the artifact to approve, or of the action shown.
    std::string created_at;
};

/// The deadline for an answer, and what happens then. Recorded with the question; like the question, it never changes.
struct AnswerDeadline {
    std::string time;            ///< RFC 3339, UTC. Empty: no deadline.
    std::string then = "pause";  ///< `pause`: it stays open; `default`: `default_answer` is the answer; `abort`: the task ends.
    std::string default_answer;  ///< Empty: there is none, and `default` means `pause`.
    bool operator==(const AnswerDeadline&) const = default;
};

/// Returns the text of the question's file.
[[nodiscard]] std::string question_text(const Escalation& escalation, const AnswerDeadline& deadline = {});
[[nodiscard]] std::string question_text(const ApprovalRequest& request, const AnswerDeadline& deadline = {});

/// The settings for deadlines (`escalation.deadline_seconds`, `escalation.on_deadline`, `escalation.default_answer`).
struct DeadlinePolicy {
    std::chrono::seconds within{0};  ///< 0: no deadline.
    std::string then = "pause";
    std::string default_answer;  ///< Empty: the first option.
    /// Returns the deadline of a question that was asked at `created_at` and has these options. A deadline never approves
    /// anything: for approvals `default` means `pause`.
    [[nodiscard]] AnswerDeadline of(std::string_view created_at, const std::vector<std::string>& options, bool approval) const;
};

/// A person's decision on an action that a model proposed.
struct ActionDecision {
    bool approved = false;
    std::optional<json::object> edited;  ///< The replacement to carry out: `tool` and `arguments`.
    std::string feedback;                ///< For a rejected action: the message to the model.
    std::string action_hash;             ///< Hash of what was shown.
    std::string decided_by;
};

/// A person's decision on an artifact. Its file may have only `approved` and `feedback` (approve, revise, reject); `decision`
/// also allows `exit` and `extend`.
struct ArtifactDecision {
    /// `approve`, `revise`, `reject`, `exit` (approved, and the last artifact of the task) or `extend` (approved, and more stages
    /// follow).
    std::string decision;
    std::string feedback;               ///< What to change, or why it is rejected.
    std::vector<FeedbackIssue> issues;  ///< For `revise`.
    std::string extend_to;      ///< For `extend`: the last stage of the task. Empty: the end of the pipeline that follows.
    std::string accept_stale;   ///< For `extend`: why artifacts that name changed files are accepted.
    std::string artifact_hash;  ///< Hash of what was shown.
    std::string decided_by;
    [[nodiscard]] bool approved() const noexcept { return decision == "approve" || decision == "exit" || decision == "extend"; }
};

/// Distinguishes two contents of an answer's file without reading it. Empty if there is no file.
struct AnswerVersion {
    std::int64_t modified_ns = 0;
    std::int64_t bytes = 0;
    bool operator==(const AnswerVersion&) const = default;
};

struct PendingList {
    std::vector<PendingItem> items;  ///< Oldest first.
    std::vector<Error> problems;     ///< One for each file that is unreadable or does not belong here.
};

/// Returns the proposed action in the form in which it may be changed: only `tool` and `arguments`.
[[nodiscard]] json::object action_of(const ApprovalRequest& request);
/// Describes an action in one line for a person: the tool, and its short arguments.
[[nodiscard]] std::string action_line(const json::object& shown);
/// Describes the whole action for a person: the tool, then each argument with its text in lines. Omits nothing, because the
/// approval covers all of it.
[[nodiscard]] std::string action_text(const json::object& shown);

/// Reads a changed action: `arguments`, and `tool` (default: that of `request`). `where`: the file, for errors. Error: `invalid`
/// AF-ESC-032 an unknown key, no `arguments`, an invalid `tool` name.
[[nodiscard]] Result<json::object> changed_action(const json::object& given, const ApprovalRequest& request,
                                                  const std::string& where = {});

/// The questions that have a file with an answer, of all tasks.
class AnsweredQuestions {
public:
    explicit AnsweredQuestions(std::vector<std::string> ids = {});
    /// True if this question has such a file, be it empty or unreadable.
    [[nodiscard]] bool contains(std::string_view id) const;
    /// True if a question of this task, or of one whose id begins with this one, is among them.
    [[nodiscard]] bool has_any_of_task(std::string_view task_id) const;

private:
    std::vector<std::string> names_;  ///< The ids without their prefixes, sorted.
};

/// Several processes may use it at once. An instance has no state except its folder.
class EscalationStore {
public:
    /// `agentforge_directory` is the project's `.agentforge`.
    explicit EscalationStore(std::filesystem::path agentforge_directory);

    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

    /// Returns `ESC-<task>-<stage>-<counter>` or `APR-…`. The same call of a resumed task gets the same id.
    [[nodiscard]] static std::string escalation_id(std::string_view task_id, std::string_view stage, unsigned counter);
    [[nodiscard]] static std::string approval_id(std::string_view task_id, std::string_view stage, unsigned counter);
    /// Returns `ACT-…`, the id of an action. Its request is an ApprovalRequest whose `artifact` is what is shown and whose
    /// `artifact_hash` is the hash of that.
    [[nodiscard]] static std::string action_id(std::string_view task_id, std::string_view stage, std::uint64_t counter);

    /// Records a question. On disk when it returns. Succeeds if the same record exists (a resumed task). Errors: `invalid`
    /// AF-ESC-002 the id; `conflict` AF-ESC-003 another record has it; `io`.
    [[nodiscard]] Result<void> record(const Escalation& escalation, const AnswerDeadline& deadline = {}) const;
    [[nodiscard]] Result<void> record(const ApprovalRequest& request, const AnswerDeadline& deadline = {}) const;

    /// Errors: `not_found` AF-ESC-001 with the nearest id; `invalid` AF-ESC-002, AF-ESC-005 (file, line, field).
    [[nodiscard]] Result<Escalation> escalation(std::string_view id) const;
    [[nodiscard]] Result<ApprovalRequest> approval(std::string_view id) const;
    /// The same for an item of any kind, answered or not, as `pending` lists it.
    [[nodiscard]] Result<PendingItem> item(std::string_view id) const;

    /// Call it before a question is raised. An answer that already exists then is invalid, because nothing was shown yet: renames
    /// it to `<id>.early-<number>.yaml` and returns a message about it. A question that is already recorded keeps its answer.
    /// Errors: `io` AF-ESC-008.
    [[nodiscard]] Result<std::optional<Error>> discard_early_answer(std::string_view id) const;

    /// Returns the error for a question that its task waits for by the journal, but whose file is missing. The task writes it
    /// again when it is resumed.
    [[nodiscard]] Error missing_question_error(std::string_view id, std::string_view task_id) const;

    /// Returns the deadline of the question or approval. Errors: as above; `invalid` AF-ESC-059 an invalid time, or an unknown
    /// word for what happens then.
    [[nodiscard]] Result<AnswerDeadline> answer_deadline(std::string_view id) const;

    /// Returns the answer, or empty for "not yet". Errors: AF-ESC-001, -002, -005; `conflict` AF-ESC-006 the decision is for
    /// another artifact. A file without `artifact_hash` decides on what was shown.
    [[nodiscard]] Result<std::optional<Resolution>> resolution(std::string_view id) const;
    [[nodiscard]] Result<std::optional<Approval>> decision(std::string_view id) const;
    /// The same, with everything that a decision on an artifact may contain.
    [[nodiscard]] Result<std::optional<ArtifactDecision>> artifact_decision(std::string_view id) const;
    /// The same for an action: `approved: true`, with `edited` (`arguments`, and `tool` if it differs) to carry out a changed
    /// one; or `approved: false`, with `feedback` for the model.
    [[nodiscard]] Result<std::optional<ActionDecision>> action_decision(std::string_view id) const;
    /// Returns whether an item of any kind has an answer that can be used. Errors: as above.
    [[nodiscard]] Result<bool> has_answer(std::string_view id) const;
    /// Returns whether an answer's file exists, valid or not. Cheap enough to poll every few milliseconds. An empty file is not
    /// written yet.
    [[nodiscard]] std::optional<AnswerVersion> answer_version(std::string_view id) const;

    /// Returns the questions that have an answer's file. Reads the folder's names only.
    [[nodiscard]] AnsweredQuestions answered() const;

    /// Checks that an answer can still be given. Errors: `conflict` AF-ESC-004 another answer was first (shows it); `invalid`
    /// AF-ESC-005 the file in its place is not a valid answer.
    [[nodiscard]] Result<void> check_unanswered(std::string_view id) const;

    /// Answers. On disk when it returns. Errors: `not_found` AF-ESC-001; `conflict` AF-ESC-004 another answer was first (shows
    /// it); `invalid` AF-ESC-005 the file in its place is not a valid answer, AF-ESC-007 an empty answer, AF-ESC-048 not UTF-8.
    [[nodiscard]] Result<void> resolve(std::string_view id, const Resolution& resolution) const;
    /// The same for an approval, and for an unchanged action. Errors: also `conflict` AF-ESC-006 it is for another artifact's
    /// hash.
    [[nodiscard]] Result<void> decide(std::string_view id, const Approval& approval) const;
    [[nodiscard]] Result<void> decide_artifact(std::string_view id, const ArtifactDecision& decision) const;
    /// The same for an action. Errors: also `invalid` AF-ESC-032 the changed action is invalid.
    [[nodiscard]] Result<void> decide_action(std::string_view id, const ActionDecision& decision) const;

    /// Returns the pending items, of one task or of all.
    [[nodiscard]] Result<PendingList> pending(const std::optional<std::string>& task_id = {}) const;

private:
    std::filesystem::path directory_;
};

}  // namespace agentforge::kernel
