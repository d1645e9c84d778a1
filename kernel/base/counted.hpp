// SPDX-License-Identifier: Apache-2.0
// A number with its word, for messages.
#pragma once

#include <cstddef>
#include <string>

namespace agentforge::kernel {

/// Returns a number with its word: `1 test`, `2 tests`.
[[nodiscard]] inline std::string counted(std::size_t count, const std::string& one, const std::string& many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace agentforge::kernel
