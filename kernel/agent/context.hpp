// SPDX-License-Identifier: Apache-2.0
// What a step sees (North Star 3.4, 3.5, 12.10): sections in a fixed order, each with a share of the budget that it is
// guaranteed. Nothing is cut while there is room.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/memory.hpp"
#include "agent/runner.hpp"
#include "agent/shorten.hpp"

namespace agentforge::kernel {

/// What does not change over a run, counted once.
struct FixedParts {
    std::string system;
    std::size_t system_tokens = 0;
    std::vector<ToolDescription> tools;  ///< Empty where the backend has no native tool calls.
    std::size_t tools_tokens = 0;
    std::string actions;  ///< `available_actions`, as it is sent; empty where the backend has native tool calls.
    std::size_t actions_tokens = 0;
    std::size_t frame_tokens = 0;  ///< What servers put around messages and tools.
    bool shortened = false;        ///< Descriptions inside schemas were left away to keep the share.
};

struct BuiltContext {
    std::string text;
    /// Ends of parts of `text` that are likely to come again, ascending: the first of what stays over a run, the others of files.
    std::vector<std::size_t> stable_ends;
    /// frame (what servers put around the rest), system_prompt, tools, task_frame, current_state, verification_status,
    /// recent_actions, last_result, available_actions, and total, their sum: tokens by our count; `calibration_permille`;
    /// `truncated`: names of what was cut.
    json::object section_tokens;
};

/// What was written and counted for the context before and need not be again, for one run: a run's spec stays the same.
/// It changes no byte of any context.
class ContextMemo {
public:
    /// What `make` gives, from before where there is such a piece under this key. Valid until the next context but one.
    const Piece& piece(std::string key, const std::function<Piece()>& make);
    /// A new context begins: what the last one did not use is forgotten.
    void next();

private:
    std::unordered_map<std::string, Piece> now_;
    std::unordered_map<std::string, Piece> before_;
};

/// Errors: AF-AGENT-013 where system prompt and tools leave too little for the rest. Tools may borrow from
/// `current_state` beyond their own share as long as a quarter of it is left.
[[nodiscard]] Result<FixedParts> fix_parts(const RunSpec& spec, const std::vector<ToolSpec>& offered, bool native_tool_calls);

/// The same inputs give the same bytes. system + tools + text cost at most the total, by our count times the calibration.
/// Errors: AF-AGENT-013 where the calibration leaves no room.
[[nodiscard]] Result<BuiltContext> build_context(const RunSpec& spec, const FixedParts& fixed, const Memory& memory,
                                                 const json::object& verification, ContextMemo& memo);
[[nodiscard]] Result<BuiltContext> build_context(const RunSpec& spec, const FixedParts& fixed, const Memory& memory,
                                                 const json::object& verification);

}  // namespace agentforge::kernel
