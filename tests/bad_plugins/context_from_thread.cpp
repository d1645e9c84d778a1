// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "faulty.hpp"

namespace {

class Faulty : public faulty::GoodTool {
public:
    agentforge::ToolResult call(const agentforge::json::object&, agentforge::ToolContext& context) override {
        std::thread([&] { context.progress("from elsewhere"); }).join();
        return agentforge::ToolResult::done("done", "done");
    }
};

}  // namespace

FAULTY_TOOL(Faulty)
