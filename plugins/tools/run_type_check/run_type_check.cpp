// SPDX-License-Identifier: Apache-2.0
#include <agentforge/arguments.hpp>
#include <agentforge/gate_text.hpp>
#include <agentforge/plugin.hpp>

namespace {

using namespace agentforge;

class RunTypeCheck final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {
            "run_type_check",
            "Runs the type check and reports the first errors with file, line and message. Without paths all files are checked.",
            schema_of(R"json({
  "type": "object",
  "properties": {
    "paths": {"type": "array", "items": {"type": "string"}, "maxItems": 100, "description": "Files, relative to the workspace; none: all"}
  }
})json"),
            ToolEffect::executes,
            {"paths"}};
    }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        auto report = context.run_gate({"types", Arguments(arguments).texts("paths"), {}});
        if (!report.ok()) { return ToolResult::failed(std::move(report).error()); }
        std::string summary = "type check: ";
        summary += report->passed
                       ? "passed"
                       : "not passed, " + std::to_string(report->violations.size() + report->blocking_issues.size()) + " issues";
        return ToolResult::done(gate_text(*report), std::move(summary), gate_data(*report));
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.run_type_check", "0.1.0", "Apache-2.0",
                  agentforge::provides_tool<RunTypeCheck>("run_type_check"))
