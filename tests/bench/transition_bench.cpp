// SPDX-License-Identifier: Apache-2.0
// A durable stage transition: stage_started, artifact_accepted, stage_completed, each journaled, folded and projected.
#include "base/clock.hpp"
#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "bench/project.hpp"
#include "bench/syncs.hpp"
#include "pipeline/task_session.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;

std::unique_ptr<TaskSession> new_session(TaskStore& store, const PipelineTemplate& pipeline, Clock& clock, int number) {
    char id[64];
    std::snprintf(id, sizeof id, "task-20260102-bench-%08x", static_cast<unsigned>(number));
    const json::object task{{"task_id", id}, {"request", "Add a slugify function"}, {"pipeline", pipeline.name}};
    const records::TaskCreated created{.task_id = id,
                                       .request = "Add a slugify function",
                                       .goal_type = pipeline.goal_type,
                                       .pipeline = pipeline.to_json(),
                                       .base_commit = std::string(40, 'a'),
                                       .base_tree = std::string(40, 'b'),
                                       .base_branch = "",
                                       .supervised = false,
                                       .approve_stages = {},
                                       .iterate_stages = {},
                                       .interactive = false};
    auto session = must(TaskSession::create(store, task, created, clock, "bench"));
    must(session->record(records::TaskStarted{}));
    return session;
}

void pass_stage(TaskSession& session) {
    const std::string stage = session.state().stage().name;
    must(session.record(records::StageStarted{.stage = stage, .attempt = 1, .visit = 1, .iteration = 0, .cycle = 0}));
    must(session.record(records::ArtifactAccepted{.stage = stage,
                                                  .contract = "intake_record",
                                                  .contract_version = "1.0.0",
                                                  .artifact = "artifacts/phases/" + stage + "/" + stage + ".yaml",
                                                  .artifact_hash = std::string(64, 'c'),
                                                  .conditions = {},
                                                  .asks = false,
                                                  .acts_later = {},
                                                  .changed_tests = {},
                                                  .answers = {},
                                                  .duration_ms = 12}));
    must(session.record(records::StageCompleted{stage, std::string(64, 'c')}));
}

void stage_transition(benchmark::State& state) {
    const WorkFolder folder("transition");
    const auto product = open_product();
    PipelineTemplate pipeline = must(product->pipelines.get("implement"));
    for (StageTemplate& stage : pipeline.stages) { stage.reviewers.clear(); }  // A review is a separate run of a model.
    TaskStore store(folder.path() / ".agentforge");
    SystemClock clock;
    Samples ours;
    Samples syncing;
    Samples above;
    Samples cpu;
    int number = 0;
    for (auto _ : state) {
        auto session = new_session(store, pipeline, clock, ++number);
        for (int stage = 0; stage < 4; ++stage) {  // The first four stages of `implement` have no gate.
            const Syncs before = syncs_so_far();
            double spent = 0;
            cpu.add(cpu_microseconds([&] { spent = microseconds([&] { pass_stage(*session); }); }));
            const Syncs synced = syncs_so_far() - before;
            ours.add(spent / 1e3);
            syncing.add(synced.microseconds / 1e3);
            above.add((spent - synced.microseconds) / 1e3);
        }
        state.SetIterationTime(ours.median() / 1e3);
    }
    // The median of the differences, not the difference of the medians, because the disk's time varies.
    report(state, {"durable stage transition (3 records)",
                   "ms",
                   syncing.median() + above.median(),
                   syncing.median(),
                   "its own fdatasync calls",
                   {Aim::Of::difference, 1}});
    report(state, {"… its processor time", "ms", cpu.median() / 1e3, 0, "–", {}});
}
BENCHMARK(stage_transition)->Iterations(40)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace agentforge::bench
