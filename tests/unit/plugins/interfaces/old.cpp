// SPDX-License-Identifier: Apache-2.0
// A plugin in the field: built when only Tool existed.
#include <agentforge/plugin.hpp>

namespace {

class OldTool : public agentforge::Tool {
public:
    agentforge::ToolSpec spec() const override {
        agentforge::ToolSpec spec;
        spec.name = "old_tool";
        spec.description = "Does its work.";
        return spec;
    }
    agentforge::ToolResult call(const agentforge::json::object&, agentforge::ToolContext&) override {
        return agentforge::ToolResult::done("old work", "worked");
    }
};

}  // namespace

AGENTFORGE_PLUGIN("org.agentforge.test.old", "1.0.0", "Apache-2.0", agentforge::provides_tool<OldTool>("old_tool"))
