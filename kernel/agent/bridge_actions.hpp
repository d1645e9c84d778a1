// SPDX-License-Identifier: Apache-2.0
// Carries out a model's actions through the tool bridge.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/action_executor.hpp"
#include "tools/tool_bridge.hpp"

namespace agentforge::kernel {

/// Passes each action on to `bridge`, which must outlive this object.
class BridgeActions final : public ActionExecutor {
public:
    explicit BridgeActions(ToolBridge& bridge) : bridge_(bridge) {}
    [[nodiscard]] const std::vector<ToolSpec>& offered() const noexcept override { return bridge_.offered(); }
    void expect(std::map<std::string, std::string, std::less<>> seen) override { bridge_.expect(std::move(seen)); }
    [[nodiscard]] ToolResult call(std::string_view tool, const json::object& arguments, const ToolCallInfo& info) override {
        return bridge_.call(tool, arguments, info);
    }

private:
    ToolBridge& bridge_;
};

}  // namespace agentforge::kernel
