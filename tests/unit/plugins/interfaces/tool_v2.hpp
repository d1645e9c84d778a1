// SPDX-License-Identifier: Apache-2.0
// The example of docs/adr/0011: what the SDK's next tool interface could look like.
#pragma once

#include <agentforge/plugin.hpp>

namespace example {

/// A tool that can describe what a call would do. Everything of Tool holds; the new function comes after Tool's own.
class ToolV2 : public agentforge::Tool {
public:
    /// Returns what a call would do, without doing it. Called from any thread, before or instead of `call`.
    [[nodiscard]] virtual agentforge::ToolResult preview(const agentforge::json::object& arguments,
                                                         agentforge::ToolContext& context) = 0;
};

inline constexpr std::uint32_t tool_interface_version = 2;

template <class T>
constexpr agentforge::AgentforgeFactory provides_tool_v2(const char* name) {
    return agentforge::detail::factory<ToolV2, T>(agentforge::PluginKind::tool, tool_interface_version, name);
}

}  // namespace example
