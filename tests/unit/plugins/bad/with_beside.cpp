// SPDX-License-Identifier: Apache-2.0
// A plugin that needs the library beside it.
#include <agentforge/plugin.hpp>

extern "C" const char* agentforge_test_beside();

namespace {

class BesideTool : public agentforge::Tool {
public:
    agentforge::ToolSpec spec() const override {
        agentforge::ToolSpec spec;
        spec.name = "beside";
        return spec;
    }
    agentforge::ToolResult call(const agentforge::json::object&, agentforge::ToolContext&) override {
        return agentforge::ToolResult::done(agentforge_test_beside(), "asked");
    }
};

}  // namespace

AGENTFORGE_PLUGIN("org.agentforge.test.beside", "1.0.0", "Apache-2.0", agentforge::provides_tool<BesideTool>("beside"))
