// SPDX-License-Identifier: Apache-2.0
// The program as a whole process: `agentforge --version`, and `agentforge status` with a thousand tasks.
#include <fcntl.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "bench/task_run.hpp"
#include "task/state.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;

constexpr unsigned rounds = 60;

void start_up(benchmark::State& state) {
    std::pair<Spawned, Spawned> found;
    for (auto _ : state) {
        found = spawn_in_turns(rounds, {program(), "--version"}, {"true"});
        state.SetIterationTime(found.first.milliseconds / 1e3);
    }
    report(state, {"start-up of `agentforge --version`", "ms", found.first.milliseconds, found.second.milliseconds, "`true` started the same way",
                   {Aim::Of::value, 15}});
    report(state, {"… its processor time", "ms", found.first.cpu_milliseconds, found.second.cpu_milliseconds, "`true` started the same way", {}});
    report(state, {"memory of `agentforge --version`", "MB", found.first.megabytes, found.second.megabytes, "`true` started the same way",
                   {Aim::Of::value, 20}});
}
BENCHMARK(start_up)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

/// What a listing cannot do without: open, read and close each state.yaml.
double read_all(const std::filesystem::path& tasks) {
    return microseconds([&] {
        std::size_t bytes = 0;
        char buffer[1UL << 16U];
        for (const auto& entry : std::filesystem::directory_iterator(tasks)) {
            const int file = ::open((entry.path() / "state.yaml").c_str(), O_RDONLY | O_CLOEXEC);
            for (;;) {
                const ssize_t got = ::read(file, buffer, sizeof buffer);
                if (got <= 0) { break; }
                bytes += static_cast<std::size_t>(got);
            }
            ::close(file);
        }
        benchmark::DoNotOptimize(bytes);
    });
}

/// A thousand tasks that have each gone through all eight stages, as such a task left its projection.
void status_of_a_thousand(benchmark::State& state) {
    constexpr int count = 1000;
    const WorkFolder folder("status");
    const auto repository = folder.path() / "repository";
    make_repository(repository, source_folder() + "/examples/textkit");
    TaskState finished = finished_task();
    const auto tasks = repository / ".agentforge" / "tasks";
    for (int index = 0; index < count; ++index) {
        char id[64];
        std::snprintf(id, sizeof id, "task-20260102-add-a-slugify-function-%08x", static_cast<unsigned>(index));
        finished.task_id = id;
        write_text(tasks / id / "state.yaml", to_json_pretty(to_json(finished)));
        write_text(tasks / id / "task.yaml", to_json_pretty(json::object{{"task_id", id}}));
    }
    std::pair<Spawned, Spawned> found;
    Samples reading;
    for (auto _ : state) {
        for (int round = 0; round < 20; ++round) { reading.add(read_all(tasks) / 1e3); }
        found = spawn_in_turns(rounds / 2, {program(), "-C", repository.string(), "status"}, {"true"});
        state.SetIterationTime(found.first.milliseconds / 1e3);
    }
    report(state, {"`agentforge status`, 1,000 tasks", "ms", found.first.milliseconds, found.second.milliseconds + reading.median(),
                   "`true`, and reading the 1,000 files", {Aim::Of::value, 50}});
    report(state, {"… its processor time", "ms", found.first.cpu_milliseconds, found.second.cpu_milliseconds + reading.median(),
                   "the same", {}});
}
BENCHMARK(status_of_a_thousand)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace agentforge::bench
