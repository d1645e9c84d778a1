// SPDX-License-Identifier: Apache-2.0
// The system prompt, with fixed headings in a fixed order.
#pragma once

#include <string>
#include <vector>

#include <agentforge/tool.hpp>

#include "agent/run_spec.hpp"

namespace agentforge::kernel {

/// Returns the system prompt. Its bytes do not change during a run, so that servers can cache it.
[[nodiscard]] std::string build_system_prompt(const RunSpec& spec, const std::vector<ToolSpec>& tools, bool native_tool_calls);

}  // namespace agentforge::kernel
