// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

namespace {

class Faulty : public faulty::GoodTool {
public:
    agentforge::ToolResult call(const agentforge::json::object&, agentforge::ToolContext&) override {
        static agentforge::json::monotonic_resource memory;
        agentforge::ToolResult result = agentforge::ToolResult::done("done", "done");
        result.data.~object();
        new (&result.data) agentforge::json::object(&memory);
        return result;
    }
};

}  // namespace

FAULTY_TOOL(Faulty)
