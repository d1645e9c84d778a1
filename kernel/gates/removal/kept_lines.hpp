// SPDX-License-Identifier: Apache-2.0
// Compares two sequences of lines.
#pragma once

#include <string>
#include <vector>

namespace agentforge::kernel {

/// Returns, for each line of `old`, whether it is kept: part of the longest common subsequence. An approximation if both are very
/// long.
/// `kept_now`: the same for each of `now`.
[[nodiscard]] std::vector<bool> kept_lines(const std::vector<std::string>& old, const std::vector<std::string>& now,
                                           std::vector<bool>& kept_now);

}  // namespace agentforge::kernel
