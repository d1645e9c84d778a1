// SPDX-License-Identifier: Apache-2.0
// Publishes a delivered branch: pushes it to the user's remote and opens a pull request.
#pragma once

#include <map>
#include <string>

#include "git/repository.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {

struct PublishOrder {
    std::string branch;
    std::string commit;
    std::string remote = "origin";
    std::string base;  ///< The pull request's base branch; empty: the remote's default.
    std::string title;
    std::string body;
};

struct Published {
    std::string remote;  ///< Its address, without a password.
    std::string url;     ///< Of the pull request, or of the page to open one; empty if unknown.
    std::string by;      ///< `gh` or `glab` if a pull request exists; `push` if only the branch was pushed.
    std::string note;    ///< Why the pull request was not opened, if the program for it failed.
};

/// The parts of a remote's address.
struct RemotePlace {
    std::string host;
    std::string path;  ///< `owner/name`, without `.git`.
    bool operator==(const RemotePlace&) const = default;
};
/// Parses `https://host/owner/name.git`, `ssh://git@host:22/owner/name` or `git@host:owner/name.git`. Empty for a folder.
[[nodiscard]] RemotePlace read_remote(std::string_view address);
/// Returns the page on which a person opens a pull request for the branch. Empty for an unknown host.
[[nodiscard]] std::string request_page(const RemotePlace& place, const std::string& branch, const std::string& base);

/// Pushes the branch with the user's own git and rights, never by force. Git runs on a stand-in for the repository, so ssh
/// commands, credential helpers and hooks come from the user's own configuration. Pushes Git LFS objects first. Then opens a pull
/// request with `gh` (if the host's name contains `github`) or `glab` (`gitlab`). If the program is not on PATH, returns the page
/// on which to open it. Recognizes an existing branch or pull request. Errors: `unavailable` AF-GIT-044 no such remote, or the
/// push failed; `denied` AF-GIT-066 the remote is a folder of the repository.
[[nodiscard]] Result<Published> publish_branch(const Repository& repository, ProcessRunner& processes,
                                               const std::map<std::string, std::string>& environment, const PublishOrder& order,
                                               const Stop& stop);

}  // namespace agentforge::kernel
