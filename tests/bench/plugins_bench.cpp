// SPDX-License-Identifier: Apache-2.0
#include "bench/plugins_bench.hpp"

#include <dlfcn.h>

#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "bench/project.hpp"

namespace agentforge::bench {

namespace {

using namespace kernel;

/// Some need settings to be made at all.
json::object settings_of(std::string_view plugin) {
    if (plugin == "replay") { return {{"transcript", source_folder() + "/examples/transcripts/slugify.yaml"}}; }
    if (plugin == "cli") { return {{"command", json::array{"cat"}}, {"timeout_seconds", 60}}; }
    return {};
}

void make_all(PluginRegistry& plugins) {
    for (const PluginManifest& manifest : plugins.plugins()) {
        for (const ManifestEntry& entry : manifest.provides) {
            const json::object settings = settings_of(entry.name);
            switch (entry.kind) {
                case PluginKind::stage: must(plugins.stage(entry.name, settings)); break;
                case PluginKind::tool: must(plugins.tool(entry.name, settings)); break;
                case PluginKind::llm: must(plugins.backend(entry.name, settings)); break;
                case PluginKind::escalation: must(plugins.escalation(entry.name, settings)); break;
            }
        }
    }
}

void load_plugins(benchmark::State& state) {
    Samples ours;
    Samples floor;
    const std::string self = "'" + binary_folder() + "/tests/bench/agentforge-bench' --child=";
    for (auto _ : state) {
        floor.add(std::stod(shell(self + "libraries")) / 1e3);
        ours.add(std::stod(shell(self + "plugins")) / 1e3);
        state.SetIterationTime(ours.median() / 1e3);
    }
    report(state, {"find, load and make all shipped plugins", "ms", ours.median(), floor.median(), "dlopen of the same libraries", {}});
}
BENCHMARK(load_plugins)->Iterations(21)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace

int run_child(std::string_view what) {
    const ProductPaths paths = must(ProductPaths::find_for("", program()));
    double spent = 0;
    if (what == "plugins") {
        spent = microseconds([&] {
            PluginRegistry plugins = discover_plugins(paths);
            make_all(plugins);
        });
    } else if (what == "libraries") {
        std::vector<std::string> files;
        const PluginRegistry plugins = discover_plugins(paths);
        for (const PluginManifest& manifest : plugins.plugins()) { files.push_back(manifest.directory + "/" + manifest.library); }
        spent = microseconds([&] {
            for (const std::string& file : files) {
                if (::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) { give_up(::dlerror()); }
            }
        });
    } else {
        return 2;
    }
    std::cout << spent << std::endl;
    return 0;
}

}  // namespace agentforge::bench
