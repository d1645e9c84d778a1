// SPDX-License-Identifier: Apache-2.0
// The demo's tests gate, confined and unconfined.
#include <filesystem>

#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "config/settings.hpp"
#include "gates/gate_runner.hpp"
#include "git/repository.hpp"
#include "git/worktree.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;
namespace fs = std::filesystem;

enum class Mode : unsigned char { unconfined, landlock, full };

/// Runs the gates' commands in the benchmark's mode.
class RunnerInMode final : public ProcessRunner {
public:
    RunnerInMode() : runner_(make_process_runner({must(ProductPaths::find_for("", program())).exec_helper, {"metadata"}})) {}

    Result<ProcessOutcome> run(const ProcessRequest& asked, const Stop& stop) override {
        ProcessRequest request = asked;
        request.confinement.enabled = mode != Mode::unconfined;
        request.confinement.namespaces = mode == Mode::full;
        Result<ProcessOutcome> outcome = runner_->run(request, stop);
        if (mode == Mode::full && outcome && outcome->confinement.at("mode") != "full") {
            give_up("this machine has no full mode");
        }
        return outcome;
    }

    Mode mode = Mode::unconfined;

private:
    std::unique_ptr<ProcessRunner> runner_;
};

/// Returns the milliseconds of one run of the gate. `turn` prevents the report of an earlier run from being reused.
double milliseconds_of(GateRunner& gates, const std::string& tree, int turn) {
    return microseconds([&] {
               const GateReport report = must(gates.run({{"tests", {}, {{"run", turn}}}, tree}, {}));
               if (!report.passed) { give_up("the demo's tests do not pass"); }
           }) /
           1e3;
}

void gate_of_the_demo(benchmark::State& state, Mode mode, const char* name) {
    const WorkFolder folder("gate");
    const fs::path repository = folder.path() / "textkit";
    make_repository(repository, source_folder() + "/examples/textkit");
    const Repository opened = must(Repository::open(repository));
    const std::string commit = must(opened.head_commit());
    const std::string tree = must(opened.tree_of(commit));
    Worktree verify = must(Worktree::ensure(repository, folder.path() / "state" / "verify", "bench", commit));
    RunnerInMode processes;
    GateRunner::Options options;
    options.languages_directory = source_folder() + "/config/languages";
    options.conformance_directories = {source_folder() + "/config/conformance"};
    options.scratch_directory = (folder.path() / "scratch").string();
    options.environment = base_environment(current_environment());
    options.setup = "never";
    GateRunner gates(opened, verify, processes, options);
    int turn = 2;
    milliseconds_of(gates, tree, turn++);
    Samples confined;
    Samples unconfined;
    // The order alternates, so neither gains from warm caches or from a machine that gets slower.
    for (auto _ : state) {
        double spent = 0;
        const bool confined_first = turn % 4 >= 2;
        for (const bool confine : {confined_first, !confined_first}) {
            processes.mode = confine ? mode : Mode::unconfined;
            const double took = milliseconds_of(gates, tree, turn++);
            (confine ? confined : unconfined).add(took);
            if (confine) { spent = took; }
        }
        state.SetIterationTime(spent / 1e3);
    }
    report(state, {name, "ms", confined.median(), unconfined.median(), "the same, not confined", {Aim::Of::ratio, 1.1}});
}

void gate_in_landlock_mode(benchmark::State& state) {
    gate_of_the_demo(state, Mode::landlock, "tests gate of the demo, in Landlock mode");
}
void gate_in_full_mode(benchmark::State& state) { gate_of_the_demo(state, Mode::full, "tests gate of the demo, in full mode"); }
BENCHMARK(gate_in_landlock_mode)->Iterations(40)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(gate_in_full_mode)->Iterations(40)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace agentforge::bench
