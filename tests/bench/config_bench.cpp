// SPDX-License-Identifier: Apache-2.0
// Reads the shipped data: the YAML alone, and all of it as contracts, agents, pipelines and settings.
#include "base/files.hpp"
#include "base/yaml.hpp"
#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "bench/project.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;

void config_yaml(benchmark::State& state) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source_folder() + "/config")) {
        if (entry.path().extension() == ".yaml") { files.push_back(entry.path().string()); }
    }
    Samples ours;
    Samples floor;
    for (auto _ : state) {
        floor.add(microseconds([&] {
                      for (const std::string& file : files) { benchmark::DoNotOptimize(must(read_file(file))); }
                  }) /
                  1e3);
        const double spent = microseconds([&] {
            for (const std::string& file : files) { benchmark::DoNotOptimize(must(load_yaml(file))); }
        });
        ours.add(spent / 1e3);
        state.SetIterationTime(spent / 1e6);
    }
    report(state, {"YAML of config/ (" + std::to_string(files.size()) + " files)",
                   "ms",
                   ours.median(),
                   floor.median(),
                   "reading the files",
                   {}});
}
BENCHMARK(config_yaml)->Iterations(30)->UseManualTime()->Unit(benchmark::kMillisecond);

void open_everything(benchmark::State& state) {
    const std::string config = source_folder() + "/config";
    Samples ours;
    Samples floor;
    for (auto _ : state) {
        floor.add(microseconds([&] {
                      for (const auto& entry : std::filesystem::recursive_directory_iterator(config)) {
                          if (entry.path().extension() == ".yaml") {
                              benchmark::DoNotOptimize(must(load_yaml(entry.path().string())));
                          }
                      }
                  }) /
                  1e3);
        const double spent = microseconds([&] { benchmark::DoNotOptimize(open_product()); });
        ours.add(spent / 1e3);
        state.SetIterationTime(spent / 1e6);
    }
    report(state, {"settings, contracts, agents, pipelines, plugins found",
                   "ms",
                   ours.median(),
                   floor.median(),
                   "the YAML of config/ alone",
                   {}});
}
BENCHMARK(open_everything)->Iterations(30)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace agentforge::bench
