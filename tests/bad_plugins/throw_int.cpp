// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

namespace {

class Faulty : public faulty::GoodTool {
public:
    agentforge::ToolResult call(const agentforge::json::object&, agentforge::ToolContext&) override { throw 42; }
};

}  // namespace

FAULTY_TOOL(Faulty)
