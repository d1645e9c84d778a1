// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "faulty.hpp"

namespace {

class Faulty : public faulty::GoodTool {
public:
    agentforge::ToolResult call(const agentforge::json::object&, agentforge::ToolContext&) override {
        throw std::runtime_error("no exception may leave");
    }
};

}  // namespace

FAULTY_TOOL(Faulty)
