// SPDX-License-Identifier: Apache-2.0
// The rule for effects that a tool did not declare, shared by the bridge, `plugins check` and the SDK's fake workspace.
#pragma once

#include <string>

#include <agentforge/tool.hpp>

namespace agentforge::kernel {

/// Returns whether a tool with these effects may have this one. A tool that writes may also read.
constexpr bool declares(ToolEffect effects, ToolEffect effect) noexcept {
    return has(effects, effect) || (effect == ToolEffect::reads && has(effects, ToolEffect::writes));
}

/// Returns the effect as a verb: "reads".
constexpr const char* effect_verb(ToolEffect effect) noexcept {
    switch (effect) {
        case ToolEffect::reads:
            return "reads";
        case ToolEffect::writes:
            return "writes";
        case ToolEffect::executes:
            return "executes";
        case ToolEffect::escalates:
            return "escalates";
        case ToolEffect::completes:
            return "completes";
        case ToolEffect::none:
            break;
    }
    return "none";
}

/// Returns AF-TOOL-005. `what`: what the tool tried, such as "write a file".
inline Error undeclared_effect(const std::string& tool, ToolEffect effect, const std::string& what, std::string remedy) {
    return {"AF-TOOL-005", "Tool '" + tool + "' tried to " + what + " and does not declare that it " + effect_verb(effect) + ".",
            tool, std::move(remedy), ErrorKind::denied};
}

}  // namespace agentforge::kernel
