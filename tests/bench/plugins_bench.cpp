// SPDX-License-Identifier: Apache-2.0
#include "bench/plugins_bench.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "bench/plugin/plain.hpp"
#include "bench/project.hpp"

namespace agentforge::bench {

namespace {

using namespace kernel;

/// Returns the settings that some plugins need.
json::object settings_of(std::string_view plugin) {
    if (plugin == "replay") { return {{"transcript", source_folder() + "/examples/transcripts/slugify.yaml"}}; }
    if (plugin == "prompt") { return {{"prompt", "Find out what the change touches."}}; }
    if (plugin == "verify") { return {{"gates", json::array{"green"}}}; }
    if (plugin == "cli") { return {{"command", json::array{"cat"}}, {"timeout_seconds", 60}}; }
    return {};
}

void make_all(PluginRegistry& plugins) {
    for (const PluginManifest& manifest : plugins.plugins()) {
        for (const ManifestEntry& entry : manifest.provides) {
            const json::object settings = settings_of(entry.name);
            switch (entry.kind) {
                case PluginKind::stage:
                    must(plugins.stage(entry.name, settings));
                    break;
                case PluginKind::tool:
                    must(plugins.tool(entry.name, settings));
                    break;
                case PluginKind::llm:
                    must(plugins.backend(entry.name, settings));
                    break;
                case PluginKind::escalation:
                    must(plugins.escalation(entry.name, settings));
                    break;
            }
        }
    }
}

std::vector<std::string> shipped_libraries() {
    std::vector<std::string> files;
    const PluginRegistry plugins = discover_plugins(must(ProductPaths::find_for("", program())));
    for (const PluginManifest& manifest : plugins.plugins()) { files.push_back(manifest.directory + "/" + manifest.library); }
    return files;
}

/// Drops a file from the page cache, so the next read is from disk. Pages that other processes have mapped stay.
void forget(const std::string& file) {
    const int handle = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (handle < 0) { give_up(file + " cannot be opened"); }
    ::posix_fadvise(handle, 0, 0, POSIX_FADV_DONTNEED);
    ::close(handle);
}

/// Loads plugins in a new process each time. With `from_disk`, the files are not in memory.
void load_plugins(benchmark::State& state) {
    const bool from_disk = state.range(0) != 0;
    const std::vector<std::string> files = shipped_libraries();
    Samples ours;
    Samples floor;
    const std::string self = "'" + binary_folder() + "/tests/bench/agentforge-bench' --child=";
    const auto child = [&](const char* what) {
        if (from_disk) {
            for (const std::string& file : files) { forget(file); }
        }
        return std::stod(shell(self + what)) / 1e3;
    };
    for (auto _ : state) {
        floor.add(child("libraries"));
        ours.add(child("plugins"));
        state.SetIterationTime(ours.median() / 1e3);
    }
    const std::string which = from_disk ? ", files read from the disk" : "";
    report(state, {"find, load and make all " + std::to_string(files.size()) + " shipped plugins" + which, "ms", ours.median(),
                   floor.median(), "dlopen of the same libraries", from_disk ? Aim{} : Aim{Aim::Of::value, 10}});
    if (!from_disk) {
        const auto count = static_cast<double>(files.size());
        report(state, {"… one plugin", "ms", ours.median() / count, floor.median() / count, "dlopen of one library",
                       Aim{Aim::Of::value, 0.3}});
    }
}
BENCHMARK(load_plugins)->Arg(0)->Arg(1)->Iterations(21)->UseManualTime()->Unit(benchmark::kMillisecond);

/// Calls objects that do nothing: of a loaded plugin as the host calls it, and of this program. Alternates between them, so other
/// load affects both.
template <class Call>
void measure_calls(benchmark::State& state, const std::string& name, Aim aim, Call&& call) {
    constexpr int calls = 20'000;
    Samples ours;
    Samples plain;
    for (auto _ : state) {
        const auto spent = [&](bool plugin) {
            return cpu_microseconds([&] {
                       for (int i = 0; i < calls; ++i) { call(plugin); }
                   }) *
                   1e3 / calls;
        };
        plain.add(spent(false));
        ours.add(spent(true));
        state.SetIterationTime(ours.median() * calls / 1e9);
    }
    report(state, {name, "ns", ours.median(), plain.median(), "a plain virtual call of the same", aim});
}

PluginRegistry nothing_plugin() {
    PluginSearch search;
    search.configured = {binary_folder() + "/tests/bench/plugins"};
    return PluginRegistry::discover(search);
}

/// Returns a context that is only passed on, never used.
template <class Context>
Context& no_context() {
    alignas(std::max_align_t) static unsigned char place[64];
    return *reinterpret_cast<Context*>(place);
}

void call_tool(benchmark::State& state) {
    PluginRegistry plugins = nothing_plugin();
    const std::shared_ptr<Tool> loaded = must(plugins.tool("bench_nothing"));
    const std::unique_ptr<Tool> plain = plain_tool();
    const json::object arguments;
    measure_calls(state, "call of a tool through the boundary", {Aim::Of::ratio, 3}, [&](bool plugin) {
        benchmark::DoNotOptimize((plugin ? *loaded : *plain).call(arguments, no_context<ToolContext>()));
    });
}
BENCHMARK(call_tool)->Iterations(101)->UseManualTime()->Unit(benchmark::kNanosecond);

/// Measures the guard alone, without input or output. A call that does nothing is no floor for it, so its aim is a time.
void call_stage(benchmark::State& state) {
    PluginRegistry plugins = nothing_plugin();
    const std::shared_ptr<Stage> loaded = must(plugins.stage("bench_nothing"));
    const std::unique_ptr<Stage> plain = plain_stage();
    const StageResult result;
    measure_calls(state, "… of a stage's empty finalize", {Aim::Of::value, 50}, [&](bool plugin) {
        (plugin ? *loaded : *plain).finalize(no_context<StageContext>(), result);
        benchmark::ClobberMemory();
    });
}
BENCHMARK(call_stage)->Iterations(101)->UseManualTime()->Unit(benchmark::kNanosecond);

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
        const std::vector<std::string> files = shipped_libraries();
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
