// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "faulty.hpp"

namespace {

class Faulty : public faulty::GoodTool {
public:
    agentforge::ToolResult call(const agentforge::json::object& arguments, agentforge::ToolContext&) override {
        while (arguments.empty()) { ::pause(); }
        return agentforge::ToolResult::done("done", "done");
    }
};

}  // namespace

FAULTY_TOOL(Faulty)
