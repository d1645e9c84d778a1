// SPDX-License-Identifier: Apache-2.0
// A long task: processor time and memory of a step at record 100,000, compared with record 100. Two tasks step in turns, so that
// the disk's moods reach both. A step here is the kernel's work around a model's answer: two records with the step's bodies,
// folded and projected. steps_bench.cpp measures a run of 2,000
// steps through the whole program.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "bench/project.hpp"
#include "pipeline/task_session.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;

constexpr std::uint64_t early_record = 100;
constexpr std::uint64_t late_record = 100'000;
constexpr unsigned measured_steps = 300;
constexpr unsigned steps_of_a_visit = 250;
constexpr std::size_t context_bytes = 7000;

/// Where the task begins: ids of a commit and its tree.
struct Base {
    std::string commit = std::string(40, 'a');
    std::string tree = std::string(40, 'b');
};

class LongTask {
public:
    LongTask(const std::string& folder, const PipelineTemplate& pipeline, Base base = {}) : store_(folder), tree_(base.tree) {
        const std::string id(task_id);
        const json::object task{{"task_id", id}, {"request", "Say what the notes say"}, {"pipeline", pipeline.name}};
        const records::TaskCreated created{.task_id = id,
                                           .request = "Say what the notes say",
                                           .goal_type = pipeline.goal_type,
                                           .pipeline = pipeline.to_json(),
                                           .base_commit = base.commit,
                                           .base_tree = base.tree,
                                           .base_branch = "",
                                           .supervised = false,
                                           .approve_stages = {},
                                           .iterate_stages = {},
                                           .interactive = false};
        session_ = must(TaskSession::create(store_, task, created, clock_, "bench"));
        must(session_->record(records::TaskStarted{}));
        visit();
    }

    void step(std::size_t bytes) {
        const std::string stage = session_->state().stage().name;
        if (++steps_ % steps_of_a_visit == 0) {
            must(session_->record(records::StageFailed{
                stage, records::RecordedError{.code = "AF-STAGE-001", .message = "again", .where = "", .remedy = "", .kind = 0},
                12}));
            visit();
        }
        const std::string text = "step " + std::to_string(steps_) + "\n" + std::string(bytes, 'c');
        must(session_->record(records::Answer{.phase = stage,
                                              .visit = visit_,
                                              .run = 1,
                                              .run_step = steps_,
                                              .frame_hash = std::string(64, 'f'),
                                              .context_hash = std::string(64, 'c'),
                                              .usage = std::nullopt,
                                              .answer = must(session_->keep(json::object{{"text", text}}))}));
        const std::string context = must(session_->put_text(text));
        const std::string arguments = must(session_->put(json::object{{"path", "notes/" + std::to_string(steps_) + ".txt"}}));
        must(session_->record(
            records::Step{.phase = stage,
                          .visit = visit_,
                          .run = 1,
                          .run_step = steps_,
                          .action = records::ActionTaken{"read_file", arguments},
                          .result = records::ActionResult{"success", "read 1 line of notes/" + std::to_string(steps_) + ".txt"},
                          .llm_call = records::ModelCall{.model = "scripted", .prompt_tokens = 2000, .completion_tokens = 40},
                          .input_tokens = 2000,
                          .output_tokens = 40,
                          .section_tokens = json::object{{"total", 2000}},
                          .context_blob = context,
                          .system_blob = context,
                          .record_blob = context,
                          .tree = tree_}));
    }

    /// Ends the session and opens the task again, as `resume` does.
    void open_again() {
        session_.reset();
        session_ = must(TaskSession::open(store_, task_id, clock_, "bench"));
    }
    [[nodiscard]] TaskPaths paths() const { return store_.paths(task_id); }

    static constexpr std::string_view task_id = "task-20260102-bench-00000001";

    void fill_to(std::uint64_t record) {
        while (session_->state().seq < record) { step(40); }
    }
    void fill_to_step(std::uint64_t step_number) {
        while (session_->state().steps < step_number) { step(40); }
    }
    void close() { session_.reset(); }

private:
    void visit() {
        ++visit_;
        must(session_->record(records::StageStarted{
            .stage = session_->state().stage().name, .attempt = visit_, .visit = visit_, .iteration = 0, .cycle = 0}));
    }

    SystemClock clock_;
    TaskStore store_;
    std::string tree_;
    std::unique_ptr<TaskSession> session_;
    unsigned steps_ = 0;
    unsigned visit_ = 0;
};

double heap_megabytes() { return static_cast<double>(::mallinfo2().uordblks + ::mallinfo2().hblkhd) / 1e6; }

/// A task that was filled up to a record, what its session takes on the heap, and what its steps took.
struct MeasuredTask {
    MeasuredTask(const std::filesystem::path& folder, const PipelineTemplate& pipeline, std::uint64_t record)
        : task((folder / ".agentforge").string(), pipeline) {
        task.fill_to(record);
        megabytes = heap_megabytes() - megabytes;
    }
    void step() {
        cpu.add(cpu_microseconds([&] { time.add(microseconds([&] { task.step(context_bytes); })); }));
    }

    double megabytes = heap_megabytes();
    LongTask task;
    Samples cpu;
    Samples time;
};

void step_of_a_long_task(benchmark::State& state) {
    const WorkFolder folder("long-task");
    const auto product = open_product();
    const PipelineTemplate pipeline = must(product->pipelines.get("implement"));
    const double before =
        heap_megabytes();  // A process has one task: each figure is that of its task beside what is there anyway.
    MeasuredTask early(folder.path() / "early", pipeline, early_record);
    MeasuredTask late(folder.path() / "late", pipeline, late_record);
    for (auto _ : state) {
        for (unsigned step = 0; step < measured_steps; ++step) {
            early.step();
            late.step();
        }
        state.SetIterationTime(late.time.median() / 1e6);
    }
    report(state, {"processor time of a step at record 100,000",
                   "µs",
                   late.cpu.median(),
                   early.cpu.median(),
                   "at record 100",
                   {Aim::Of::ratio, 1.1}});
    report(state, {"… its time", "µs", late.time.median(), early.time.median(), "at record 100", {}});
    report(state, {"… memory on the heap",
                   "MB",
                   before + late.megabytes,
                   before + early.megabytes,
                   "at record 100",
                   {Aim::Of::ratio, 1.1}});
}
BENCHMARK(step_of_a_long_task)->Iterations(1)->UseManualTime()->Unit(benchmark::kMicrosecond);

/// The minimum work of opening a journal: each of its bytes is read.
double reading_ms(const std::filesystem::path& file) {
    return microseconds([&] {
               const FileDescriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
               std::string part(256UL << 10U, '\0');
               while (::read(in.get(), part.data(), part.size()) > 0) {}
           }) /
           1e3;
}

void open_of_a_long_task(benchmark::State& state) {
    constexpr int rounds = 15;
    const WorkFolder folder("open-long-task");
    const auto repository = folder.path() / "repository";
    make_repository(repository, source_folder() + "/examples/textkit");
    const auto product = open_product();
    LongTask task((repository / ".agentforge").string(), must(product->pipelines.get("implement")));
    task.fill_to(late_record);
    Samples opening;
    Samples reading;
    Samples whole;
    const std::vector<std::string> status{program(), "-C", repository.string(), "status", std::string(LongTask::task_id)};
    Spawned shown;
    for (auto _ : state) {
        for (int round = 0; round < rounds; ++round) {
            opening.add(microseconds([&] { task.open_again(); }) / 1e3);
            reading.add(reading_ms(task.paths().journal()));
        }
        for (int round = 0; round < 3; ++round) {
            std::filesystem::remove(task.paths().root / ".fold");
            whole.add(microseconds([&] { task.open_again(); }) / 1e3);
        }
        (void)spawn_once(status);  // It leaves the cache that the next one uses.
        shown = spawn_in_turns(rounds, status, {"true"}).first;
        state.SetIterationTime(opening.median() / 1e3);
    }
    report(state,
           {"open of 100,000 records", "ms", opening.median(), reading.median(), "reading the file", {Aim::Of::value, 100}});
    report(state, {"… without a snapshot", "ms", whole.median(), reading.median(), "reading the file", {}});
    report(state, {"`agentforge status TASK` of them",
                   "ms",
                   shown.milliseconds,
                   reading.median(),
                   "reading the file",
                   {Aim::Of::value, 100}});
    report(state, {"… its memory", "MB", shown.megabytes, 0, "", {Aim::Of::value, 60}});
}
BENCHMARK(open_of_a_long_task)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

/// Forks a task of 10,000 steps after its last one, each time as a new task.
void fork_of_a_long_task(benchmark::State& state) {
    constexpr int rounds = 9;
    constexpr std::uint64_t steps = 10'000;
    const WorkFolder folder("fork-long-task");
    const auto repository = folder.path() / "repository";
    make_repository(repository, source_folder() + "/examples/textkit");
    const auto id_of = [&](const std::string& what) {
        const std::string line = shell("git -C '" + repository.string() + "' rev-parse '" + what + "'");
        return line.substr(0, line.find('\n'));
    };
    const auto product = open_product();
    LongTask task((repository / ".agentforge").string(), must(product->pipelines.get("implement")),
                  {id_of("HEAD"), id_of("HEAD^{tree}")});
    task.fill_to_step(steps);
    task.close();
    Samples reading;
    Spawned forked;
    for (auto _ : state) {
        for (int round = 0; round < rounds; ++round) { reading.add(reading_ms(task.paths().journal())); }
        forked = spawn_in_turns(rounds,
                                {program(), "-C", repository.string(), "fork", std::string(LongTask::task_id), "--from-step",
                                 std::to_string(steps), "--no-resume"},
                                {"true"})
                     .first;
        state.SetIterationTime(forked.milliseconds / 1e3);
    }
    report(state, {"fork of a task of 10,000 steps",
                   "ms",
                   forked.milliseconds,
                   reading.median(),
                   "reading the journal",
                   {Aim::Of::value, 200}});
    report(state, {"… its memory", "MB", forked.megabytes, 0, "", {}});
}
BENCHMARK(fork_of_a_long_task)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace agentforge::bench
