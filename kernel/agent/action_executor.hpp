// SPDX-License-Identifier: Apache-2.0
// The interface through which the loop of steps carries out a model's actions.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/tool.hpp>

namespace agentforge::kernel {

/// Performs the model's actions. In the program this is the tool bridge.
class ActionExecutor {
public:
    virtual ~ActionExecutor() = default;
    [[nodiscard]] virtual const std::vector<ToolSpec>& offered() const noexcept = 0;
    /// Sets what the model sees in its context from now on: path → SHA-256 of the whole file. Called before each `call`.
    virtual void expect(std::map<std::string, std::string, std::less<>> /*seen*/) {}
    [[nodiscard]] virtual ToolResult call(std::string_view tool, const json::object& arguments, const ToolCallInfo& info) = 0;
};

}  // namespace agentforge::kernel
