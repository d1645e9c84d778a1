// SPDX-License-Identifier: Apache-2.0
#include "replay/actions.hpp"

#include "base/files.hpp"
#include "base/text.hpp"
#include "pipeline/codec.hpp"
#include "pipeline/gate_runs.hpp"
#include "replay/recorded_task.hpp"
#include "tools/tool_bridge.hpp"

namespace agentforge::kernel {

namespace {

/// Tools that only write need nothing else from the kernel.
class WritingOnly final : public ToolServices {
public:
    explicit WritingOnly(const TaskServices& services) : services_(services) {}
    [[nodiscard]] Result<ProcessResult> run_process(const ProcessSpec&) override { return not_here("a program"); }
    [[nodiscard]] Result<GateReport> run_gate(const GateRequest&) override { return not_here("a gate"); }
    [[nodiscard]] Result<void> complete(const json::object&) override { return not_here("complete"); }
    [[nodiscard]] Result<void> escalate(const EscalationRequest&) override { return not_here("a question"); }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return services_.clock.now(); }
    [[nodiscard]] bool cancelled() const noexcept override { return services_.cancel.requested(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return std::nullopt; }
    [[nodiscard]] const Redactor& redactor() const noexcept override { return services_.redactor; }

private:
    static Error not_here(const std::string& what) {
        return Error{"AF-RPLY-009", "`replay --actions-only` runs no gates or programs, but the tool asked for " + what, "",
                     "use `agentforge replay` without --actions-only", ErrorKind::unavailable};
    }
    const TaskServices& services_;
};

class Actions {
public:
    Actions(const ReplayPlace& place, std::string_view task_id, const TaskBase& base, const ActionsOptions& options,
            const std::filesystem::path& scratch)
        : place_(place),
          task_id_(task_id),
          base_(base),
          options_(options),
          scratch_(scratch),
          blobs_(place.tasks.paths(task_id).blobs()),
          host_(place.services),
          task_workspaces_(make_git_task_workspaces(in_scratch(place.task_workspaces), place.processes)) {}

    Result<ActionsReport> run() {
        AF_CHECK(open());
        auto walked = walk();
        AF_CHECK(task_workspace_->close());
        AF_CHECK(walked);
        AF_TRY(const Repository repository, Repository::open(place_.task_workspaces.repository));
        AF_CHECK(repository.keep_tree(std::string(task_id_) + "/replayed", tree_));
        report_.tree = tree_;
        AF_TRY(report_.files, repository.diff(base_.tree, tree_));
        return std::move(report_);
    }

private:
    static GitTaskWorkspaceOptions in_scratch(GitTaskWorkspaceOptions options) {
        options.scratch = true;
        return options;
    }

    Result<void> open() {
        AF_TRY(task_, place_.tasks.load(task_id_));
        AF_TRY(records_, place_.tasks.records(task_id_));
        TaskState begin;
        begin.task_id = id_;
        begin.base_commit = base_.commit;
        begin.base_tree = base_.tree;
        begin.tree = base_.tree;
        AF_TRY(task_workspace_, task_workspaces_->open(begin));
        AF_CHECK(task_workspace_->restore(base_.tree));
        tree_ = base_.tree;
        report_.task_id = task_id_;
        report_.base_tree = base_.tree;
        return {};
    }

    Result<void> walk() {
        TaskState state;
        for (std::size_t at = 0; at < records_.size(); ++at) {
            const std::string before = state.tree;
            AF_CHECK(fold(state, records_[at].body));
            if (at == 0) { report_.same_base = state.base_tree == base_.tree; }
            if (at == 0 || state.tree == before) { continue; }
            const std::size_t mismatches = report_.mismatches.size();
            AF_CHECK(redo(at, state, before));
            if (report_.mismatches.size() == mismatches) { ++report_.done; }
            if (report_.mismatches.size() != mismatches && !options_.past_mismatches) { break; }
        }
        return {};
    }

    Result<void> redo(std::size_t at, const TaskState& state, const std::string& before) {
        AF_TRY(const records::AnyRecord record, records::read_record(records_[at].body));
        const std::string where = "record " + std::to_string(records_[at].seq) + " (" + std::string(records_[at].type()) +
                                  ", stage " + state.stage().name + ")";
        const auto* const step = std::get_if<records::Step>(&record.body);
        if (step == nullptr) { return merge(before, state.tree, where); }
        AF_TRY(const StepRecord recorded, whole(*step));
        const std::string tool = recorded.tool;
        const std::string step_where = "step " + std::to_string(record.envelope.step) + " (" + step->phase + ", " +
                                       (record.envelope.agent ? *record.envelope.agent->role : "") + ", " + tool + ")";
        if (!record.envelope.agent || !place_.services.plugins.has(PluginKind::tool, tool)) {
            return merge(before, state.tree, step_where);
        }
        AF_TRY(const auto loaded, place_.services.plugins.tool(tool));
        const ToolEffect effects = loaded->spec().effects;
        if (has(effects, ToolEffect::executes) || !has(effects, ToolEffect::writes)) {
            return merge(before, state.tree, step_where);
        }
        AF_CHECK(enter(at, state.stage()));
        return act(recorded, *record.envelope.agent->role, loaded, state.tree, step_where);
    }

    /// The locked tests are determined when a visit begins.
    Result<void> enter(std::size_t at, const StageState& stage) {
        const std::pair visit{stage.name, stage.visits};
        if (visit_ == visit) { return {}; }
        TaskStore store(scratch_ / std::to_string(at), Durability::cached);
        json::object task = task_;
        task["task_id"] = id_;
        AF_TRY(const auto session,
               TaskSession::fork(store, {place_.tasks, task_id_, records_[at - 1]}, task, place_.services.clock,
                                 "agentforge replay --actions-only", place_.services.redactor));
        AF_TRY(locked_, locked_tests(*session));
        visit_ = visit;
        return {};
    }

    Result<void> act(const StepRecord& recorded, const std::string& role, const std::shared_ptr<Tool>& tool,
                     const std::string& recorded_tree, const std::string& where) {
        AF_TRY(const AgentDefinition agent, place_.services.agents.get(role));
        AF_TRY(auto symbols, task_workspace_->path_symbols(base_.tree));
        AF_TRY(RolePaths rules, RolePaths::make(agent.role, agent.path_constraints, locked_, std::move(symbols)));
        AF_TRY(const auto workspace, RoleWorkspace::open(task_workspace_->root(), std::move(rules), place_.services.redactor));
        workspace->pin(task_workspace_->submodules());
        ToolBridge bridge(agent, {{recorded.tool, tool}}, *workspace, host_, {}, {});
        const ToolResult result = bridge.call(recorded.tool, recorded.arguments, {id_, visit_.first, role, recorded.step});
        StepRecord now;
        now.success = result.success;
        now.summary = result.summary;
        now.error = result.error ? result.error->to_string() : "";
        now.changes = workspace->take_changes();
        std::vector<std::string> paths;
        for (const Change& change : now.changes) { paths.push_back(change.path); }
        if (auto mismatch = mismatch_of(recorded, now, where)) { return leave_out(std::move(*mismatch)); }
        AF_TRY(const std::string tree, task_workspace_->snapshot(paths));
        if (report_.same_base && tree != recorded_tree) {
            return leave_out({ReplayDifference::Kind::tree, where, recorded_tree, tree, false});
        }
        tree_ = tree;
        return {};
    }

    Result<void> merge(const std::string& before, const std::string& after, const std::string& where) {
        AF_TRY(const TreeMerge merged, task_workspace_->merge(before, tree_, after));
        if (!merged.conflicts.empty()) {
            return leave_out({ReplayDifference::Kind::action, where, "changed " + merged.conflicts.front(),
                              "the file differs here, and the two do not merge", false});
        }
        AF_CHECK(task_workspace_->restore(merged.tree));
        tree_ = merged.tree;
        return {};
    }

    Result<void> leave_out(ReplayDifference mismatch) {
        report_.mismatches.push_back(std::move(mismatch));
        return task_workspace_->restore(tree_);
    }

    Result<StepRecord> whole(const records::Step& step) const {
        AF_TRY(const std::string text, blobs_.get(*step.record_blob));
        AF_TRY(const json::value value, parse_json(text, "a recorded step"));
        return recorded_step(value);
    }

    const ReplayPlace& place_;
    std::string_view task_id_;
    const TaskBase& base_;
    const ActionsOptions& options_;
    std::filesystem::path scratch_;
    BlobStore blobs_;
    WritingOnly host_;
    std::unique_ptr<TaskWorkspaceFactory> task_workspaces_;
    std::unique_ptr<TaskWorkspace> task_workspace_;
    const std::string id_ = make_task_id("actions again", "20000101", place_.ids);
    json::object task_;
    std::vector<Record> records_;
    std::pair<std::string, unsigned> visit_;
    std::vector<std::string> locked_;
    std::string tree_;
    ActionsReport report_;
};

}  // namespace

Result<ActionsReport> replay_actions(const ReplayPlace& place, std::string_view task_id, const ActionsOptions& options) {
    AF_TRY(const RecordedTask recorded, RecordedTask::read(place.tasks, task_id));
    AF_TRY(const Repository repository, Repository::open(place.task_workspaces.repository));
    AF_TRY(const TaskBase base, replay_base(repository, recorded, options.onto));
    AF_TRY(const auto scratch, TemporaryDirectory::make("actions"));
    auto report = Actions(place, task_id, base, options, scratch->path()).run();
    if (!report.ok()) { return with_way_to_trees(std::move(report).error(), task_id); }
    return report;
}

}  // namespace agentforge::kernel
