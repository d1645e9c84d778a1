// SPDX-License-Identifier: Apache-2.0
// What a task's journal says happened, by the places where a replay of it meets the same again.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/escalation.hpp>

#include "agent/runner.hpp"
#include "journal/blobs.hpp"
#include "records/records.hpp"
#include "task/state.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// A step of an agent's run, or the call of its model. Two tasks that do the same have the same places.
struct StepPlace {
    std::string stage;
    unsigned visit = 0;
    unsigned run = 0;
    std::string role;
    unsigned step = 0;      ///< Of the run, from 1.
    std::string mode = {};  ///< `review`, or empty; of an answer always empty: its record does not need it.

    auto operator<=>(const StepPlace&) const = default;
};

/// A gate of one visit of a stage.
struct GatePlace {
    std::string stage;
    unsigned visit = 0;
    std::string gate;

    auto operator<=>(const GatePlace&) const = default;
};

struct RecordedAnswer {
    std::string frame_hash;
    records::Kept answer;
};
struct RecordedStep {
    Sequence seq = 0;
    std::uint64_t number = 0;
    records::Step body;
};
struct RecordedApproval {
    records::ApprovalDecided decided;
    std::string tree;
};
struct RecordedCall {
    records::CallFinished body;
};

/// Immutable once read.
struct RecordedTask {
    records::TaskCreated created;
    TaskState state;  ///< After the last record.
    std::map<StepPlace, std::vector<RecordedAnswer>> answers;
    std::map<StepPlace, RecordedStep> steps;
    std::map<GatePlace, std::vector<records::Gate>> gates;            ///< In the order in which they were measured.
    std::map<std::pair<std::string, unsigned>, Error> failed_visits;  ///< By stage and visit: what the visit ended with.
    std::map<std::pair<std::string, unsigned>, std::map<unsigned, records::CallFinished>> calls;
    std::map<std::string, std::vector<records::ArtifactAccepted>> artifacts;      ///< By stage.
    std::map<std::string, std::vector<RecordedApproval>> approvals;               ///< By stage.
    std::map<std::string, std::vector<records::EscalationResolved>> resolutions;  ///< By stage.
    std::map<StepPlace, records::ActionDecided> decisions;                        ///< On actions of an interactive task.
    std::shared_ptr<BlobStore> blobs;

    /// Reads and folds the journal. Errors: AF-TASK-002 no such task; AF-JRNL-002; AF-RPLY-001 a process runs it; AF-RPLY-006 a
    /// blob that a replay needs is gone; AF-RPLY-007 it has no step.
    [[nodiscard]] static Result<RecordedTask> read(const TaskStore& store, std::string_view task_id);

    /// What `keep` kept. Errors: AF-JRNL-011, AF-JRNL-012.
    [[nodiscard]] Result<json::value> kept(const records::Kept& kept) const;
    /// A step with all that it showed. Errors: as `kept`.
    [[nodiscard]] Result<StepRecord> whole(const records::Step& step) const;
};

/// The place of a record of an agent.
template <class T>
[[nodiscard]] StepPlace place_of_step(const T& body, const records::Envelope& envelope) {
    StepPlace place{body.phase, *body.visit, *body.run, "", *body.run_step};
    if (envelope.agent) {
        place.role = *envelope.agent->role;
        place.mode = envelope.agent->mode.value_or("");
    }
    return place;
}

}  // namespace agentforge::kernel
