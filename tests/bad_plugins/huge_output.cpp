// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

namespace {

class Faulty : public faulty::GoodTool {
public:
    agentforge::ToolResult call(const agentforge::json::object& arguments, agentforge::ToolContext&) override {
        return agentforge::ToolResult::done(std::string(arguments.empty() ? 9UL << 20U : 4, 'x'), "done");
    }
};

}  // namespace

FAULTY_TOOL(Faulty)
