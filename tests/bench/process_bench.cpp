// SPDX-License-Identifier: Apache-2.0
// Starts a subprocess, confined and unconfined, compared with posix_spawn of the same program.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "config/settings.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;

void bare_spawn(const std::string& path) {
    std::string name = path;
    char* words[] = {name.data(), nullptr};
    pid_t child = 0;
    int status = 0;
    if (::posix_spawn(&child, words[0], nullptr, nullptr, words, environ) != 0 || ::waitpid(child, &status, 0) != child ||
        status != 0) {
        give_up("cannot run " + path);
    }
}

enum class How : unsigned char { unconfined = 1, landlock, full };

constexpr const char* name_of(How how) {
    switch (how) {
        case How::unconfined:
            return "subprocess `true`, not confined";
        case How::landlock:
            return "subprocess `true`, confined in Landlock mode";
        case How::full:
            return "subprocess `true`, confined in full mode";
    }
    return "";
}

Aim aim_of(How how) {
    switch (how) {
        case How::unconfined:
            return {};
        case How::landlock:
            return {Aim::Of::difference, 3.0};
        case How::full:
            return {Aim::Of::difference, 6.0};
    }
    return {};
}

std::unique_ptr<ProcessRunner> runner() {
    return make_process_runner({must(ProductPaths::find_for("", program())).exec_helper, {"metadata"}});
}

ProcessRequest request_for(std::vector<std::string> argv, const WorkFolder& folder, How how) {
    ProcessRequest request;
    request.argv = std::move(argv);
    request.directory = folder.path().string();
    request.environment = base_environment(current_environment());
    request.confinement.enabled = how != How::unconfined;
    request.confinement.namespaces = how == How::full;
    request.confinement.writable = {folder.path().string()};
    return request;
}

/// Returns the milliseconds of one run, which must succeed in the requested mode.
double milliseconds_of(ProcessRunner& runner, const ProcessRequest& request, How how) {
    return microseconds([&] {
               const ProcessOutcome outcome = must(runner.run(request, {}));
               if (outcome.exit_code != 0) { give_up("exit code " + std::to_string(outcome.exit_code) + "\n" + outcome.err); }
               if (how == How::full && outcome.confinement.at("mode") != "full") { give_up("this machine has no full mode"); }
           }) /
           1e3;
}

void spawn(benchmark::State& state, How how) {
    const WorkFolder folder("process");
    const auto processes = runner();
    const std::string path = std::filesystem::exists("/usr/bin/true") ? "/usr/bin/true" : "/bin/true";
    const ProcessRequest request = request_for({path}, folder, how);
    Samples ours;
    Samples floor;
    for (auto _ : state) {
        floor.add(microseconds([&] { bare_spawn(path); }) / 1e3);
        const double spent = milliseconds_of(*processes, request, how);
        ours.add(spent);
        state.SetIterationTime(spent / 1e3);
    }
    report(state, {name_of(how), "ms", ours.median(), floor.median(), "posix_spawn and waitpid of `true`", aim_of(how)});
}

void spawn_unconfined(benchmark::State& state) { spawn(state, How::unconfined); }
void spawn_in_landlock_mode(benchmark::State& state) { spawn(state, How::landlock); }
void spawn_in_full_mode(benchmark::State& state) { spawn(state, How::full); }
BENCHMARK(spawn_unconfined)->Iterations(60)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(spawn_in_landlock_mode)->Iterations(60)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(spawn_in_full_mode)->Iterations(60)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace agentforge::bench
