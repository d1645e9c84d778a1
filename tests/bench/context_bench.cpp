// SPDX-License-Identifier: Apache-2.0
// The context of step 500 costs the same as that of step 20: it is bounded, however long the run.
#include "agent/context.hpp"

#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "bench/project.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;

Memory after(unsigned steps) {
    std::string text;
    for (int line = 0; line < 120; ++line) { text += "    return words(text)[" + std::to_string(line) + "]  # one more line\n"; }
    Memory memory;
    for (unsigned step = 1; step <= steps; ++step) {
        StepRecord record;
        record.step = step;
        record.tool = "read_file";
        record.arguments = {{"path", "textkit/module_" + std::to_string(step % 40) + ".py"}};
        record.success = true;
        record.summary = "read 120 lines of textkit/module_" + std::to_string(step % 40) + ".py";
        record.output = text;
        record.data = {{"path", "textkit/module_" + std::to_string(step % 40) + ".py"},
                       {"first_line", 1},
                       {"last_line", 120},
                       {"total_lines", 120}};
        memory.add(record);
    }
    return memory;
}

void context_at_step_500(benchmark::State& state) {
    const auto product = open_product();
    RunSpec spec;
    spec.agent = must(product->agents.get("software_developer"));
    spec.goal = "Add a slugify function that turns a title into a URL slug";
    spec.success_criteria = {"Every stage's artifact satisfies its contract", "Every gate passes on the delivered tree"};
    spec.stage = "green";
    spec.run.objective = "Make the failing tests pass";
    spec.contract = must(product->contracts.get("implementation"));
    std::vector<ToolSpec> offered;
    for (const std::string& name : spec.agent.allowed_tools) {
        if (product->plugins.has(PluginKind::tool, name)) { offered.push_back(must(product->plugins.tool(name))->spec()); }
    }
    const FixedParts fixed = must(fix_parts(spec, offered, false));
    const json::object verification{{"checks_passing", 3}, {"checks_failing", 2}, {"ready_for_completion", false}};
    const Memory early = after(20);
    const Memory late = after(500);
    Samples ours;
    Samples floor;
    for (auto _ : state) {
        floor.add(microseconds([&] { benchmark::DoNotOptimize(must(build_context(spec, fixed, early, verification))); }));
        const double spent =
            microseconds([&] { benchmark::DoNotOptimize(must(build_context(spec, fixed, late, verification))); });
        ours.add(spent);
        state.SetIterationTime(spent / 1e6);
    }
    report(state, {"context of step 500", "µs", ours.median(), floor.median(), "context of step 20", {}});
}
BENCHMARK(context_at_step_500)->Iterations(500)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace agentforge::bench
