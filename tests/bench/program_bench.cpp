// SPDX-License-Identifier: Apache-2.0
// The program as a whole process: each read-only command, and `agentforge status` with a thousand and with ten thousand tasks.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/ids.hpp"
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
    report(state, {"start-up of `agentforge --version`",
                   "ms",
                   found.first.milliseconds,
                   found.second.milliseconds,
                   "`true` started the same way",
                   {Aim::Of::value, 15}});
    report(state, {"… its processor time",
                   "ms",
                   found.first.cpu_milliseconds,
                   found.second.cpu_milliseconds,
                   "`true` started the same way",
                   {}});
    report(state, {"memory of `agentforge --version`",
                   "MB",
                   found.first.megabytes,
                   found.second.megabytes,
                   "`true` started the same way",
                   {Aim::Of::value, 20}});
}
BENCHMARK(start_up)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

/// The minimum work of a listing: open, read and close each state.yaml.
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

/// Runs each read-only command in a project with one task that has completed all eight stages.
void start_up_of_commands(benchmark::State& state) {
    const WorkFolder folder("commands");
    const auto repository = folder.path() / "repository";
    make_repository(repository, source_folder() + "/examples/textkit");
    shell("'" + program() + "' -C '" + repository.string() + "' start --quiet --transcript '" + source_folder() +
          "/examples/transcripts/slugify.yaml' 'Add a slugify function'");
    std::string task;
    for (const auto& entry : std::filesystem::directory_iterator(repository / ".agentforge" / "tasks")) {
        if (is_task_id(entry.path().filename().string())) { task = entry.path().filename(); }
    }
    const std::vector<std::vector<std::string>> commands{{"help"},
                                                         {"help", "start"},
                                                         {"completion", "bash"},
                                                         {"status"},
                                                         {"status", task},
                                                         {"inspect", task},
                                                         {"inspect", task, "--step", "5"},
                                                         {"logs", task},
                                                         {"cost", task},
                                                         {"diff", task},
                                                         {"escalations", "list"},
                                                         {"archive", "list"},
                                                         {"config", "show"},
                                                         {"config", "get", "pipeline.default"},
                                                         {"agents", "list"},
                                                         {"agents", "show", "requirements_analyst"},
                                                         {"agents", "validate"},
                                                         {"contracts", "list"},
                                                         {"contracts", "show", "intake_record"},
                                                         {"contracts", "validate"},
                                                         {"pipelines", "list"},
                                                         {"pipelines", "show", "implement"},
                                                         {"pipelines", "validate"},
                                                         {"plugins", "list"},
                                                         {"plugins", "show", "read_file"},
                                                         {"servers", "list"}};
    for (auto _ : state) {
        double slowest = 0;
        for (const auto& words : commands) {
            std::vector<std::string> command{program(), "-C", repository.string()};
            std::string name;
            for (const std::string& word : words) {
                command.push_back(word);
                name += " " + (word == task ? "TASK" : word);
            }
            const auto found = spawn_in_turns(rounds / 3, command, {"true"});
            slowest = std::max(slowest, found.first.milliseconds);
            report(state, {"`agentforge" + name + "`",
                           "ms",
                           found.first.milliseconds,
                           found.second.milliseconds,
                           fmt::format("`true`; processor time {:.1f} ms", found.first.cpu_milliseconds),
                           {Aim::Of::value, 20}});
        }
        state.SetIterationTime(slowest / 1e3);
    }
}
BENCHMARK(start_up_of_commands)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

/// Makes tasks that have completed all eight stages, with their projections. Each journal has only its last record.
void make_tasks(const std::filesystem::path& tasks, int count) {
    TaskState finished = finished_task();
    for (int index = 0; index < count; ++index) {
        char id[64];
        std::snprintf(id, sizeof id, "task-20260102-add-a-slugify-function-%08x", static_cast<unsigned>(index));
        finished.task_id = id;
        write_text(tasks / id / "actions.yaml", "actions:\n- {\"seq\": 1, \"hash\": \"" + finished.hash + "\"}\n");
        write_text(tasks / id / "state.yaml", to_json_pretty(to_json(finished)));
        write_text(tasks / id / "task.yaml", to_json_pretty(json::object{{"task_id", id}}));
    }
}

void status_of_a_thousand(benchmark::State& state) {
    const WorkFolder folder("status");
    const auto repository = folder.path() / "repository";
    make_repository(repository, source_folder() + "/examples/textkit");
    const auto tasks = repository / ".agentforge" / "tasks";
    make_tasks(tasks, 1000);
    std::pair<Spawned, Spawned> found;
    Samples reading;
    for (auto _ : state) {
        for (int round = 0; round < 20; ++round) { reading.add(read_all(tasks) / 1e3); }
        found = spawn_in_turns(rounds / 2, {program(), "-C", repository.string(), "status"}, {"true"});
        state.SetIterationTime(found.first.milliseconds / 1e3);
    }
    report(state, {"`agentforge status`, 1,000 tasks",
                   "ms",
                   found.first.milliseconds,
                   found.second.milliseconds + reading.median(),
                   "`true`, and reading the 1,000 files",
                   {Aim::Of::value, 50}});
    report(state, {"… its processor time",
                   "ms",
                   found.first.cpu_milliseconds,
                   found.second.cpu_milliseconds + reading.median(),
                   "the same",
                   {}});
}
BENCHMARK(status_of_a_thousand)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

/// The first listing reads them all and keeps the result for the others.
void status_of_ten_thousand(benchmark::State& state) {
    const WorkFolder folder("status-all");
    const auto repository = folder.path() / "repository";
    make_repository(repository, source_folder() + "/examples/textkit");
    const auto tasks = repository / ".agentforge" / "tasks";
    make_tasks(tasks, 10'000);
    const std::vector<std::string> ended{program(), "-C", repository.string(), "status", "--ended"};
    const std::vector<std::string> all{program(), "-C", repository.string(), "status", "--limit", "0"};
    Spawned first;
    std::pair<Spawned, Spawned> found;
    std::pair<Spawned, Spawned> printed;
    Samples reading;
    for (auto _ : state) {
        first = spawn_once(all);
        for (int round = 0; round < 5; ++round) { reading.add(read_all(tasks) / 1e3); }
        found = spawn_in_turns(rounds / 2, ended, {"true"});
        printed = spawn_in_turns(rounds / 2, all, {"true"});
        state.SetIterationTime(found.first.milliseconds / 1e3);
    }
    report(state, {"`agentforge status --ended`, 10,000 tasks",
                   "ms",
                   found.first.milliseconds,
                   found.second.milliseconds,
                   "`true`",
                   {Aim::Of::value, 100}});
    report(state, {"… its processor time", "ms", found.first.cpu_milliseconds, found.second.cpu_milliseconds, "the same", {}});
    report(state, {"… with `--limit 0`, which prints them all",
                   "ms",
                   printed.first.milliseconds,
                   printed.second.milliseconds,
                   "`true`",
                   {}});
    report(state, {"… the same without what an earlier one kept",
                   "ms",
                   first.milliseconds,
                   printed.second.milliseconds + reading.median(),
                   "`true`, and reading the 10,000 files",
                   {}});
}
BENCHMARK(status_of_ten_thousand)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace agentforge::bench
