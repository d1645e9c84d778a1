// SPDX-License-Identifier: Apache-2.0
// The user's git configuration, read once. It never fails: an unreadable setting counts as not set.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

struct git_config;

namespace agentforge::kernel {

/// The user's git configuration as a repository sees it, all levels, read at construction. For a path that is not a repository
/// nothing is set.
class GitConfiguration {
public:
    explicit GitConfiguration(const std::filesystem::path& repository);
    /// Returns empty if it is not set.
    [[nodiscard]] std::string text(const std::string& key) const;
    /// The same from the user's own files (global and system) only: a repository must not choose which programs run.
    [[nodiscard]] std::string users_text(const std::string& key) const;
    /// True for git's own words for true, including a key without a value. False if it is not set.
    [[nodiscard]] bool flag(const std::string& key) const;

private:
    std::shared_ptr<git_config> snapshot_;
};

}  // namespace agentforge::kernel
