// SPDX-License-Identifier: Apache-2.0
// What the journal says about the files that people read: questions, decisions, and the versions of artifacts.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <agentforge/escalation.hpp>

#include "audit/evidence.hpp"
#include "escalation/decision_file.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

/// A question as its file shows it.
struct RecordedQuestion {
    std::variant<Escalation, ApprovalRequest> asked;
    std::string time;                           ///< The deadline. Empty: there is none.
    std::optional<std::string> then;            ///< Absent in older records.
    std::optional<std::string> default_answer;  ///< Absent in older records.
};

/// A person's decision on a version of an artifact.
struct RecordedDecision {
    records::ApprovalDecided decided;
    DecidedVersion version;
    std::string asked_at;
    std::string decided_at;
};

/// What the file of an artifact has around the artifact's own fields.
struct RecordedEnvelope {
    std::string stage;
    std::string contract;          ///< Empty in older records.
    std::string contract_version;  ///< Empty: not recorded.
    json::object figures;          ///< The fields of `_metadata` besides the task.
};

struct RecordedHistory {
    std::map<std::string, RecordedQuestion> questions;  ///< By id. Without those whose blobs are missing.
    std::vector<records::EscalationResolved> resolutions;
    std::vector<records::ApprovalDecided> decisions;
    std::vector<records::ActionDecided> action_decisions;
    std::map<std::string, RecordedDecision> decision_files;  ///< The last decision for each name of a file.
    std::map<std::string, std::string> artifacts;            ///< The artifact's file of each stage.
    std::set<std::string> accepted_files;                    ///< Of artifacts and reviews.
    std::map<std::string, std::string> versions;             ///< For each version that was decided on, its file and its blob.
    std::multimap<std::string, RecordedEnvelope> envelopes;  ///< By the artifact's blob.
    std::set<std::string> files;                             ///< The names of the task's files.
    std::set<std::string> ids;                               ///< Of the questions that the task asked.
    /// The earliest and the latest time of a record. The clock may have been set back, so the first need not be the earliest.
    std::optional<std::chrono::system_clock::time_point> earliest;
    std::optional<std::chrono::system_clock::time_point> latest;
};

/// Cost: folds the journal once more.
[[nodiscard]] RecordedHistory read_history(const TaskEvidence& evidence);

/// Reads a blob of the task. Nothing if it is missing or no object: the audit reports that with the blobs.
[[nodiscard]] std::optional<json::object> object_in_blob(const TaskEvidence& evidence, const std::string& hash);

}  // namespace agentforge::kernel
