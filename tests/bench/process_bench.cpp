// SPDX-License-Identifier: Apache-2.0
// Starting a subprocess, confined and not, against posix_spawn of the same program.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "config/settings.hpp"
#include "sandbox/process.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;

void bare_spawn(const std::string& path) {
    std::string name = path;
    char* words[] = {name.data(), nullptr};
    pid_t child = 0;
    int status = 0;
    if (::posix_spawn(&child, words[0], nullptr, nullptr, words, environ) != 0 || ::waitpid(child, &status, 0) != child || status != 0) {
        give_up("cannot run " + path);
    }
}

void spawn(benchmark::State& state, bool confined) {
    const WorkFolder folder("process");
    const auto runner = make_process_runner(must(ProductPaths::find_for("", program())).exec_helper);
    const std::string path = std::filesystem::exists("/usr/bin/true") ? "/usr/bin/true" : "/bin/true";
    ProcessRequest request;
    request.argv = {path};
    request.directory = folder.path().string();
    request.environment = base_environment(current_environment());
    request.confinement.enabled = confined;
    request.confinement.writable = {folder.path().string()};
    Samples ours;
    Samples floor;
    for (auto _ : state) {
        floor.add(microseconds([&] { bare_spawn(path); }) / 1e3);
        const double spent = microseconds([&] {
            const ProcessOutcome outcome = must(runner->run(request, {}));
            if (outcome.exit_code != 0) { give_up("exit code " + std::to_string(outcome.exit_code) + "\n" + outcome.err); }
        });
        ours.add(spent / 1e3);
        state.SetIterationTime(spent / 1e6);
    }
    report(state, {confined ? "subprocess `true`, confined" : "subprocess `true`, not confined", "ms", ours.median(), floor.median(),
                   "posix_spawn and waitpid of `true`", {}});
}
void spawn_confined(benchmark::State& state) { spawn(state, true); }
void spawn_unconfined(benchmark::State& state) { spawn(state, false); }
BENCHMARK(spawn_unconfined)->Iterations(60)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(spawn_confined)->Iterations(60)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace agentforge::bench
