// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

struct git_config;

namespace agentforge::kernel {

/// The user's git configuration as a repository sees it, all levels, at the moment when this is made. Of a place that is no
/// repository nothing is set.
class GitConfiguration {
public:
    explicit GitConfiguration(const std::filesystem::path& repository);
    /// Empty where it is not set.
    [[nodiscard]] std::string text(const std::string& key) const;
    /// The same of the user's own files (global and system) alone: what names a program is not for the repository to say.
    [[nodiscard]] std::string users_text(const std::string& key) const;
    /// By git's own words for true, a key without a value among them; false where it is not set.
    [[nodiscard]] bool flag(const std::string& key) const;

private:
    std::shared_ptr<git_config> snapshot_;
};

}  // namespace agentforge::kernel
