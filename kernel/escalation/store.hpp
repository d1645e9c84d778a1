// SPDX-License-Identifier: Apache-2.0
// Questions, approvals and actions that wait for a person: `.agentforge/escalations/` (North Star 4.3, 4.4).
//
// `<id>.yaml` is what was asked and never changes; `<id>.resolution.yaml` is the one answer: whoever creates it
// first (the console, `agentforge resolve`, the page, a person's editor) has answered. What has no answer, or one
// that cannot be read, is pending. The files are data from people: read strictly, and never changed or removed here.
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

namespace agentforge::kernel {

/// Something that waits for a person.
struct PendingItem {
    enum class Kind : unsigned char { escalation = 1, approval, action };
    Kind kind = Kind::escalation;
    std::string id;
    std::string task_id;
    std::string stage;
    std::string question;       ///< Of an escalation; of an action, what it is, in a line.
    std::string artifact_hash;  ///< Of an approval, or of the action that is shown.
    std::string created_at;
};

/// Until when an answer is waited for, and what happens then. It is asked for together with the question, and so as immutable as
/// that.
struct AnswerBy {
    std::string deadline;        ///< RFC 3339, UTC; empty: none.
    std::string then = "pause";  ///< `pause`: it stays open; `default`: `default_answer` is the answer; `abort`: the task ends.
    std::string default_answer;  ///< Empty: there is none, and `default` is `pause`.
    bool operator==(const AnswerBy&) const = default;
};

/// What the settings say of deadlines (`escalation.deadline_seconds`, `escalation.on_deadline`, `escalation.default_answer`).
struct AnswerRule {
    std::chrono::seconds within{0};  ///< 0: no deadline.
    std::string then = "pause";
    std::string default_answer;  ///< Empty: the first option.
    /// For a question of that time with these options. An approval has none, and a deadline never gives it: `default` is `pause`
    /// there.
    [[nodiscard]] AnswerBy of(std::string_view created_at, const std::vector<std::string>& options, bool approval) const;
};

/// What a person decided on an action that a model proposed.
struct ActionDecision {
    bool approved = false;
    std::optional<json::object> edited;  ///< What is done in its place: `tool` and `arguments`.
    std::string feedback;                ///< Of one that is rejected: what the model is told.
    std::string action_hash;             ///< Of what was shown.
    std::string decided_by;
};

/// What a person decided on an artifact. In its file `approved` (and `feedback`) say it as always; `decision` says what those two
/// cannot.
struct ArtifactDecision {
    std::string decision;  ///< `approve`, `revise`, `reject`, `exit` (approved, and the last artifact of the task) or `extend`
                           ///< (approved, and more stages follow).
    std::string feedback;  ///< What is to be changed, or why it is rejected.
    std::vector<FeedbackIssue> issues;  ///< Of `revise`.
    std::string extend_to;      ///< Of `extend`: the stage that the task ends with; empty: where the pipeline that follows ends.
    std::string accept_stale;   ///< Of `extend`: why artifacts that name changed files count all the same.
    std::string artifact_hash;  ///< Of what was shown.
    std::string decided_by;
    [[nodiscard]] bool approved() const noexcept { return decision == "approve" || decision == "exit" || decision == "extend"; }
};

/// What tells two contents of an answer's file apart without reading it; nothing where there is none.
struct AnswerVersion {
    std::int64_t modified_ns = 0;
    std::int64_t bytes = 0;
    bool operator==(const AnswerVersion&) const = default;
};

struct PendingList {
    std::vector<PendingItem> items;  ///< Oldest first.
    std::vector<Error> problems;     ///< One for each file that could not be read or has no meaning here.
};

/// What is asked for of an action, as it may be given changed: `tool` and `arguments` alone.
[[nodiscard]] json::object action_of(const ApprovalRequest& request);
/// An action as a person is shown it, in a line: the tool, and its arguments as far as they are short.
[[nodiscard]] std::string action_line(const json::object& shown);
/// The whole of it: tool, then each argument with its text as it is, in lines. What is asked for is complete here: an approval is
/// bound to all of it.
[[nodiscard]] std::string action_text(const json::object& shown);

/// A changed action: `arguments`, and the tool of `request` where it names no other. `where` it was written, for the error.
/// Error: `invalid` AF-ESC-032 an unknown key, no `arguments`, a `tool` that is no name.
[[nodiscard]] Result<json::object> changed_action(const json::object& given, const ApprovalRequest& request,
                                                  const std::string& where = {});

/// Safe to use from several processes. An instance has no state but its folder.
class EscalationStore {
public:
    /// `agentforge_directory` is the project's `.agentforge`.
    explicit EscalationStore(std::filesystem::path agentforge_directory);

    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

    /// `ESC-<task>-<stage>-<counter>` and `APR-…`: the same call of a resumed task gets the same id.
    [[nodiscard]] static std::string escalation_id(std::string_view task_id, std::string_view stage, unsigned counter);
    [[nodiscard]] static std::string approval_id(std::string_view task_id, std::string_view stage, unsigned counter);
    /// `ACT-…`: an action. Its request is an ApprovalRequest whose `artifact` is what is shown and whose `artifact_hash` is that
    /// one's hash.
    [[nodiscard]] static std::string action_id(std::string_view task_id, std::string_view stage, std::uint64_t counter);

    /// Records what is asked; on disk when it returns. The same record again is no error (a task that resumes).
    /// Errors: `invalid` AF-ESC-002 the id; `conflict` AF-ESC-003 another record has it; `io`.
    [[nodiscard]] Result<void> record(const Escalation& escalation, const AnswerBy& by = {}) const;
    [[nodiscard]] Result<void> record(const ApprovalRequest& request, const AnswerBy& by = {}) const;

    /// Errors: `not_found` AF-ESC-001 naming the nearest id; `invalid` AF-ESC-002, AF-ESC-005 (file, line, field).
    [[nodiscard]] Result<Escalation> escalation(std::string_view id) const;
    [[nodiscard]] Result<ApprovalRequest> approval(std::string_view id) const;

    /// Before a question is raised: an answer that lies there already answers nothing, for nobody was shown anything. It is
    /// renamed to
    /// `<id>.early-<number>.yaml`; what to say of it, where there was one. A question that is recorded already keeps its answer.
    /// Errors: `io` AF-ESC-008.
    [[nodiscard]] Result<std::optional<Error>> set_early_answer_aside(std::string_view id) const;

    /// What to say of one that its task waits for by the journal, and whose file is gone: the task writes it anew when it is
    /// resumed.
    [[nodiscard]] Error lost(std::string_view id, std::string_view task_id) const;

    /// Until when the question or approval is to be answered. Errors: as above; `invalid` AF-ESC-059 a deadline that is no time,
    /// or another word than those for what happens then.
    [[nodiscard]] Result<AnswerBy> answer_by(std::string_view id) const;

    /// The answer, or empty for "not yet". Errors: AF-ESC-001, -002, -005; `conflict` AF-ESC-006 the decision is
    /// for another artifact. A file without `artifact_hash` decides what was shown.
    [[nodiscard]] Result<std::optional<Resolution>> resolution(std::string_view id) const;
    [[nodiscard]] Result<std::optional<Approval>> decision(std::string_view id) const;
    /// The same with all that a decision on an artifact may say.
    [[nodiscard]] Result<std::optional<ArtifactDecision>> artifact_decision(std::string_view id) const;
    /// The same for an action: `approved: true`, with `edited` (`arguments`, and `tool` where it is another) where it is to be
    /// done otherwise; or `approved: false`, with `feedback` for the model.
    [[nodiscard]] Result<std::optional<ActionDecision>> action_decision(std::string_view id) const;
    /// Whether an answer lies there, read or not: cheap enough to ask every few milliseconds. A file that is empty is not written
    /// yet.
    [[nodiscard]] std::optional<AnswerVersion> answer_version(std::string_view id) const;

    /// Whether an answer can still be given. Errors: `conflict` AF-ESC-004 somebody was first (and what they said); `invalid`
    /// AF-ESC-005 what lies there is no answer.
    [[nodiscard]] Result<void> check_unanswered(std::string_view id) const;

    /// Answers; on disk when it returns. Errors: `not_found` AF-ESC-001; `conflict` AF-ESC-004 somebody was first (and what they
    /// said); `invalid` AF-ESC-005 what lies there first is no answer, AF-ESC-007 an answer that says nothing, AF-ESC-048 one
    /// that is not UTF-8.
    [[nodiscard]] Result<void> resolve(std::string_view id, const Resolution& resolution) const;
    /// The same for an approval, and for an action that is not changed. Errors: also `conflict` AF-ESC-006 it was decided on
    /// another artifact's hash.
    [[nodiscard]] Result<void> decide(std::string_view id, const Approval& approval) const;
    [[nodiscard]] Result<void> decide_artifact(std::string_view id, const ArtifactDecision& decision) const;
    /// The same for an action. Errors: also `invalid` AF-ESC-032 the changed action is not one.
    [[nodiscard]] Result<void> decide_action(std::string_view id, const ActionDecision& decision) const;

    /// What waits, of one task or of all.
    [[nodiscard]] Result<PendingList> pending(const std::optional<std::string>& task_id = {}) const;

private:
    std::filesystem::path directory_;
};

}  // namespace agentforge::kernel
