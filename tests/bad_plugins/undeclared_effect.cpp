// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

namespace {

class Faulty : public faulty::GoodTool {
public:
    agentforge::ToolResult call(const agentforge::json::object&, agentforge::ToolContext& context) override {
        const auto change = context.workspace().create("new.txt", "text");
        return agentforge::ToolResult::done(change.ok() ? "written" : "refused", "done");
    }
};

}  // namespace

FAULTY_TOOL(Faulty)
