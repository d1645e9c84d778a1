// SPDX-License-Identifier: Apache-2.0
// The worked example of docs/adr/0011: what the SDK's next tool interface would look like.
#pragma once

#include <agentforge/plugin.hpp>

namespace example {

/// A tool that can say what a call would do. Everything of Tool holds; the new function stands behind its own.
class ToolV2 : public agentforge::Tool {
public:
    /// What a call would do, without doing it. Called by any thread, before or instead of `call`.
    [[nodiscard]] virtual agentforge::ToolResult preview(const agentforge::json::object& arguments,
                                                         agentforge::ToolContext& context) = 0;
};

inline constexpr std::uint32_t tool_interface_version = 2;

template <class T>
constexpr agentforge::AgentforgeFactory provides_tool_v2(const char* name) {
    return agentforge::detail::factory<ToolV2, T>(agentforge::PluginKind::tool, tool_interface_version, name);
}

}  // namespace example
