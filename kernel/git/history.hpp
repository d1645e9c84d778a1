// SPDX-License-Identifier: Apache-2.0
// Which commits changed a file. Nothing of the user's checkout is read or written.
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
    std::string subject;  ///< The first line of its message.
    bool operator==(const CommitLine&) const = default;
};

/// For each path the commits of `to` that `from` does not have and that changed it, the newest first; at most `most` each. A
/// merge counts for what it changed against its first parent. A path that none of the newest 10,000 commits changed has none.
/// Errors: AF-GIT-006, -007, -099.
[[nodiscard]] Result<std::map<std::string, std::vector<CommitLine>>> commits_that_changed(const std::filesystem::path& repository,
                                                                                          std::string_view from,
                                                                                          std::string_view to,
                                                                                          const std::vector<std::string>& paths,
                                                                                          std::size_t most = 10);

}  // namespace agentforge::kernel
