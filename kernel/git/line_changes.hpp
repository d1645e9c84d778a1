// SPDX-License-Identifier: Apache-2.0
// Compares two texts line by line, as `git diff` does.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Lines that a text has in place of lines of another one. Numbers begin at 1.
struct LineChange {
    std::uint64_t old_first = 0;
    std::uint64_t old_count = 0;  ///< 0: lines were only added.
    std::uint64_t new_first = 0;
    std::uint64_t new_count = 0;  ///< 0: lines were only removed.
};

/// Returns the changes in order. Errors: AF-GIT-099.
[[nodiscard]] Result<std::vector<LineChange>> line_changes(std::string_view before, std::string_view after);

}  // namespace agentforge::kernel
