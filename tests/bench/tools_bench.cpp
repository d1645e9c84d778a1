// SPDX-License-Identifier: Apache-2.0
// A tool call through the bridge: checks rights, arguments and paths, and reads the file through an open descriptor.
#include "tools/tool_bridge.hpp"

#include "base/files.hpp"
#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "bench/project.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;

class NoServices final : public ToolServices {
public:
    Result<ProcessResult> run_process(const ProcessSpec&) override { return ProcessResult{}; }
    Result<agentforge::GateReport> run_gate(const GateRequest&) override { return agentforge::GateReport{}; }
    Result<void> complete(const json::object&) override { return {}; }
    Result<void> escalate(const EscalationRequest&) override { return {}; }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    std::chrono::system_clock::time_point now() override { return {}; }
    bool cancelled() const noexcept override { return false; }
    std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return {}; }
};

void bridge_read_file(benchmark::State& state) {
    const WorkFolder folder("bridge");
    std::string text;
    for (int line = 0; line < 200; ++line) { text += "    return words(text)[" + std::to_string(line) + "]  # one more line\n"; }
    write_text(folder.path() / "textkit" / "slug.py", text);
    const auto product = open_product();
    const AgentDefinition agent = must(product->agents.get("software_developer"));
    std::map<std::string, std::shared_ptr<Tool>, std::less<>> tools;
    tools["read_file"] = must(product->plugins.tool("read_file"));
    const auto workspace =
        must(RoleWorkspace::open(folder.path().string(), must(RolePaths::make(agent.role, agent.path_constraints))));
    NoServices services;
    ToolBridge bridge(agent, std::move(tools), *workspace, services, {});
    const json::object arguments{{"path", "textkit/slug.py"}};
    const ToolCallInfo info{"task-20260102-bench-00000001", "green", agent.role, 1};
    Samples ours;
    Samples floor;
    for (auto _ : state) {
        floor.add(microseconds([&] { benchmark::DoNotOptimize(must(read_file(folder.path() / "textkit" / "slug.py"))); }));
        const double spent = microseconds([&] {
            const ToolResult result = bridge.call("read_file", arguments, info);
            if (!result.success) { give_up(result.error ? result.error->to_string() : "read_file failed"); }
        });
        ours.add(spent);
        state.SetIterationTime(spent / 1e6);
    }
    report(state, {"`read_file` of 200 lines through the bridge",
                   "µs",
                   ours.median(),
                   floor.median(),
                   "open, read and close of the same file",
                   {}});
}
BENCHMARK(bridge_read_file)->Iterations(2000)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace agentforge::bench
