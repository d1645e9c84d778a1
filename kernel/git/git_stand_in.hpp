// SPDX-License-Identifier: Apache-2.0
// Runs the `git` program without the programs that a repository names.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

#include "git/repository.hpp"

namespace agentforge::kernel {

/// A git directory that stands in for a repository's own while the `git` program runs. It points to the repository's objects and
/// has its plain settings (names, line endings, remotes), ignore rules and attributes. It has none of the programs that `.git`
/// can name: hooks, filters, monitors, signing programs, credential helpers, ssh commands, aliases, included files. Git also
/// reads the user's own configuration, so programs come only from there. The stand-in is inside the repository's git directory,
/// so the user's `includeIf.gitdir` applies to it. The destructor removes it. A killed process leaves one behind; a later
/// stand-in removes it after a day.
class GitStandIn {
public:
    /// Errors: `io` AF-GIT-064.
    [[nodiscard]] static Result<GitStandIn> make(const Repository& repository);
    /// Removes the stand-ins of killed processes. `make` also does this.
    static void remove_abandoned(const std::filesystem::path& git_directory);

    GitStandIn(GitStandIn&& other) noexcept;
    GitStandIn& operator=(GitStandIn&&) = delete;
    ~GitStandIn();

    [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
    /// The user's checkout.
    [[nodiscard]] const std::filesystem::path& work_directory() const noexcept { return work_directory_; }
    /// The index of the user's checkout.
    [[nodiscard]] const std::filesystem::path& index() const noexcept { return index_; }
    /// Returns the environment variables that make `git` use it.
    [[nodiscard]] std::map<std::string, std::string> variables() const;
    /// Returns the keys by which the repository's own configuration names programs, as written and in order. They have no effect
    /// here.
    [[nodiscard]] const std::vector<std::string>& left_out() const noexcept { return left_out_; }
    /// Returns the paths of submodules in the user's index. Unless they are left out, `git status` and `git add` start git in
    /// each of them with its own configuration.
    [[nodiscard]] Result<std::vector<std::string>> submodules() const;
    /// Errors: `denied` AF-GIT-065 the attributes assign one of these files to a filter whose program only the repository's own
    /// configuration names.
    [[nodiscard]] Result<void> check_filters(const std::vector<std::string>& paths) const;

private:
    GitStandIn() = default;

    std::filesystem::path folder_;
    std::filesystem::path work_directory_;
    std::filesystem::path objects_;
    std::filesystem::path index_;
    std::vector<std::string> left_out_;
};

}  // namespace agentforge::kernel
