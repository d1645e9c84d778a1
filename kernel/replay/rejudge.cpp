// SPDX-License-Identifier: Apache-2.0
#include "replay/rejudge.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "pipeline/gate_runs.hpp"
#include "replay/recorded_task.hpp"

namespace agentforge::kernel {

namespace {

/// Returns the test suite of the step after the gate, if it submitted one. RED judges that suite, not one of an earlier visit.
Result<std::optional<json::object>> candidate_for(const std::vector<Record>& records, std::size_t gate, const BlobStore& blobs) {
    const auto step = std::find_if(records.begin() + static_cast<std::ptrdiff_t>(gate), records.end(),
                                   [](const Record& record) { return record.type() == records::Step::type; });
    if (step == records.end()) { return std::optional<json::object>(); }
    const auto taken = records::as<records::Step>(*step);
    AF_TRY(const std::string text, blobs.get(*taken->action->arguments_blob));
    AF_TRY(const json::value arguments, parse_json(text, "the arguments of a step"));
    const bool is_suite = arguments.is_object() && arguments.get_object().contains("test_files");
    return is_suite ? std::optional(arguments.get_object()) : std::optional<json::object>();
}

/// Measures one task's gates again, in forks of the task in a scratch store.
class Judge {
public:
    Judge(const ReplayPlace& place, std::string_view task_id, const std::filesystem::path& scratch)
        : place_(place),
          task_id_(task_id),
          scratch_(scratch),
          blobs_(place.tasks.paths(task_id).blobs()),
          task_workspaces_(make_git_task_workspaces(in_scratch(place.task_workspaces), place.processes)) {}

    Result<RejudgedTask> judge(const Stop& stop) {
        AF_TRY(task_, place_.tasks.load(task_id_));
        AF_TRY(records_, place_.tasks.records(task_id_));
        RejudgedTask all{std::string(task_id_), {}};
        std::size_t delivery = 1;  // The record of the newest deliver gate.
        for (std::size_t at = 1; at < records_.size(); ++at) {
            if (const auto rebased = records::as<records::Rebased>(records_[at])) {
                AF_TRY(Rejudged judged, measure_rebase_again(at, delivery, *rebased, stop));
                all.verdicts.push_back(std::move(judged));
            }
            const auto gate = records::as<records::Gate>(records_[at]);
            if (gate && gate->gate == gate_name::deliver) { delivery = at; }
            if (!gate || *gate->partial || gate->gate == gate_name::baseline || gate->gate == gate_name::hooks) { continue; }
            AF_TRY(Rejudged judged, measure_again(at, *gate, stop));
            all.verdicts.push_back(std::move(judged));
        }
        if (task_workspace_) { AF_CHECK(task_workspace_->close()); }
        return all;
    }

private:
    static GitTaskWorkspaceOptions in_scratch(GitTaskWorkspaceOptions options) {
        options.scratch = true;
        return options;
    }

    /// Returns the task in its state before the record, as running.
    Result<std::unique_ptr<TaskSession>> as_it_was(TaskStore& store, std::size_t at) {
        json::object task = task_;
        task["task_id"] = id_;
        AF_TRY(auto session, TaskSession::fork(store, {place_.tasks, task_id_, records_[at - 1]}, task, place_.services.clock,
                                               "agentforge replay --rejudge", place_.services.redactor));
        AF_CHECK(session->record(records::TaskResumed{.reason = "judged again"}));
        return session;
    }

    Result<Rejudged> measure_again(std::size_t at, const records::Gate& gate, const Stop& stop) {
        TaskStore store(scratch_ / std::to_string(at), Durability::cached);
        AF_TRY(const auto session, as_it_was(store, at));
        if (!task_workspace_) { AF_TRY(task_workspace_, task_workspaces_->open(session->state())); }
        std::optional<json::object> candidate;
        if (gate_facts(gate.gate).judges_tests) { AF_TRY(candidate, candidate_for(records_, at, blobs_)); }
        GateRequest request;
        request.gate = gate.gate;
        AF_TRY(const GateReport report, run_and_record_gate(*session, *task_workspace_, place_.services.events, request,
                                                            gate.tree, candidate ? &*candidate : nullptr, stop));
        AF_TRY(const std::string inputs, task_workspace_->gate_inputs());
        return Rejudged{records_[at].seq, *gate.stage,    gate.gate,
                        gate.tree,        gate.passed,    report.passed,
                        gate.summary,     report.summary, gate.inputs.value_or("") != inputs};
    }

    /// An ended task cannot be forked, so uses the task as it was at its delivery.
    Result<Rejudged> measure_rebase_again(std::size_t at, std::size_t delivery, const records::Rebased& rebased,
                                          const Stop& stop) {
        TaskStore store(scratch_ / std::to_string(at), Durability::cached);
        AF_TRY(const auto session, as_it_was(store, delivery));
        if (!task_workspace_) { AF_TRY(task_workspace_, task_workspaces_->open(session->state())); }
        AF_TRY(const GateBaseline baseline, baseline_on_new_base(*session, *task_workspace_, place_.services.events,
                                                                 {*rebased.base_tree, *rebased.red_tree}, stop));
        GateCall call;
        call.request.gate = gate_name::deliver;
        call.tree = rebased.tree;
        call.baseline = &baseline;
        AF_TRY(const GateReport report, task_workspace_->gate(call, stop));
        return Rejudged{records_[at].seq,
                        "rebase",
                        std::string(gate_name::deliver),
                        rebased.tree,
                        rebased.gate_passed,
                        report.passed,
                        *rebased.summary,
                        report.summary,
                        false};
    }

    const ReplayPlace& place_;
    std::string_view task_id_;
    std::filesystem::path scratch_;
    BlobStore blobs_;
    std::unique_ptr<TaskWorkspaceFactory> task_workspaces_;
    std::unique_ptr<TaskWorkspace> task_workspace_;
    const std::string id_ = make_task_id("judged again", "20000101", place_.ids);
    json::object task_;
    std::vector<Record> records_;
};

}  // namespace

bool RejudgedTask::changed() const noexcept { return std::ranges::any_of(verdicts, &Rejudged::changed); }

Result<RejudgedTask> rejudge_task(const ReplayPlace& place, std::string_view task_id, const Stop& stop) {
    AF_CHECK(RecordedTask::read(place.tasks, task_id));
    AF_TRY(const auto scratch, TemporaryDirectory::make("rejudge"));
    auto judged = Judge(place, task_id, scratch->path()).judge(stop);
    if (!judged.ok()) { return with_way_to_trees(std::move(judged).error(), task_id); }
    return judged;
}

}  // namespace agentforge::kernel
