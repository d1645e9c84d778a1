// SPDX-License-Identifier: Apache-2.0
// Counts tokens without a tokenizer. It is in this folder because the model client estimates usage with it.
#pragma once

#include <cstddef>
#include <string_view>

#include <agentforge/json.hpp>

namespace agentforge {
struct ToolDescription;
}

namespace agentforge::kernel {

/// Returns the most tokens that `text` costs with today's tokenisers, for prose and code alike: ASCII letters, digits and white
/// space 2/7 of a token a byte (3.5 bytes a token), ASCII punctuation and bytes beyond ASCII 1/2 (CJK: 1.5 a character, emoji:
/// 2), runs of more than four spaces 1/7 a byte beyond the fourth. Rounded up, so that estimate(a + b) <= estimate(a) +
/// estimate(b). Random base64 costs more than this says; the agent loop therefore scales its counts by what backends report.
[[nodiscard]] std::size_t estimate_tokens(std::string_view text) noexcept;

/// Returns the cost of a tool's description and schema in a request, plus twelve tokens for the frame around them.
[[nodiscard]] std::size_t estimate_tokens(const ToolDescription& tool);

}  // namespace agentforge::kernel
