// SPDX-License-Identifier: Apache-2.0
// Follows the lines that a commit added.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct Rework {
    std::uint64_t lines = 0;  ///< Lines that the commit added or changed.
    std::uint64_t gone = 0;   ///< How many of these a person's commit changed or removed since.
};

/// Compares the commit with the newest commit of HEAD's history that builds on it and is at most `within` younger. `base_tree`:
/// the tree that the commit changed. Empty: HEAD does not contain the commit. A line that only commits of tasks changed does not
/// count; they have a trailer `AgentForge-Task`. Cost: a tree difference for each commit since. Errors: AF-GIT-005, AF-GIT-099.
[[nodiscard]] Result<std::optional<Rework>> rework_of(const std::filesystem::path& repository, std::string_view base_tree,
                                                      std::string_view commit, std::chrono::seconds within);

}  // namespace agentforge::kernel
