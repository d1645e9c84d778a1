// SPDX-License-Identifier: Apache-2.0
// What a step sees: sections in a fixed order, each with a guaranteed share of the budget. Nothing is shortened while there is
// space.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/context_memo.hpp"
#include "agent/memory.hpp"
#include "agent/run_spec.hpp"
#include "agent/shorten.hpp"

namespace agentforge::kernel {

/// The parts that do not change during a run, with their token counts.
struct FixedParts {
    std::string system;
    std::size_t system_tokens = 0;
    std::vector<ToolDescription> tools;  ///< Empty if the backend has no native tool calls.
    std::size_t tools_tokens = 0;
    std::string actions;  ///< `available_actions`, as sent. Empty if the backend has native tool calls.
    std::size_t actions_tokens = 0;
    std::size_t frame_tokens = 0;  ///< What servers add around messages and tools.
    bool shortened = false;        ///< Descriptions inside schemas were omitted to stay within the share.
};

struct BuiltContext {
    std::string text;
    /// Offsets in `text`, ascending, up to which the text will probably be sent again. The first is the end of the part that
    /// stays the same for a run, the others are ends of files.
    std::vector<std::size_t> stable_ends;
    /// Tokens by our count: frame (what servers add around the rest), system_prompt, tools, task_frame, current_state,
    /// verification_status, recent_actions, last_result, available_actions, and total, their sum; `calibration_permille`;
    /// `truncated`: names of the shortened sections.
    json::object section_tokens;
};

/// Errors: AF-AGENT-013 if system prompt and tools leave too little for the rest. Tools may borrow from `current_state` beyond
/// their own share as long as a quarter of it remains.
[[nodiscard]] Result<FixedParts> fix_parts(const RunSpec& spec, const std::vector<ToolSpec>& offered, bool native_tool_calls);

/// The same inputs give the same bytes. system + tools + text cost at most the total, by our count times the calibration. Errors:
/// AF-AGENT-013 if the calibration leaves no space.
[[nodiscard]] Result<BuiltContext> build_context(const RunSpec& spec, const FixedParts& fixed, const Memory& memory,
                                                 const json::object& verification, ContextMemo& memo);
[[nodiscard]] Result<BuiltContext> build_context(const RunSpec& spec, const FixedParts& fixed, const Memory& memory,
                                                 const json::object& verification);

}  // namespace agentforge::kernel
