// SPDX-License-Identifier: Apache-2.0
#include "replay/recorded_task.hpp"

#include "base/ids.hpp"
#include "base/text.hpp"
#include "pipeline/codec.hpp"
#include "pipeline/task_session.hpp"

namespace agentforge::kernel {

namespace {

Error error_of(const records::RecordedError& recorded) {
    return Error{recorded.code, recorded.message, *recorded.where, *recorded.remedy, static_cast<ErrorKind>(*recorded.kind)};
}

/// Adds one record to the task, whose state already includes it.
class Sorter {
public:
    Sorter(RecordedTask& task, const records::Envelope& envelope) : task_(task), envelope_(envelope) {}

    void operator()(const records::TaskCreated& created) { task_.created = created; }
    void operator()(const records::Answer& answer) {
        StepPlace place = place_of_step(answer, envelope_);
        place.mode.clear();
        task_.answers[place].push_back({*answer.frame_hash, *answer.answer});
    }
    void operator()(const records::Step& step) {
        task_.steps[place_of_step(step, envelope_)] = {envelope_.seq.value_or(0), envelope_.step, step};
    }
    void operator()(const records::Gate& gate) { task_.gates[{*gate.stage, visit(), gate.gate}].push_back(gate); }
    void operator()(const records::StageFailed& failed) {
        task_.failed_visits.insert_or_assign({failed.stage, visit()}, error_of(failed.error));
    }
    void operator()(const records::CallFinished& call) { task_.calls[{*call.stage, *call.visit}][*call.call] = call; }
    void operator()(const records::ArtifactAccepted& accepted) { task_.artifacts[accepted.stage].push_back(accepted); }
    void operator()(const records::ApprovalDecided& decided) {
        task_.approvals[*decided.stage].push_back({decided, task_.state.tree});
    }
    void operator()(const records::EscalationResolved& resolved) { task_.resolutions[*resolved.stage].push_back(resolved); }
    void operator()(const records::ActionProposed& proposed) { proposed_ = place_of_step(proposed, envelope_); }
    void operator()(const records::ActionDecided& decided) { task_.decisions.insert_or_assign(proposed_, decided); }
    template <class Other>
    void operator()(const Other&) {}

    void envelope(const records::Envelope& envelope) { envelope_ = envelope; }

private:
    [[nodiscard]] unsigned visit() const { return task_.state.stages.empty() ? 0 : task_.state.stage().visits; }

    RecordedTask& task_;
    records::Envelope envelope_;
    StepPlace proposed_;
};

Result<void> check_blob(const RecordedTask& task, const std::string& blob, const StepPlace& place) {
    if (blob.empty() || task.blobs->contains(blob)) { return {}; }
    return Error{"AF-RPLY-006",
                 "task " + task.state.task_id + " lacks the result of step " + std::to_string(place.step) + " of stage `" +
                     place.stage + "`; `gc --blobs` removes them",
                 "blob " + blob,
                 "`agentforge archive restore " + short_id(task.state.task_id) + "`, or restore artifacts/blobs from a backup",
                 ErrorKind::corrupt};
}

Result<void> check_blobs(const RecordedTask& task) {
    for (const auto& [place, answers] : task.answers) {
        for (const RecordedAnswer& answer : answers) { AF_CHECK(check_blob(task, answer.answer.blob, place)); }
    }
    for (const auto& [place, step] : task.steps) { AF_CHECK(check_blob(task, *step.body.record_blob, place)); }
    return {};
}

}  // namespace

Error with_way_to_trees(Error error, std::string_view task_id) {
    if (error.code == "AF-GIT-007") {
        error.remedy = "`git gc` has removed the trees of its steps; `agentforge replay " + short_id(task_id) +
                       " --verify` makes them again";
    }
    return error;
}

Result<RecordedTask> RecordedTask::read(const TaskStore& store, std::string_view task_id) {
    const TaskPaths paths = store.paths(task_id);
    if (const auto holder = TaskLock::holder(paths)) {
        return Error{"AF-RPLY-001", "task " + std::string(task_id) + " is being run by process " + std::to_string(holder->pid),
                     paths.root.string(), "wait until it has ended, or `agentforge pause " + short_id(task_id) + "`",
                     ErrorKind::conflict};
    }
    std::vector<Record> all;
    AF_CHECK(read_task_state(store, task_id, &all));
    RecordedTask task;
    task.blobs = std::make_shared<BlobStore>(paths.blobs());
    Sorter sorter(task, {});
    std::string rebased_commit;
    for (const Record& record : all) {
        AF_CHECK(fold(task.state, record.body));
        AF_TRY(const records::AnyRecord typed, records::read_record(record.body));
        sorter.envelope(typed.envelope);
        std::visit(sorter, typed.body);
        if (std::holds_alternative<records::Rebased>(typed.body)) { rebased_commit = task.state.commit; }
        if (rebased_commit.empty() || task.state.commit != rebased_commit) { task.tree_at_end = delivered_tree(task.state); }
    }
    if (task.steps.empty()) {
        return Error{"AF-RPLY-007", "task " + std::string(task_id) + " has no step yet", "",
                     "`agentforge status " + short_id(task_id) + "` shows its progress", ErrorKind::unavailable};
    }
    AF_CHECK(check_blobs(task));
    return task;
}

Result<json::value> RecordedTask::kept(const records::Kept& kept) const {
    if (kept.value) { return *kept.value; }
    AF_TRY(const std::string text, blobs->get(kept.blob));
    return parse_json(text, "blob " + kept.blob);
}

Result<StepRecord> RecordedTask::whole(const records::Step& step) const {
    AF_TRY(const json::value value, kept(records::Kept{std::nullopt, *step.record_blob}));
    return recorded_step(value);
}

}  // namespace agentforge::kernel
