// SPDX-License-Identifier: Apache-2.0
// Finds the commits that changed a file. Does not read or write the user's checkout.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct CommitLine {
    std::string id;
    std::string subject;  ///< First line of its message.
    bool operator==(const CommitLine&) const = default;
};

/// Returns for each path the commits of `to`, but not of `from`, that changed it: newest first, at most `most` each. A merge
/// counts if it changed the path against its first parent. Only the newest 10,000 commits are searched. Errors: AF-GIT-006, -007,
/// -099.
[[nodiscard]] Result<std::map<std::string, std::vector<CommitLine>>> commits_that_changed(const std::filesystem::path& repository,
                                                                                          std::string_view from,
                                                                                          std::string_view to,
                                                                                          const std::vector<std::string>& paths,
                                                                                          std::size_t most = 10);

}  // namespace agentforge::kernel
