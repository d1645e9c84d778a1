// SPDX-License-Identifier: Apache-2.0
#include <agentforge/arguments.hpp>
#include <agentforge/gate_text.hpp>
#include <agentforge/plugin.hpp>

namespace {

using namespace agentforge;

class RunTests final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {
            "run_tests",
            "Runs the tests and reports counts and the first failures with file, line and message. Without paths all tests run. Failing tests are a result, not an error.",
            schema_of(R"json({
  "type": "object",
  "properties": {
    "paths": {"type": "array", "items": {"type": "string"}, "maxItems": 100, "description": "Test files, relative to the workspace; none: all"}
  }
})json"),
            ToolEffect::executes,
            {"paths"}};
    }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        auto report = context.run_gate({"tests", Arguments(arguments).texts("paths"), {}});
        if (!report.ok()) { return ToolResult::failed(std::move(report).error()); }
        std::string summary = "tests: ";
        const auto counts = counts_text(count_tests(*report));
        summary += counts;
        if (counts.empty()) { summary += report->passed ? "passed" : "not passed"; }
        return ToolResult::done(gate_text(*report), std::move(summary), gate_data(*report));
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.run_tests", "0.1.0", "Apache-2.0", agentforge::provides_tool<RunTests>("run_tests"))
