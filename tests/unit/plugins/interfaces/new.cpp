// SPDX-License-Identifier: Apache-2.0
// A plugin that was built when ToolV2 existed too.
#include "tool_v2.hpp"

namespace {

class NewTool : public example::ToolV2 {
public:
    agentforge::ToolSpec spec() const override {
        agentforge::ToolSpec spec;
        spec.name = "new_tool";
        spec.description = "Does its work and can say so before.";
        return spec;
    }
    agentforge::ToolResult call(const agentforge::json::object&, agentforge::ToolContext&) override {
        return agentforge::ToolResult::done("new work", "worked");
    }
    agentforge::ToolResult preview(const agentforge::json::object&, agentforge::ToolContext&) override {
        return agentforge::ToolResult::done("would do new work", "previewed");
    }
};

}  // namespace

AGENTFORGE_PLUGIN("org.agentforge.test.new", "1.0.0", "Apache-2.0", example::provides_tool_v2<NewTool>("new_tool"))
