// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "faulty.hpp"

namespace {

class Faulty : public faulty::GoodTool {
public:
    agentforge::ToolResult call(const agentforge::json::object& arguments, agentforge::ToolContext&) override {
        if (arguments.empty()) { std::fputs("hello from the plugin\n", stderr); }
        return agentforge::ToolResult::done("done", "done");
    }
};

}  // namespace

FAULTY_TOOL(Faulty)
