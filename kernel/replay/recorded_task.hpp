// SPDX-License-Identifier: Apache-2.0
// The events in a task's journal, indexed by the places at which a replay meets them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/escalation.hpp>

#include "agent/step_host.hpp"
#include "journal/blob_store.hpp"
#include "records/records.hpp"
#include "task/state.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// Follows the name of a person whose answer a replay repeats; then comes the task.
inline constexpr std::string_view repeated_from = ", repeated from task ";

/// A step of an agent's run, or its model call. Two tasks that do the same have the same places.
struct StepPlace {
    std::string stage;
    unsigned visit = 0;
    unsigned run = 0;
    std::string role;
    unsigned step = 0;      ///< Step of the run, from 1.
    std::string mode = {};  ///< `review`, or empty. Always empty for an answer, whose record does not need it.

    auto operator<=>(const StepPlace&) const = default;
};

/// A gate in one visit of a stage.
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
    TaskState state;          ///< State after the last record.
    std::string tree_at_end;  ///< The tree that the task's own steps made. A rebase afterwards does not change it.
    std::map<StepPlace, std::vector<RecordedAnswer>> answers;
    std::map<StepPlace, RecordedStep> steps;
    std::map<GatePlace, std::vector<records::Gate>> gates;            ///< In the order of measurement.
    std::map<std::pair<std::string, unsigned>, Error> failed_visits;  ///< By stage and visit: the error that ended the visit.
    std::map<std::pair<std::string, unsigned>, std::map<unsigned, records::CallFinished>> calls;
    std::map<std::string, std::vector<records::ArtifactAccepted>> artifacts;      ///< By stage.
    std::map<std::string, std::vector<RecordedApproval>> approvals;               ///< By stage.
    std::map<std::string, std::vector<records::EscalationResolved>> resolutions;  ///< By stage.
    /// Decisions on actions of an interactive task.
    std::map<StepPlace, records::ActionDecided> decisions;
    std::shared_ptr<BlobStore> blobs;

    /// Reads and folds the journal. Errors: AF-TASK-002 no such task; AF-JRNL-002; AF-RPLY-001 a process runs it; AF-RPLY-006 a
    /// blob needed for a replay is missing; AF-RPLY-007 it has no step.
    [[nodiscard]] static Result<RecordedTask> read(const TaskStore& store, std::string_view task_id);

    /// Returns the value behind a Kept. Errors: AF-JRNL-011, AF-JRNL-012.
    [[nodiscard]] Result<json::value> kept(const records::Kept& kept) const;
    /// Returns a step with everything it showed. Errors: as `kept`.
    [[nodiscard]] Result<StepRecord> whole(const records::Step& step) const;
};

/// Returns the error of a command that needs the trees of the task's steps. If git has removed one, names the command that makes
/// them again.
[[nodiscard]] Error with_way_to_trees(Error error, std::string_view task_id);

/// Returns the place of an agent's record.
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
