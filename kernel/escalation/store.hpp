// SPDX-License-Identifier: Apache-2.0
// Questions and approvals that wait for a person: `.agentforge/escalations/` (North Star 4.4).
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

namespace agentforge::kernel {

/// Something that waits for a person.
struct PendingItem {
    enum class Kind : unsigned char { escalation = 1, approval };
    Kind kind = Kind::escalation;
    std::string id;
    std::string task_id;
    std::string stage;
    std::string question;           ///< Of an escalation.
    std::string artifact_hash;      ///< Of an approval.
    std::string created_at;
};

/// Until when an answer is waited for, and what happens then. It is asked for together with the question, and so as immutable as that.
struct AnswerBy {
    std::string deadline;           ///< RFC 3339, UTC; empty: none.
    std::string then = "pause";     ///< `pause`: it stays open; `default`: `default_answer` is the answer; `abort`: the task ends.
    std::string default_answer;     ///< Empty: there is none, and `default` is `pause`.
    bool operator==(const AnswerBy&) const = default;
};

/// What the settings say of deadlines (`escalation.deadline_seconds`, `escalation.on_deadline`, `escalation.default_answer`).
struct AnswerRule {
    std::chrono::seconds within{0};     ///< 0: no deadline.
    std::string then = "pause";
    std::string default_answer;         ///< Empty: the first option.
    /// For a question of that time with these options. An approval has none, and a deadline never gives it: `default` is `pause` there.
    [[nodiscard]] AnswerBy of(std::string_view created_at, const std::vector<std::string>& options, bool approval) const;
};

struct PendingList {
    std::vector<PendingItem> items;     ///< Oldest first.
    std::vector<Error> problems;        ///< One for each file that could not be read or has no meaning here.
};

/// Safe to use from several processes. An instance has no state but its folder.
class EscalationStore {
public:
    /// `agentforge_directory` is the project's `.agentforge`.
    explicit EscalationStore(std::filesystem::path agentforge_directory);

    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

    /// `ESC-<task>-<stage>-<counter>` and `APR-…`: the same call of a resumed task gets the same id.
    [[nodiscard]] static std::string escalation_id(std::string_view task_id, std::string_view stage, unsigned counter);
    [[nodiscard]] static std::string approval_id(std::string_view task_id, std::string_view stage, unsigned counter);

    /// Records what is asked; on disk when it returns. The same record again is no error (a task that resumes).
    /// Errors: `invalid` AF-ESC-002 the id; `conflict` AF-ESC-003 another record has it; `io`.
    [[nodiscard]] Result<void> record(const Escalation& escalation, const AnswerBy& by = {}) const;
    [[nodiscard]] Result<void> record(const ApprovalRequest& request, const AnswerBy& by = {}) const;

    /// Errors: `not_found` AF-ESC-001 naming the nearest id; `invalid` AF-ESC-002, AF-ESC-005 (file, line, field).
    [[nodiscard]] Result<Escalation> escalation(std::string_view id) const;
    [[nodiscard]] Result<ApprovalRequest> approval(std::string_view id) const;

    /// Until when the question or approval is to be answered. Errors: as above; `invalid` AF-ESC-059 a deadline that is no time, or another word
    /// than those for what happens then.
    [[nodiscard]] Result<AnswerBy> answer_by(std::string_view id) const;

    /// The answer, or empty for "not yet". Errors: AF-ESC-001, -002, -005; `conflict` AF-ESC-006 the decision is
    /// for another artifact. A file without `artifact_hash` decides what was shown.
    [[nodiscard]] Result<std::optional<Resolution>> resolution(std::string_view id) const;
    [[nodiscard]] Result<std::optional<Approval>> decision(std::string_view id) const;

    /// Answers; on disk when it returns. Errors: `not_found` AF-ESC-001; `conflict` AF-ESC-004 somebody was first;
    /// `invalid` AF-ESC-007 an answer that says nothing.
    [[nodiscard]] Result<void> resolve(std::string_view id, const Resolution& resolution) const;
    /// The same for an approval. Errors: also `conflict` AF-ESC-006 it was decided on another artifact's hash.
    [[nodiscard]] Result<void> decide(std::string_view id, const Approval& approval) const;

    /// What waits, of one task or of all.
    [[nodiscard]] Result<PendingList> pending(const std::optional<std::string>& task_id = {}) const;

private:
    std::filesystem::path directory_;
};

}  // namespace agentforge::kernel
