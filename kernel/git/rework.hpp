// SPDX-License-Identifier: Apache-2.0
// What became of the lines that a commit brought.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct Rework {
    std::uint64_t lines = 0;  ///< That the commit added or changed.
    std::uint64_t gone = 0;   ///< Of these, how many were changed or removed since.
};

/// Compares the commit with the newest commit of HEAD's history that builds on it and is at most `within` younger. `base_tree`:
/// what it was made from. Empty: HEAD does not contain the commit. Cost: two differences of trees, and a walk over the commits
/// since. Errors: AF-GIT-005, AF-GIT-099.
[[nodiscard]] Result<std::optional<Rework>> rework_of(const std::filesystem::path& repository, std::string_view base_tree,
                                                      std::string_view commit, std::chrono::seconds within);

}  // namespace agentforge::kernel
