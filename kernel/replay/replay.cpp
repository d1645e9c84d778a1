// SPDX-License-Identifier: Apache-2.0
#include "replay/replay.hpp"

#include "base/files.hpp"
#include "base/ids.hpp"
#include "replay/recorded_model.hpp"
#include "replay/recorded_people.hpp"

namespace agentforge::kernel {

namespace {

/// One process's work on a replay: uses the recording's model and people instead of the project's.
class Replaying {
public:
    Replaying(const ReplayPlace& place, const RecordedTask& recorded, TaskStore& tasks, EscalationStore& escalations,
              bool same_base, bool scratch)
        : recorded_(recorded),
          tasks_(tasks),
          next_(place.tasks.observer()),
          watch_(recorded, tasks, same_base, scratch ? place.of_scratch : next_),
          services_(place.services),
          task_workspaces_(make_git_task_workspaces(options(place.task_workspaces, scratch), place.processes)),
          controller_(ControllerSetup{.store = tasks,
                                      .task_workspaces = *task_workspaces_,
                                      .escalations = escalations,
                                      .services = services_,
                                      .ids = place.ids,
                                      .handler = make_recorded_people(recorded, watch_, escalations)}) {
        services_.model = [this](const AgentDefinition& agent) -> Result<ModelClient*> {
            auto& model = models_[agent.role];
            if (!model) { model = make_recorded_model(recorded_, watch_, agent.role); }
            return model.get();
        };
        services_.agentic = {};
        services_.model_name = {};
        if (scratch) {  // As it was delivered then; what the auditor has set now is no difference.
            services_.delivery.sign = "never";
            const auto type = parse_delivery_type(recorded.state.delivery.deliverable_type.value_or(""));
            services_.delivery.type = type.value_or(services_.delivery.type);
        }
        tasks_.observe(&watch_);
    }
    ~Replaying() { tasks_.observe(next_); }
    Replaying(const Replaying&) = delete;
    Replaying& operator=(const Replaying&) = delete;

    PipelineController& controller() { return controller_; }
    ReplayWatch& watch() { return watch_; }

    Result<ReplayReport> report(PipelineResult result, bool same_base) {
        AF_TRY(const TaskState state, read_task_state(tasks_, result.task_id));
        watch_.finish(state);
        return ReplayReport{std::move(result), recorded_.state.task_id, recorded_.tree_at_end, delivered_tree(state),
                            same_base,         watch_.counts(),         watch_.differences()};
    }

private:
    static GitTaskWorkspaceOptions options(GitTaskWorkspaceOptions task_workspaces, bool scratch) {
        task_workspaces.scratch = scratch;
        return task_workspaces;
    }

    const RecordedTask& recorded_;
    TaskStore& tasks_;
    RecordObserver* next_;
    ReplayWatch watch_;
    TaskServices services_;
    std::unique_ptr<TaskWorkspaceFactory> task_workspaces_;
    std::map<std::string, std::unique_ptr<ModelClient>> models_;
    PipelineController controller_;
};

Result<StartOptions> as_started(const RecordedTask& recorded, TaskBase base, const ReplayOptions& options) {
    StartOptions start;
    start.pipeline = recorded.state.pipeline;
    start.exit_after = recorded.state.exit_after;  // For a task that continued after its end: its last exit.
    start.supervised = recorded.created.supervised;
    start.interactive = *recorded.created.interactive;
    start.approve_stages = {recorded.created.approve_stages.begin(), recorded.created.approve_stages.end()};
    start.iterate_stages = recorded.state.iterate_stages;
    start.configuration = options.configuration;
    start.seal = options.seal;
    start.base = std::move(base);
    start.replay_of = recorded.state.task_id;
    start.repeats_people = !recorded.approvals.empty() || !recorded.resolutions.empty() || !recorded.decisions.empty();
    AF_TRY(start.entry, entry_of(recorded.state, *recorded.blobs));
    return start;
}

/// Replays in the project's own store: the replay stays, like any task.
Result<ReplayReport> replay_here(const ReplayPlace& place, const RecordedTask& recorded, const TaskBase& base,
                                 const ReplayOptions& options) {
    const bool same_base = base.tree == recorded.created.base_tree;
    Replaying replaying(place, recorded, place.tasks, place.escalations, same_base, false);
    AF_TRY(const StartOptions start, as_started(recorded, base, options));
    AF_TRY(PipelineResult result, replaying.controller().execute(recorded.created.request, start));
    return replaying.report(std::move(result), same_base);
}

Result<ReplayReport> replay_in_scratch(const ReplayPlace& place, const RecordedTask& recorded, const TaskBase& base,
                                       const ReplayOptions& options) {
    const bool same_base = base.tree == recorded.created.base_tree;
    AF_TRY(const auto folder, TemporaryDirectory::make("replay"));
    TaskStore tasks(folder->path(), Durability::cached);
    EscalationStore escalations(folder->path());
    Replaying replaying(place, recorded, tasks, escalations, same_base, true);
    AF_TRY(const StartOptions start, as_started(recorded, base, options));
    AF_TRY(PipelineResult result, replaying.controller().execute(recorded.created.request, start));
    const std::string id = result.task_id;
    const bool ended = result.status == TaskStatus::completed || result.status == TaskStatus::aborted;
    AF_TRY(ReplayReport report, replaying.report(std::move(result), same_base));
    if (!ended) { AF_CHECK(replaying.controller().abort(id, "the replay is over")); }  // Also removes its worktrees.
    return report;
}

}  // namespace

Result<TaskBase> replay_base(const Repository& repository, const RecordedTask& recorded, const std::string& onto) {
    if (!onto.empty()) {
        AF_TRY(const auto commit, repository.branch_commit(onto));
        if (!commit) {
            return Error{"AF-RPLY-004", "There is no branch `" + onto + "`", "--onto", "`git branch` lists the branches",
                         ErrorKind::not_found};
        }
        AF_TRY(std::string tree, repository.tree_of(*commit));
        return TaskBase{*commit, std::move(tree), onto};
    }
    AF_TRY(std::string tree, repository.tree_of(recorded.created.base_commit));
    return TaskBase{recorded.created.base_commit, std::move(tree), *recorded.created.base_branch};
}

Result<ReplayReport> replay_task(const ReplayPlace& place, std::string_view task_id, const ReplayOptions& options) {
    AF_TRY(const RecordedTask recorded, RecordedTask::read(place.tasks, task_id));
    AF_TRY(const Repository repository, Repository::open(place.task_workspaces.repository));
    AF_TRY(const TaskBase base, replay_base(repository, recorded, options.onto));
    return options.scratch ? replay_in_scratch(place, recorded, base, options) : replay_here(place, recorded, base, options);
}

Result<ReplayReport> continue_replay(const ReplayPlace& place, std::string_view replay_id) {
    std::vector<Record> records;
    AF_TRY(const TaskState state, read_task_state(place.tasks, replay_id, &records));
    const auto created = records::as<records::TaskCreated>(records.front());
    if (!created || !created->replay_of) {
        return Error{"AF-RPLY-008", "task " + std::string(replay_id) + " is not a replay, so it cannot continue as one",
                     "--continue", "`agentforge replay " + short_id(replay_id) + "` replays it", ErrorKind::invalid};
    }
    AF_TRY(const RecordedTask recorded, RecordedTask::read(place.tasks, *created->replay_of));
    const bool same_base = state.base_tree == recorded.created.base_tree;
    Replaying replaying(place, recorded, place.tasks, place.escalations, same_base, false);
    AF_CHECK(replaying.watch().catch_up(records));
    AF_TRY(PipelineResult result, replaying.controller().resume(replay_id));
    return replaying.report(std::move(result), same_base);
}

}  // namespace agentforge::kernel
